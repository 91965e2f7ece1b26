import CoreMLModel
import Interpretation
import ModelPrediction
import TensorCore
import Verification

/// A model and the interpreter of its source, ready to run side by side.
struct ProofRun {
  private let interpreter: any SourceInterpreter
  private let blobs: [String: String]
  /// The model's input for each input of the source.
  private let inputNames: [String: String]
  let predictor: Predictor
  let model: Model
  let seed: UInt64

  /// The accepted difference of one layer, relative to its largest value: sums of thousands of
  /// products are rounded to single precision, and functions are approximated by polynomials. The
  /// effect of the last bits of the layer's inputs is added; see `compared`.
  private let rounding: Double

  /// The result for one input.
  struct Result {
    struct Suspect {
      let layer: String
      let blob: String
      var difference: LayerDifference
      let value: DoubleArray
      var allowed: Double
    }

    var layers: Set<String> = []
    var compared: Set<String> = []
    var largest = 0.0
    var missing: InterpretationError?
    /// Layers that the interpreter lacks; it continued with the model's values.
    var takenOver: [InterpretationError] = []
    /// Outputs of the model that were not compared.
    var openOutputs: Set<String> = []
    /// Layers with differences beyond `rounding`, in order.
    var suspects: [Suspect] = []
    /// The first layer with a difference that rounding does not explain.
    var differing: Suspect?
  }

  init(
    _ interpreter: any SourceInterpreter, _ model: Model, _ blobs: [String: String],
    _ options: Proof.Options
  ) throws {
    self.interpreter = interpreter
    let images = Set(
      (model.description?.output ?? []).filter {
        if case .image? = $0.type?.kind { true } else { false }
      }.map(\.name))
    let made = Set(model.neuralNetwork?.layers.flatMap(\.output) ?? [])
    self.blobs = blobs.filter { made.contains($0.value) && !images.contains($0.value) }
    self.model = model
    (seed, rounding) = (options.seed, options.rounding)
    let required = (model.description?.input ?? []).filter { $0.type?.isOptional != true }
    let pairing = ArrayPairing(
      actual: required.map { Optional($0.name) },
      expected: interpreter.inputs.map { Optional($0.name) })
    let names = Dictionary(
      first: pairing.pairs.map { (interpreter.inputs[$0.expected].name, required[$0.actual].name) })
    let counterparts = Set(self.blobs.values)
    if let open = interpreter.inputs.first(where: { names[$0.name] == nil }) {
      throw ModelError(
        .mismatch, "the model has no input for '\(open.name)' of the source network",
        hint: "its inputs are \(required.map(\.name).joined(separator: ", "))")
    }
    // Layers that prepare pixels do not belong to the source.
    inputNames = names.mapValues { name in
      guard model.imageType(of: name) != nil else { return name }
      return model.affineBlobs(after: name).prefix {
        $0.hasPrefix(name + "_") && !counterparts.contains($0)
      }.last ?? name
    }
    var predictorOptions = options.predictor
    predictorOptions.layout = .source
    // Direct convolution: tiled algorithms' rounding scales with their inputs, not their outputs.
    predictorOptions.engine.convolution = .direct
    predictorOptions.keep = .named(Set(self.blobs.values).union(inputNames.values))
    predictor = try Predictor(model: model, options: predictorOptions)
  }

  /// Compares every layer on one input.
  ///
  /// Layers beyond `rounding` run again with the last bits of their inputs changed: single
  /// precision may cause a multiple of the resulting change.
  func compared(_ input: ProofInput) throws -> Result {
    var values = try input.predict(predictor)
    var sources: [String: DoubleArray] = [:]
    for (name, feature) in inputNames {
      let value = try values[feature].orThrow(
        ModelError(.internal, "input '\(feature)' was not kept"))
      sources[name] = DoubleArray(value)
    }
    var result = Result()
    var kept = values
    result.openOutputs = outputs
    func takeOver(_ blob: String) -> DoubleArray? {
      values.removeValue(forKey: blob).map(DoubleArray.init)
    }
    try run(sources, &result, takeOver) { layer, value, result in
      guard let blob = blobs[layer], var actual = values.removeValue(forKey: blob) else {
        return nil
      }
      result.compared.insert(layer)
      result.openOutputs.remove(blob)
      var difference = LayerDifference(actual, value, mayOverflow: input.mayOverflow)
      if mayHaveOwnAxes(blob), actual.shape.count == 4, difference.largest > 0 {
        let other = actual.transposed([0, 3, 1, 2])
        let second = LayerDifference(other, value, mayOverflow: input.mayOverflow)
        if second.largest < difference.largest {
          (actual, difference, kept[blob]) = (other, second, other)
        }
      }
      if difference.largest > rounding * difference.scale + smallest(input) {
        result.suspects.append(
          .init(layer: layer, blob: blob, difference: difference, value: value, allowed: 0))
      } else {
        result.largest = max(result.largest, difference.relative)
      }
      return difference.fits ? try DoubleArray(actual).reshaped(value.shape) : nil
    }
    if !result.suspects.isEmpty { try judge(&result, kept, sources, input) }
    return result
  }

  /// Whether the blob belongs to a program and may have the source's axes instead of Core ML's.
  private func mayHaveOwnAxes(_ blob: String) -> Bool {
    let recorded = model.description?.metadata?.userDefined ?? [:]
    let layout = recorded[SourceLayout.metadataPrefix + blob] ?? recorded[SourceLayout.blobKey]
    return layout?.hasSuffix("C:NCHW") == true
  }

  /// Values near overflow saturate sigmoids and gates; what remains is their rounding near 1: 16
  /// ulp.
  private func smallest(_ input: ProofInput) -> Double {
    input.mayOverflow ? 0x1p-20 : LayerDifference.smallest
  }

  /// The blobs of the model's outputs.
  private var outputs: Set<String> {
    Set(
      (model.description?.output ?? []).compactMap { output in
        switch output.type?.kind {
        case .multiArray, .image: output.name
        case .dictionary: model.probabilitiesBlob ?? output.name
        default: nil
        }
      })
  }

  /// Runs the interpreter as far as possible.
  private func run(
    _ sources: [String: DoubleArray], _ result: inout Result,
    _ takeOver: (String) -> DoubleArray?,
    _ visit: (String, DoubleArray, inout Result) throws -> DoubleArray?
  ) throws {
    do {
      _ = try interpreter.run(
        sources,
        visit: { layer, value in
          result.layers.insert(layer)
          return try visit(layer, value, &result)
        },
        takeOver: { layer, error in
          guard let value = blobs[layer].flatMap(takeOver) else { return nil }
          if result.takenOver.last != error { result.takenOver.append(error) }
          return value
        })
    } catch let error as InterpretationError {
      result.missing = error
    }
  }

  /// Determines which suspects rounding explains.
  private func judge(
    _ result: inout Result, _ values: [String: Tensor], _ sources: [String: DoubleArray],
    _ input: ProofInput
  ) throws {
    let changes = try changes(of: result.suspects, values, sources)
    for suspect in result.suspects {
      guard let actual = values[suspect.blob], suspect.difference.fits else {
        result.differing = result.differing ?? suspect
        continue
      }
      let own = changes[suspect.layer] ?? []
      // If the last bits decide between values, like indices of equal maxima, both are correct.
      let jump = 1e-3 * suspect.difference.scale
      var judged = suspect
      judged.difference = LayerDifference(
        actual, suspect.value, mayOverflow: input.mayOverflow
      ) { own.indices.contains($0) && own[$0] > jump }
      judged.allowed =
        rounding * suspect.difference.scale + smallest(input)
        + 64 * own.reduce(0) { $1 > jump ? $0 : max($0, $1) }
      if judged.difference.largest <= judged.allowed {
        result.largest = max(result.largest, judged.difference.relative)
      } else if result.differing == nil {
        result.differing = judged
      }
    }
  }

  /// The largest change of each element of the suspects if the last bits of all layer inputs
  /// change, in either direction.
  private func changes(
    of suspects: [Result.Suspect], _ values: [String: Tensor], _ sources: [String: DoubleArray]
  ) throws -> [String: [Double]] {
    let expected = Dictionary(first: suspects.map { ($0.layer, $0.value.values) })
    var changes: [String: [Double]] = [:]
    for sign in [1.0, -1] {
      var generator = SplitMix64(seed: seed)
      func nudged(_ array: DoubleArray, isInput: Bool = false) -> DoubleArray {
        let largest = array.values.reduce(0) { max($0, $1.isFinite ? abs($1) : 0) }
        // Integers in inputs are indices or masked steps, unless all elements are equal.
        let keepsWhole = isInput && array.values.contains { $0 != array.values[0] }
        return array.map { value in
          guard value.isFinite, !keepsWhole || value != value.rounded() else { return value }
          let unit = sign * (Double(generator.next() >> 11) / Double(1 << 53) * 2 - 1)
          return value + unit * (0x1p-23 * max(abs(value), 1e-3 * largest) + 1e-30)
        }
      }
      var ignored = Result()
      let inputs = sources.sorted { $0.key < $1.key }.map { input in
        (input.key, nudged(input.value, isInput: true))
      }
      func takeOver(_ blob: String) -> DoubleArray? { values[blob].map { nudged(DoubleArray($0)) } }
      try run(Dictionary(uniqueKeysWithValues: inputs), &ignored, takeOver) { layer, value, _ in
        if let first = expected[layer], first.count == value.count {
          let before = changes[layer] ?? [Double](repeating: 0, count: first.count)
          changes[layer] = before.indices.map { index in
            let change = abs(first[index] - value.values[index])
            return max(before[index], change.isFinite ? change : 0)
          }
        }
        guard let blob = blobs[layer], let actual = values[blob], actual.count == value.count
        else { return nil }
        return nudged(try DoubleArray(actual).reshaped(value.shape))
      }
    }
    return changes
  }
}
