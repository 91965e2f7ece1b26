import ImportSupport
import TensorCore
import TestSupport
import Testing

@testable import CaffeImport

/// Training networks: the blobs that they read become inputs.
@Suite struct TrainingNetworkTests {
  private func data(_ fields: String, type: String = "Data") -> String {
    "layer { name: 'd' type: '\(type)' top: 'data' top: 'label' \(fields) }\n"
  }

  private let relu = layer("r", "ReLU", "data", "r")
  private let convolution = layer(
    "c", "Convolution", "data", "c", "convolution_param { num_output: 2 kernel_size: 3 }")
  /// The weights for one channel.
  private let weights =
    "layer { name: 'c' blobs { shape { dim: [2, 1, 3, 3] } data: \([Float](repeating: 1, count: 18)) } "
    + "blobs { shape { dim: 2 } data: [1, 2] } }"

  private func options(_ shape: [Int?]) -> ConversionOptions {
    var options = ConversionOptions()
    options.inputShapes["data"] = shape
    return options
  }

  @Test func aDataLayerOfTheOtherPhaseIsAnInput() throws {
    let text = data("include { phase: TRAIN } transform_param { crop_size: 5 }") + relu
    let converted = try convert(text)
    #expect(converted.inputs == ["data"] && converted.inputShape("data") == [3, 5, 5])
    #expect(
      converted.notes.contains("layer 'd' (Data) is not in this phase; its tops become inputs"))
    // A data layer of the same phase takes precedence.
    let both = data("include { phase: TEST } transform_param { crop_size: 7 }") + text
    #expect(try convert(both).inputShape("data") == [3, 7, 7])
  }

  @Test func sizesComeFromTheTransformation() throws {
    for (fields, shape) in [
      ("image_data_param { new_height: 4 new_width: 6 }", [3, 4, 6]),
      ("image_data_param { new_height: 4 new_width: 6 is_color: false }", [1, 4, 6]),
      ("transform_param { crop_size: 5 force_gray: true }", [1, 5, 5]),
      ("transform_param { resize_param { height: 8 width: 9 } }", [3, 8, 9]),
    ] {
      #expect(try convert(data(fields, type: "ImageData") + relu).inputShape("data") == shape)
    }
  }

  @Test func channelsComeFromTheWeights() throws {
    let cropped = data("transform_param { crop_size: 5 }") + convolution
    #expect(try convert(cropped, weights: weights).inputShape("data") == [1, 5, 5])
    let open = data("") + convolution
    let error = try #require(modelError { try convert(open, weights: weights) })
    #expect(
      error.message.hasPrefix(
        "the file does not state the shape of input 'data', whose weights take 1 channel"))
    #expect(error.hint?.hasPrefix("set it with inputShape data=1,1,") == true)
    let converted = try convert(open, weights: weights, options: options([1, nil, 6, 7]))
    #expect(converted.inputShape("data") == [1, 6, 7])
  }

  @Test func anInnerProductSaysHowManyNumbersItTakes() throws {
    let text =
      data("", type: "HDF5Data")
      + layer(
        "f", "InnerProduct", "data", "f", "inner_product_param { num_output: 1 bias_term: false }")
    let weights = "layer { name: 'f' blobs { shape { dim: [1, 3] } data: [1, 2, 3] } }"
    #expect(try convert(text, weights: weights).inputShape("data") == [3])
  }

  @Test func pythonsDataAndLossesAreNotComputed() throws {
    let text =
      data("python_param { module: 'voc' layer: 'Data' }", type: "Python") + relu
      + "layer { name: 'l' type: 'Python' bottom: 'r' bottom: 'label' top: 'l' loss_weight: 1 }"
    let error = try #require(modelError { try convert(text) })
    #expect(error.message.hasPrefix("the file does not state the shape of input 'data'"))
    #expect(error.hint?.contains("inputShape data=") == true)
    let converted = try convert(text, options: options([1, 3, 4, 5]))
    #expect(converted.inputShape("data") == [3, 4, 5] && converted.outputs == ["r"])
  }

  @Test func anInputWithoutSizesAsksForThem() throws {
    let error = try #require(modelError { try convert("input: 'data'\n" + relu) })
    #expect(error.message.hasPrefix("the file does not state the shape of input 'data'"))
    #expect(
      try convert("input: 'data'\n" + relu, options: options([1, 3, 4, 5])).inputShape("data")
        == [3, 4, 5])
  }

  @Test func onePixelStandsForASizeThatIsSetLater() throws {
    let text = input("data", 1, 1, 1, 1) + convolution
    let error = try #require(modelError { try convert(text, weights: weights) })
    #expect(error.message.contains("1 × 1 elements, a placeholder for a size that is set later"))
    #expect(error.hint?.contains("inputShape data=1,1,368,368") == true)
    #expect(
      try convert(text, weights: weights, options: options([1, 1, 5, 5])).inputShape("data")
        == [1, 5, 5])
    // A network may really have images of 1 × 1.
    #expect(try convert(input("data", 1, 3, 1, 1) + relu).inputShape("data") == [3, 1, 1])
  }
}
