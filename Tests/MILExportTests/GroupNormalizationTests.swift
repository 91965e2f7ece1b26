import CoreMLModel
import TensorCore
import Testing

@testable import MILExport

@Suite struct GroupNormalizationTests {
  /// 1, 3, 5 and 7 have mean 4 and variance 5; 0, 0, 4 and 4 have mean 2 and variance 4.
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

  /// The variance of 0 and 2⁻¹⁰ is 2⁻²²; only the layer's epsilon is added.
  @Test(arguments: [Float(0x1p-22), 0])
  func epsilonIsAddedOnce(epsilon: Float) throws {
    var layer = Custom()
    layer.className = "InstanceNormalization"
    layer.parameters = ["epsilon": .double(Double(epsilon))]
    let program = try Networks.model(
      [NeuralNetworkLayer("norm", layer, input: ["x"], output: ["y"])],
      inputs: [Networks.array("x", [1, 1, 2])], outputs: [Networks.array("y", [1, 1, 2])],
      isExact: false
    ).mlProgram()
    let found = try Networks.predict(program, [1, 1, 2], [0, 0x1p-10])
    let expected = epsilon == 0 ? 1 : Float(0.5).squareRoot()
    #expect(found.count == 2)
    for (a, b) in zip(found, [-expected, expected]) { #expect(abs(a - b) <= 1e-6) }
  }
}
