import ByteFormats
import CoreMLModel
import TensorCore
import TestSupport
import Testing

@testable import Assay

/// Models other than networks, compared with the outputs of the frameworks that trained them:
/// `Fixtures/feature-models/make.py`.
@Suite struct FeatureModelTests {
  static let fixtures = Fixtures("feature-models")
  static let names = fixtures.names.filter { !$0.hasSuffix(".py") }

  private struct Case {
    let inputs: JSONValue
    let outputs: JSONObject
    let tolerance: Double
  }

  private static func cases(_ name: String) throws -> [Case] {
    try #require(JSONValue(parsing: fixtures.bytes("\(name)/cases.json")).array).map { item in
      Case(
        inputs: try #require(item["inputs"]), outputs: try #require(item["outputs"]?.object),
        tolerance: try #require(item["tolerance"]?.double))
    }
  }

  @Test(arguments: names) func answersAreThoseOfTheFramework(name: String) throws {
    let model = try Model(contentsOf: Self.fixtures.path("\(name)/model.mlmodel"))
    #expect(model.validate().isEmpty)
    let predictor = try Predictor(model: model)
    for item in try Self.cases(name) {
      let values = try FeatureFile.parse(
        Bytes(Array(item.inputs.text.utf8)), inputs: predictor.inputs)
      let prediction = try predictor.predict(
        Dictionary(uniqueKeysWithValues: values.map { ($0.0 ?? "", $0.1) }))
      for (output, expected) in item.outputs.members {
        let found = try #require(prediction.outputs.first { $0.name == output })
        try expect(found, expected, item.tolerance, predictor.model)
      }
    }
  }

  private func expect(
    _ found: PredictedOutput, _ expected: JSONValue, _ tolerance: Double, _ model: Model
  ) throws {
    switch expected {
    case .string(let text): #expect(found.text == text)
    case .object(let entries):
      let labels = try #require(model.classLabels?.strings)
      // Class probabilities are single-precision, like a network's.
      for (label, number) in entries.members {
        let place = try #require(labels.firstIndex(of: label))
        #expect(abs(found.numbers[place] - (number.double ?? .nan)) <= max(tolerance, 1e-6))
      }
    default:
      let numbers = Self.numbers(expected)
      #expect(found.numbers.count == numbers.count)
      for (a, b) in zip(found.numbers, numbers) {
        #expect(abs(a - b) <= tolerance * max(1, abs(b)), "\(found.name)")
      }
    }
  }

  private static func numbers(_ value: JSONValue) -> [Double] {
    value.array.map { $0.flatMap(numbers) } ?? [value.double ?? .nan]
  }

  @Test(arguments: names) func fileComesBackByteForByte(name: String) throws {
    let bytes = try Self.fixtures.bytes("\(name)/model.mlmodel")
    #expect(try Model(bytes: Bytes(bytes)).encoded() == bytes)
  }

  @Test(.shared(AppleValidator.name)) func appleAcceptsTheModels() throws {
    let paths = Self.names.map { Self.fixtures.path("\($0)/model.mlmodel") }
    #expect(try AppleValidator.refusals(of: paths) == [])
  }

  @Test func damagedModelsDoNotTrap() throws {
    var random = SplitMix64(seed: 20)
    for name in Self.names {
      let bytes = try Self.fixtures.bytes("\(name)/model.mlmodel")
      let inputs = try #require(try Self.cases(name).first).inputs
      for _ in 0..<40 {
        var damaged = bytes
        for _ in 0..<3 {
          damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(
            in: 0...255, using: &random)
        }
        guard let model = try? Model(bytes: Bytes(damaged)), model.validate().isEmpty,
          let predictor = try? Predictor(model: model),
          let values = try? FeatureFile.parse(
            Bytes(Array(inputs.text.utf8)), inputs: predictor.inputs)
        else { continue }
        _ = try? predictor.predict(
          Dictionary(values.map { ($0.0 ?? "", $0.1) }, uniquingKeysWith: { $1 }))
      }
    }
  }

  /// Evaluating a cycle of nodes would never end.
  @Test func treesWithoutRootAreRefused() throws {
    let path = Self.fixtures.path("tree-regressor/model.mlmodel")
    // The tree ensemble follows a vectorizer.
    var model = try #require(Model(contentsOf: path).type?.pipeline?.models.last)
    guard case .features(let features)? = model.type,
      var regressor = features.parameters as? TreeEnsembleRegressor
    else { throw ModelError(.internal, "not a tree") }
    let branch = try #require(regressor.ensemble?.nodes.firstIndex { $0.behavior != .leaf })
    var far = regressor
    far.ensemble?.nodes[branch].featureIndex = .max
    model.type = .features(FeatureModel(far))
    #expect(model.validate().contains { $0.field?.contains("branchFeatureIndex") == true })
    let root = try #require(regressor.ensemble?.nodes[branch])
    regressor.ensemble?.nodes[branch].trueChild = root.node
    model.type = .features(FeatureModel(regressor))
    #expect(model.validate().contains { $0.field?.contains("treeEnsemble") == true })
  }

  @Test func aValueOfAnotherTypeIsRefusedByName() throws {
    let model = try Model(
      contentsOf: Self.fixtures.path("categorical-mapping/model.mlmodel"))
    let predictor = try Predictor(model: model)
    #expect(throws: ModelError.self) { try predictor.predict(["x": .string("three")]) }
    #expect(throws: ModelError.self) { try predictor.predict(["x": .double(0.5)]) }
    #expect(throws: ModelError.self) { try predictor.predict([:]) }
  }
}
