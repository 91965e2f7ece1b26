import CoreMLModel
import TensorCore

/// The largest element of each window.
struct MaxPooling3D: KerasLayer {
  static let classNames = ["MaxPooling3D", "MaxPool3D"]

  private let windows: VolumeWindows

  init(_ configuration: LayerConfiguration) throws { windows = try VolumeWindows(configuration) }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    [try windows.convert(.max, call, into: &network)]
  }
}

/// The mean of each window, padding left out.
struct AveragePooling3D: KerasLayer {
  static let classNames = ["AveragePooling3D", "AvgPool3D"]

  private let windows: VolumeWindows

  init(_ configuration: LayerConfiguration) throws { windows = try VolumeWindows(configuration) }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    [try windows.convert(.average, call, into: &network)]
  }
}

/// The largest element of each channel.
struct GlobalMaxPooling3D: KerasLayer {
  static let classNames = ["GlobalMaxPooling3D", "GlobalMaxPool3D"]

  private let pooling: GlobalVolumePooling

  init(_ configuration: LayerConfiguration) throws {
    pooling = try GlobalVolumePooling(configuration)
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    [try pooling.convert(.max, call, into: &network)]
  }
}

/// The mean of each channel.
struct GlobalAveragePooling3D: KerasLayer {
  static let classNames = ["GlobalAveragePooling3D", "GlobalAvgPool3D"]

  private let pooling: GlobalVolumePooling

  init(_ configuration: LayerConfiguration) throws {
    pooling = try GlobalVolumePooling(configuration)
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    [try pooling.convert(.average, call, into: &network)]
  }
}

/// The mean over a window is the mean over its depth of the means over height and width: the number
/// of elements that are no padding is a product.
private struct VolumeWindows {
  let size: [Int]
  let strides: [Int]
  let border: LayerConfiguration.Border
  let volume: VolumeSettings

  init(_ configuration: LayerConfiguration) throws {
    size = try configuration.triple("pool_size", default: [2, 2, 2])
    strides = try configuration.triple("strides", default: size)
    border = try configuration.border()
    volume = try VolumeSettings(configuration)
  }

  func convert(
    _ type: Pooling.PoolingType, _ call: LayerCall, into network: inout NetworkWriter
  ) throws -> KerasTensor {
    var tensor = try volume.images(call.input, call, &network)
    let sizes = try volume.sizes(tensor, call)
    let lengths = sizes.indices.compactMap {
      border.length(sizes[$0], extent: size[$0], stride: strides[$0])
    }
    guard lengths.allSatisfy({ $0 > 0 }) else {
      throw call.error("its input \(tensor.shapeText) is smaller than its window")
    }
    let inPlanes = Pooling.windows(
      type, Array(size[1...]), strides: Array(strides[1...]), border)
    tensor.blob = network.add(call.name + "__images__", inPlanes, [tensor.blob])
    tensor = volume.resized(tensor, to: [sizes[0], lengths[1], lengths[2]])
    tensor = volume.slices(tensor, call, &network)
    let inDepth = Pooling.windows(type, [size[0], 1], strides: [strides[0], 1], border)
    tensor.blob = network.add(call.name, inDepth, [tensor.blob])
    return volume.resized(tensor, to: lengths)
  }
}

private struct GlobalVolumePooling {
  let volume: VolumeSettings
  let keepsAxes: Bool

  init(_ configuration: LayerConfiguration) throws {
    volume = try VolumeSettings(configuration)
    keepsAxes = try configuration.bool("keepdims", default: false)
  }

  func convert(
    _ type: Pooling.PoolingType, _ call: LayerCall, into network: inout NetworkWriter
  ) throws -> KerasTensor {
    let pooling = Pooling.global(type)
    var tensor = try volume.images(call.input, call, &network)
    tensor.blob = network.add(call.name + "__images__", pooling, [tensor.blob])
    for axis in volume.axes.dropFirst() { tensor.shape[axis] = 1 }
    tensor = volume.slices(tensor, call, &network)
    tensor.blob = network.add(call.name, pooling, [tensor.blob])
    tensor.shape[volume.axes[0]] = 1
    if keepsAxes { return tensor }
    tensor.shape = [tensor.shape[0], tensor.shape[volume.channelAxis]]
    tensor.layout = .vector
    return tensor
  }
}
