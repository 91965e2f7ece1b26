import CoreMLModel
import ModelPrediction
import TensorCore
import Verification

/// A comparison of two models: their structure, and their outputs for the same inputs. Errors are
/// relative to the first model.
package struct ModelComparison: Sendable {
  package struct Options: Sendable {
    package var comparison = Comparison.Options()
    /// The seed for random inputs, if no inputs are given.
    package var seed: UInt64 = 0
    /// The number of best classes to compare if there are several inputs.
    package var topOfMany: Int?
    /// Whether to compare only the structure.
    package var structureOnly = false

    package init() {}
  }

  package struct Run: Sendable {
    /// The input's file, or `random inputs`.
    package let input: String
    package let comparison: Comparison
  }

  package let difference: ModelDifference
  package private(set) var runs: [Run] = []
  /// Why the models were not run, if they were not.
  package private(set) var notRun: ModelError?

  /// The results for many inputs, instead of `runs`.
  package private(set) var summary: ComparisonSummary?

  /// Whether only the structure was compared.
  private let isOfStructure: Bool

  /// Whether the outputs match; the structure counts only if nothing else was compared.
  package var matches: Bool {
    if let summary { return summary.matches && summary.notCompared.isEmpty }
    return isOfStructure
      ? difference.isEmpty : !runs.isEmpty && runs.allSatisfy(\.comparison.outputsMatch)
  }

  /// The number of inputs on which the models were compared.
  package var comparedCount: Int { summary?.count ?? runs.count }

  /// The comparison of many inputs.
  package init(_ difference: ModelDifference, _ summary: ComparisonSummary) {
    self.difference = difference
    self.summary = summary
    isOfStructure = false
  }

  /// - Parameter words: inputs as on a command line; none for random ones.
  /// - Throws: `ModelError` if a given input does not fit the models.
  package init(_ a: Model, _ b: Model, inputs words: [String], options: Options) throws {
    let difference = try ModelDifference(a, b)
    self.difference = difference
    isOfStructure = options.structureOnly
    if isOfStructure { return }
    guard words.isEmpty else {
      let pair = try ModelPair(a, b, blobs: difference.blobs, options.comparison, keepsBlobs: true)
      runs = try InputList(words, for: a).map { source in
        let values = try source.read(
          for: a, images: options.comparison.images, hooks: options.comparison.engine.hooks)
        return Run(input: source.name, comparison: try source.blamed { try pair.compare(values) })
      }
      return
    }
    do {
      let pair = try ModelPair(
        a, b, blobs: difference.blobs, options.comparison, isRandom: true, keepsBlobs: true)
      let comparison = try pair.compare(try pair.randomValues(seed: options.seed))
      runs = [Run(input: "random inputs", comparison: comparison)]
    } catch let error as ModelError where error.code != .outOfMemory { notRun = error }
  }
}

extension Comparison {
  /// Whether the outputs agree, regardless of inner blobs.
  package var outputsMatch: Bool { outputs.allSatisfy(\.agrees) && unexpected.isEmpty }
}

/// Two models ready to run.
package struct ModelPair {
  private let a: Predictor
  private let b: Predictor
  private let model: Model
  private let blobs: [String: String]
  private let options: Comparison.Options

  /// - Parameters:
  ///   - blobs: the second model's blob for each blob of the first.
  ///   - keepsBlobs: whether inner blobs are compared, too.
  package init(
    _ a: Model, _ b: Model, blobs: [String: String] = [:], _ options: Comparison.Options,
    isRandom: Bool = false, keepsBlobs: Bool = false
  ) throws {
    var predictorOptions = options.predictor
    if isRandom {
      // The layout that both models use for their arrays.
      predictorOptions.layout = a.recordsLayouts && b.recordsLayouts ? .source : .coreml
      predictorOptions.engine.hooks = options.engine.hooks.forRandomInputs
    }
    if keepsBlobs { predictorOptions.keep = .all }
    self.a = try Self.named("the first model") {
      try Predictor(model: a, options: predictorOptions)
    }
    self.b = try Self.named("the second model") {
      try Predictor(model: b, options: predictorOptions)
    }
    model = a
    self.blobs = blobs
    self.options = options
  }

  private static func named<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as ModelError {
      throw error.file == nil && error.field == nil ? error.inside(name) : error
    }
  }

  func randomValues(seed: UInt64) throws -> [String: FeatureValue] {
    let names = inputNames
    let whole = b.inputs.filter { $0.type?.isWhole == true }.map(\.name)
    return try a.randomValues(seed: seed, whole: { whole.contains(names[$0] ?? $0) })
  }

  package func compare(_ values: [String: FeatureValue]) throws -> Comparison {
    let expected = try Self.named("the first model") { try a.predict(values) }
    let names = inputNames
    let renamed = Dictionary(first: values.map { (names[$0.key] ?? $0.key, $0.value) })
    let actual = try Self.named("the second model") { try b.predict(renamed) }
    let (x, y) = (expected.features, actual.features)
    let pairing = ArrayPairing(
      actual: y.map { blobName(ofSecond: $0.name) ?? $0.name }, expected: x.map(\.name))
    let pairs = pairing.pairs.map {
      Comparison.Pair(
        name: x[$0.expected].name, actual: y[$0.actual].value, expected: x[$0.expected].value)
    }
    let images = Set(
      (x + y).filter { if case .image = $0.kind { true } else { false } }.map(\.name))
    let comparisons = pairing.pairs.map { pair in
      let (output, reference) = (y[pair.actual], x[pair.expected])
      return OutputComparison(
        reference.name, actual: output.value, expected: reference.value,
        tolerance: options.tolerances[reference.name],
        top: options.top ?? (reference.isScores ? options.topOfScores : nil))
    }
    return Comparison(
      outputs: comparisons,
      unexpected: pairing.unpairedActual.map { y[$0].name }
        + pairing.unpairedExpected.map { x[$0].name },
      blobs: compareBlobs(actual, expected), verdicts: [:],
      images: pairs.filter { images.contains($0.name) }.compactMap(\.images),
      differences: options.differences(of: pairs))
  }

  /// The second model's input for each of the first's: by name, then by order.
  private var inputNames: [String: String] {
    let pairing = ArrayPairing(
      actual: b.inputs.map { Optional($0.name) }, expected: a.inputs.map { Optional($0.name) })
    return Dictionary(
      first: pairing.pairs.map { (a.inputs[$0.expected].name, b.inputs[$0.actual].name) })
  }

  private func blobName(ofSecond name: String) -> String? { blobs.first { $0.value == name }?.key }

  private func compareBlobs(_ actual: Prediction, _ expected: Prediction) -> BlobComparison {
    let found = Dictionary(first: actual.outputs.map { ($0.name, $0.value) })
    var paired: [String: Tensor] = [:]
    for (name, other) in blobs { paired[name] = found[other] }
    let references = Dictionary(first: expected.outputs.map { ($0.name, $0.value) })
    return BlobComparison(
      order: model.neuralNetwork?.layers.flatMap(\.output) ?? [], actual: paired,
      expected: references.filter { paired[$0.key] != nil }, tolerances: options.tolerances)
  }
}

extension Prediction {
  /// The outputs without inner blobs.
  var features: [PredictedOutput] {
    outputs.filter { if case .blob = $0.kind { false } else { true } }
  }
}
