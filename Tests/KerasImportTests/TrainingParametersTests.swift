import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore
import Testing

@testable import KerasImport

struct TrainingParametersTests {
  private let network = #"""
    {"class_name": "Sequential", "config": [
      {"class_name": "Dense", "config": {"name": "a", "batch_input_shape": [null, 3], "units": 2, "trainable": false}},
      {"class_name": "Dense", "config": {"name": "b", "units": 2, "activation": "softmax"}}]}
    """#

  private func converted(_ training: String?) throws -> ConversionResult {
    let source = try KerasSource(
      path: "model.h5", version: KerasVersion(text: "2.2.4", backend: nil),
      configuration: JSONValue(parsing: network),
      weights: MemoryWeights([
        "a": [.init("kernel:0", [3, 2]), .init("bias:0", [2])],
        "b": [.init("kernel:0", [2, 2]), .init("bias:0", [2])],
      ]), training: training.map { try JSONValue(parsing: $0) })
    var options = ConversionOptions()
    options.respectTrainable = true
    return try KerasImporter.convert(source, options: options)
  }

  @Test func trainableLayersBecomeUpdatable() throws {
    let model = try converted(
      #"""
      {"loss": "categorical_crossentropy",
       "optimizer_config": {"class_name": "SGD", "config": {"lr": 0.25, "momentum": 0.5}}}
      """#
    ).model
    #expect(model.isUpdatable && model.specificationVersion == 4)
    let layers = model.neuralNetwork?.layers ?? []
    #expect(layers.map(\.isUpdatable) == [false, true, false])
    #expect((layers[1].parameters as? InnerProduct)?.matrix?.isUpdatable == true)
    #expect(model.description?.trainingInput.map(\.name) == ["a_input", "b_true"])
    // NetworkUpdateParameters, field by field, with the specification's numbers.
    let half: [UInt8] = [0, 0, 0, 0, 0, 0, 0xE0, 0x3F]
    let quarter: [UInt8] = [0, 0, 0, 0, 0, 0, 0xD0, 0x3F]
    let one: [UInt8] = [0, 0, 0, 0, 0, 0, 0xF0, 0x3F]
    let loss =
      [0x0A, 10] + Array("loss_layer".utf8) + [0x52, 11, 0x0A, 1] + Array("b".utf8)
      + [0x12, 6] + Array("b_true".utf8)
    let range: [UInt8] = [0x52, 9, 0x11] + one
    let sgd =
      [0x0A, 20, 0x09] + quarter + range + [0x12, 9, 0x08, 16, 0x5A, 5, 0x0A, 3, 1, 16, 32]
      + [0x1A, 20, 0x09] + half + range
    let expected =
      [0x0A, UInt8(loss.count)] + loss + [0x12, UInt8(sgd.count + 2), 0x52, UInt8(sgd.count)] + sgd
      + [0x1A, 7, 0x08, 1, 0x5A, 3, 0x0A, 1, 1] + [0x52, 2, 0x08, 1]
    #expect(model.neuralNetwork?.updateParams?.payload.array(of: UInt8.self) == expected)
  }

  @Test(arguments: [
    nil, #"{"loss": "hinge", "optimizer_config": {"class_name": "SGD", "config": {}}}"#,
    #"{"loss": "mse", "optimizer_config": {"class_name": "RMSprop", "config": {}}}"#,
    #"{"loss": {"a": "mse"}, "optimizer_config": {"class_name": "SGD", "config": {}}}"#,
  ])
  func whatCoreMLCannotTrainStaysAsItIs(_ training: String?) throws {
    let result = try converted(training)
    #expect(!result.model.isUpdatable)
    #expect(result.notes.count == 1)
    #expect(result.notes.first?.hasPrefix("respectTrainable has no effect") == true)
  }
}
