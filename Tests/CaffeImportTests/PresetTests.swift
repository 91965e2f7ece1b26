import CoreMLModel
import ImportSupport
import Testing

@testable import CaffeImport

@Suite struct PresetTests {
  /// VGG's recipe, B, G and R minus 103.939, 116.779 and 123.68: white becomes 151.061, 138.221 and
  /// 131.32, black the negated means.
  @Test func whiteAndBlackEnterAsInVGG() throws {
    var options = ConversionOptions()
    options.imageInputs = ["data"]
    options.preprocessing.preset = .caffe
    let converted = try convert(
      input("data", 1, 3, 4, 4) + layer("r", "ReLU", "data", "r"), options: options)
    guard case .image(let image)? = converted.result.model.description?.input.first?.type?.kind,
      case .scaler(let scaler)? = converted.result.model.neuralNetwork?.preprocessing.first?
        .preprocessor
    else {
      Issue.record("no image with a scaler")
      return
    }
    #expect(image.colorSpace == .bgr)
    let biases = [scaler.blueBias, scaler.greenBias, scaler.redBias]
    #expect(biases == [-103.939, -116.779, -123.68])
    for (bias, white) in zip(biases, [151.061, 138.221, 131.32] as [Float]) {
      #expect(abs(255 * scaler.channelScale + bias - white) < 1e-4)
    }
  }
}
