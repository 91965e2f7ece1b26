import CoreMLModel
import Engine
import Interpretation
import ModelPrediction
import TensorCore

/// A converted network against the interpreter of its source. The model runs on the engine in single
/// precision; the interpreter runs the source network in double precision, each layer on the values
/// that the model computed for the layers before it. So a difference is the layer's own.
package struct Proof: Sendable {
  package struct Options: Sendable {
    package var predictor = Predictor.Options()
    /// Of the first random inputs.
    package var seed: UInt64 = 0
    /// What rounding may change in one layer, relative to its largest value.
    package var rounding = 1e-5

    package init() {}
  }

  /// A layer whose difference is more than rounding explains.
  package struct Finding: Sendable {
    package let layer: String
    /// The blob with the layer's result in the model.
    package let blob: String
    /// The input on which it differs.
    package let input: String
    package let difference: LayerDifference
    /// What rounding explains.
    package let allowed: Double
  }

  /// Every layer that was interpreted.
  package private(set) var layers: Set<String> = []
  /// Those of them that have a counterpart in the model, and agree.
  package private(set) var agreeing: Set<String> = []
  /// The inputs on which all were compared.
  package private(set) var inputs: [String] = []
  /// The largest difference of a layer, relative to its largest value.
  package private(set) var largest = 0.0
  /// The first layer that differs.
  package private(set) var finding: Finding?
  /// A layer that the interpreter lacks and that has no value in the model; it and what lies behind it were not compared.
  package private(set) var missing: InterpretationError?
  /// Layers that the interpreter lacks: what lies behind them was compared on their values in the model.
  package private(set) var takenOver: [InterpretationError] = []
  /// Outputs of the model that were not compared.
  package private(set) var openOutputs: Set<String> = []

  /// Layers that the interpreter lacks.
  package var lacking: [InterpretationError] { takenOver + (missing.map { [$0] } ?? []) }

  /// Interpreted layers that have no value in the model: what the converter leaves out or merges with
  /// another layer.
  package var unmatched: [String] {
    layers.subtracting(agreeing).subtracting(finding.map { [$0.layer] } ?? []).sorted()
  }

  /// Whether every output agrees.
  package var isComplete: Bool {
    finding == nil && missing == nil && takenOver.isEmpty && openOutputs.isEmpty
      && !agreeing.isEmpty
  }

  /// - Parameters:
  ///   - blobs: the blob of the model for each layer of the source; for layers that it lacks, the names
  ///     decide.
  ///   - words: inputs as on a command line; none for random ones. Zeros and large numbers come in addition.
  /// - Throws: `ModelError` if the source contradicts itself, or the model does not run.
  package init(
    _ interpreter: any SourceInterpreter, _ model: Model, blobs: [String: String],
    inputs words: [String] = [], options: Options = Options()
  ) throws {
    let run = try ProofRun(interpreter, model, blobs, options)
    let cases =
      try words.isEmpty ? run.randomInputs() : run.inputs(words, options.predictor.images)
    let all = try cases + run.edges()
    // An input behind the first finding may fail.
    let results = try concurrently(all.count) { index in Result { try run.compared(all[index]) } }
    for (input, result) in zip(all, results) {
      add(try result.get(), of: input)
      if finding != nil { return }
    }
  }

  private mutating func add(_ result: ProofRun.Result, of input: ProofInput) {
    layers.formUnion(result.layers)
    missing = missing ?? result.missing
    takenOver += result.takenOver.filter { !takenOver.contains($0) }
    largest = max(largest, result.largest)
    agreeing.formUnion(result.compared)
    openOutputs.formUnion(result.openOutputs)
    inputs.append(input.name)
    guard let suspect = result.differing else { return }
    agreeing.remove(suspect.layer)
    finding = Finding(
      layer: suspect.layer, blob: suspect.blob, input: input.name,
      difference: suspect.difference, allowed: suspect.allowed)
  }
}
