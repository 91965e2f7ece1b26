import CoreMLModel
import Engine
import Interpretation
import ModelPrediction
import TensorCore

/// Compares a converted network with an interpreter of its source. The engine runs the model in
/// single precision; the interpreter runs each source layer in double precision on the model's
/// values of the layers before it. So each difference belongs to one layer.
package struct Proof: Sendable {
  package struct Options: Sendable {
    package var predictor = Predictor.Options()
    /// The seed for the first random inputs.
    package var seed: UInt64 = 0
    /// The error that rounding may cause in one layer, relative to its largest value.
    package var rounding = 1e-5

    package init() {}
  }

  /// A layer with a larger difference than rounding explains.
  package struct Finding: Sendable {
    package let layer: String
    /// The blob with the layer's result in the model.
    package let blob: String
    /// The input for which it differs.
    package let input: String
    package let difference: LayerDifference
    /// The largest difference that rounding explains.
    package let allowed: Double
  }

  /// Every layer that was interpreted.
  package private(set) var layers: Set<String> = []
  /// The interpreted layers that have a counterpart in the model, and agree.
  package private(set) var agreeing: Set<String> = []
  /// The inputs on which the networks were compared.
  package private(set) var inputs: [String] = []
  /// The largest difference of a layer, relative to its largest value.
  package private(set) var largest = 0.0
  /// The first layer that differs.
  package private(set) var finding: Finding?
  /// The layer that neither the interpreter nor the model has, behind which nothing was compared.
  package private(set) var missing: InterpretationError?
  /// Layers that the interpreter lacks; layers behind them were compared on the model's values.
  package private(set) var takenOver: [InterpretationError] = []
  /// Outputs of the model that were not compared.
  package private(set) var openOutputs: Set<String> = []

  /// All layers that the interpreter lacks.
  package var lacking: [InterpretationError] { takenOver + (missing.map { [$0] } ?? []) }

  /// Interpreted layers without a value in the model: the converter drops them or merges them with
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
  ///   - blobs: the model's blob for each layer of the source; other layers are matched by name.
  ///   - words: inputs as on a command line, or empty for random ones; zeros and large numbers
  ///     are always added.
  /// - Throws: `ModelError` if the source contradicts itself, or the model does not run.
  package init(
    _ interpreter: any SourceInterpreter, _ model: Model, blobs: [String: String],
    inputs words: [String] = [], options: Options = Options()
  ) throws {
    let run = try ProofRun(interpreter, model, blobs, options)
    let cases =
      try words.isEmpty ? run.randomInputs() : run.inputs(words, options.predictor.images)
    let all = try cases + run.edges()
    // Inputs after the first finding may fail.
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
