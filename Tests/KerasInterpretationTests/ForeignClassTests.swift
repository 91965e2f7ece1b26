import HDF5Library
import Interpretation
import TensorCore
import TestSupport
import Testing

@testable import KerasInterpretation

/// The interpreter reads from the file which package a layer's class belongs to.
@Suite struct ForeignClassTests {
  private static let fixtures = Fixtures("keras/identity")
  private static let files = fixtures.names.filter {
    ($0.hasSuffix(".h5") || $0.hasSuffix(".keras")) && !$0.hasSuffix("_weights.h5")
      && !$0.contains("dropconnect")
  }

  @Test(arguments: files)
  func classesOfOthersAreNotInterpreted(_ name: String) throws {
    let interpreter = try KerasInterpreter(Self.fixtures.path(name), access: .inProcess)
    var inputs: [String: DoubleArray] = [:]
    for input in interpreter.inputs {
      inputs[input.name] = try DoubleArray(shape: input.shape.map { $0 ?? 1 })
    }
    #expect(throws: InterpretationError.self) { try interpreter.run(inputs) }
  }

  /// These differ only in the package.
  @Test(arguments: [
    (#""class_name": "Dense", "module": "keras.layers", "registered_name": null"#, true),
    (#""class_name": "Dense""#, true), (#""class_name": "Mine>Dense""#, false),
    (#""class_name": "Dense", "module": null, "registered_name": "Dense""#, false),
    (#""class_name": "Dense", "module": "mine", "registered_name": "Dense""#, false),
  ])
  func identityNeedsEveryField(_ identity: String, _ isKeras: Bool) throws {
    let config = #""config": {"name": "d", "units": 2, "batch_input_shape": [null, 3]}"#
    try withTemporaryFolder { folder in
      let path = folder + "/network.json"
      let layers = #"[{\#(identity), \#(config)}]"#
      let text = #"{"class_name": "Sequential", "config": {"name": "s", "layers": \#(layers)}}"#
      try writeFile(Array(text.utf8), to: path)
      let weights = Fixtures("keras/identity").path("dense_weights.h5")
      let interpreter = try KerasInterpreter(path, weights: weights, access: .inProcess)
      let inputs = try [interpreter.inputs[0].name: DoubleArray(shape: [1, 3])]
      if isKeras {
        #expect(try interpreter.run(inputs).count == 1)
      } else {
        #expect(throws: InterpretationError.self) { try interpreter.run(inputs) }
      }
    }
  }
}
