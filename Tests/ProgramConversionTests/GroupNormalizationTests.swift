import CoreMLModel
import TensorCore
import Testing

@testable import ProgramConversion

@Suite struct GroupNormalizationTests {
  /// The mean of 1, 3, 5 and 7 is 4 and their variance 5; that of 0, 0, 4 and 4 is 2 and 4.
  @Test func groupsHaveMeansOfTheirOwn() throws {
    var layer = Custom()
    layer.className = "GroupNormalization"
    layer.parameters = ["num_groups": .int(2), "epsilon": .double(0)]
    layer.blobs = [Weights([1, 2, 1, 1]), Weights([0, 0, 0, 10])]
    let program = try Networks.model(
      [NeuralNetworkLayer("norm", layer, input: ["x"], output: ["y"])],
      inputs: [Networks.array("x", [4, 1, 2])], outputs: [Networks.array("y", [4, 1, 2])],
      isExact: false
    ).mlProgram()
    let found = try Networks.predict(program, [4, 1, 2], [1, 3, 5, 7, 0, 0, 4, 4])
    let unit = 1 / Float(5).squareRoot()
    let expected = [-3 * unit, -unit, 2 * unit, 6 * unit, -1, -1, 11, 11]
    #expect(found.count == 8)
    for (a, b) in zip(found, expected) { #expect(abs(a - b) <= 1e-6) }
    #expect(Networks.operations(program).contains("reduce_mean"))
  }
}
