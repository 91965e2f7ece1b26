import CoreMLModel
import TensorCore

/// Repeats rows and columns, or interpolates between them.
struct UpSampling2D: KerasLayer {
  static let classNames = ["UpSampling2D"]

  private let size: [Int]
  private let interpolation: Interpolation
  private let format: LayerConfiguration.DataFormat

  init(_ configuration: LayerConfiguration) throws {
    size = try configuration.pair("size", default: [2, 2])
    format = try configuration.dataFormat ?? .channelsLast
    interpolation = try configuration.interpolation(default: "nearest")
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try network.image(call.input, format, call)
    var output = input
    for (axis, place) in [BlobAxis.height, .width].enumerated() {
      guard let index = input.index(of: place), let length = input.shape[index] else { continue }
      output.shape[index] = try checkedProduct([length, size[axis]], limit: Limits.dimension)
    }
    guard interpolation == .nearest || interpolation == .bilinear else {
      return [
        try network.resampled(input, to: try call.sizes(output), interpolation, call)
      ]
    }
    var upsample = Upsample()
    upsample.scalingFactor = size
    upsample.mode = interpolation == .bilinear ? .bilinear : .nearest
    if interpolation == .bilinear, call.version.isTensorFlow2 {
      // TensorFlow 2 samples at the centres of the pixels.
      upsample.linearUpsampleMode = .alignCornersFalse
    }
    output.blob = network.add(call.name, upsample, [input.blob])
    return [output]
  }
}
