import CoreMLModel

/// The largest element of each window.
struct MaxPooling2D: KerasLayer {
  static let classNames = ["MaxPooling2D", "MaxPool2D"]

  private let windows: PoolingWindows

  init(_ configuration: LayerConfiguration) throws {
    windows = try PoolingWindows(configuration)
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    [try windows.convert(.max, call, into: &network)]
  }
}

/// The mean of each window, padding left out.
struct AveragePooling2D: KerasLayer {
  static let classNames = ["AveragePooling2D", "AvgPool2D"]

  private let windows: PoolingWindows

  init(_ configuration: LayerConfiguration) throws {
    windows = try PoolingWindows(configuration)
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    [try windows.convert(.average, call, into: &network)]
  }
}

private struct PoolingWindows {
  let size: [Int]
  let strides: [Int]
  let border: LayerConfiguration.Border
  let format: LayerConfiguration.DataFormat

  init(_ configuration: LayerConfiguration) throws {
    size = try configuration.pair("pool_size", default: [2, 2])
    strides = try configuration.pair("strides", default: size)
    border = try configuration.border()
    format = try configuration.dataFormat ?? .channelsLast
  }

  func convert(
    _ type: Pooling.PoolingType, _ call: LayerCall, into network: inout NetworkWriter
  ) throws -> KerasTensor {
    let input = try network.image(call.input, format, call)
    let pooling = Pooling.windows(type, size, strides: strides, border)
    var output = input
    for (axis, place) in [BlobAxis.height, .width].enumerated() {
      guard let index = input.index(of: place) else { continue }
      output.shape[index] = border.length(
        input.shape[index], extent: size[axis], stride: strides[axis])
    }
    guard !output.shape.contains(0) || input.isGuess else {
      throw call.error(
        "its input \(input.shapeText) is smaller than its window of \(size[0]) × \(size[1])")
    }
    output.blob = network.add(call.name, pooling, [input.blob])
    return output
  }
}
