import CoreMLModel

/// The largest element of each channel.
struct GlobalMaxPooling2D: KerasLayer {
  static let classNames = ["GlobalMaxPooling2D", "GlobalMaxPool2D"]

  private let pooling: GlobalPooling

  init(_ configuration: LayerConfiguration) throws {
    pooling = try GlobalPooling(configuration)
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    [try pooling.convert(.max, call, into: &network)]
  }
}

/// The mean of each channel.
struct GlobalAveragePooling2D: KerasLayer {
  static let classNames = ["GlobalAveragePooling2D", "GlobalAvgPool2D"]

  private let pooling: GlobalPooling

  init(_ configuration: LayerConfiguration) throws {
    pooling = try GlobalPooling(configuration)
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    [try pooling.convert(.average, call, into: &network)]
  }
}

private struct GlobalPooling {
  let format: LayerConfiguration.DataFormat
  let keepsAxes: Bool

  init(_ configuration: LayerConfiguration) throws {
    format = try configuration.dataFormat ?? .channelsLast
    keepsAxes = try configuration.bool("keepdims", default: false)
  }

  func convert(
    _ type: Pooling.PoolingType, _ call: LayerCall, into network: inout NetworkWriter
  ) throws -> KerasTensor {
    let input = try network.image(call.input, format, call)
    let pooling = Pooling.global(type)
    var output = input
    if keepsAxes {
      for place in [BlobAxis.height, .width] {
        if let index = input.index(of: place) { output.shape[index] = 1 }
      }
    } else {
      let kept = input.layout.axes.indices.filter {
        input.layout.axes[$0] == .channel || input.layout.axes[$0] == .sequence
      }
      output.shape = [input.shape[0]] + kept.map { input.shape[$0 + 1] }
      output.layout = TensorLayout(axes: kept.map { input.layout.axes[$0] })
    }
    output.blob = network.add(call.name, pooling, [input.blob])
    return output
  }
}
