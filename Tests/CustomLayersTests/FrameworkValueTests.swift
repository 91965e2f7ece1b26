import TensorCore
import TestSupport
import Testing

@testable import CustomLayers

/// The built-in layers compared with TensorFlow and PyTorch.
@Suite struct FrameworkValueTests {
  @Test(arguments: [("tensorflow", 30), ("torch", 30), ("numpy", 2)])
  func agreesWithItsFramework(framework: String, least: Int) throws {
    let cases = FrameworkCase.all(framework)
    #expect(cases.count > least)
    for item in cases {
      let layer = try LayerRun.make(
        item.className, item.typedParameters, item.weights.map { CustomLayerWeight($0) })
      let results = try LayerRun.run(layer, item.inputs)
      #expect(results.count == item.outputs.count, "\(item)")
      for (result, expected) in zip(results, item.outputs) {
        #expect(result.shape == expected.shape, "\(item)")
        let largest = expected.values.reduce(0) { max($0, abs($1)) }
        let difference = zip(result.values, expected.values).reduce(0) { greatest, pair in
          pair.0.isNaN ? .infinity : max(greatest, abs(pair.0 - pair.1))
        }
        #expect(difference <= 2e-6 * max(1, largest), "\(item): \(difference)")
      }
    }
  }

  @Test func everyClassHasValuesOfAFramework() {
    // The style network's layers are tested in that network, formulas are compared with NumPy.
    let own: Set<String> = ["RescaleOutputLambda", "ResCropBlockLambda", "Formula"]
    let tested = Set(
      ["tensorflow", "torch", "numpy"].flatMap(FrameworkCase.all).map(\.className))
    for type in builtInCustomLayers where !own.contains(type.className) {
      #expect(
        !tested.isDisjoint(with: [type.className] + type.otherNames), "\(type.className)")
    }
  }

  @Test func weightsMayBeHalves() throws {
    var checked = 0
    for item in FrameworkCase.all("torch") where !item.weights.isEmpty {
      let halves = item.weights.map { $0.map(Half.bits) }
      let layers = try [
        halves.map { CustomLayerWeight(Bytes($0), .float16) },
        halves.map { CustomLayerWeight($0.map(Half.float)) },
      ].map { try LayerRun.make(item.className, item.typedParameters, $0) }
      let results = try layers.map { try LayerRun.run($0, item.inputs)[0].values }
      #expect(results[0] == results[1], "\(item)")
      checked += 1
    }
    #expect(checked > 3)
  }
}
