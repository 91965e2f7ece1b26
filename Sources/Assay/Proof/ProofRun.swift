import CoreMLModel
import Interpretation
import ModelPrediction
import TensorCore
import Verification

/// A model and the interpreter of its source, ready to run side by side.
struct ProofRun {
  private let interpreter: any SourceInterpreter
  private let blobs: [String: String]
  /// The model's input for each of the source's.
  private let inputNames: [String: String]
  let predictor: Predictor
  let model: Model
  let seed: UInt64

  /// What an engine may differ by in one layer, relative to its largest value: in single precision, sums
  /// of thousands of products, and functions by polynomials. What changes with the last bits of the
  /// layer's inputs comes in addition; see `compared`.
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
    /// Layers that the interpreter lacks, and whose values in the model it went on with.
    var takenOver: [InterpretationError] = []
    /// Outputs of the model that were not compared.
    var openOutputs: Set<String> = []
    /// Layers beyond `rounding`, in their order.
    var suspects: [Suspect] = []
    /// The first layer whose difference rounding does not explain.
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
      pairing.pairs.map { (interpreter.inputs[$0.expected].name, required[$0.actual].name) },
      uniquingKeysWith: { first, _ in first })
    let counterparts = Set(self.blobs.values)
    if let open = interpreter.inputs.first(where: { names[$0.name] == nil }) {
      throw ModelError(
        .mismatch, "the model has no input for '\(open.name)' of the source network",
        hint: "its inputs are \(required.map(\.name).joined(separator: ", "))")
    }
    // Layers that prepare pixels are not of the source.
    inputNames = names.mapValues { name in
      guard model.imageType(of: name) != nil else { return name }
      return model.affineBlobs(after: name).prefix {
        $0.hasPrefix(name + "_") && !counterparts.contains($0)
      }.last ?? name
    }
    var predictorOptions = options.predictor
    predictorOptions.layout = .source
    // As in the definition: the tiles of faster algorithms round by what comes in, not by what goes out.
    predictorOptions.engine.convolution = .direct
    predictorOptions.keep = .named(Set(self.blobs.values).union(inputNames.values))
    predictor = try Predictor(model: model, options: predictorOptions)
  }

  /// Compares every layer on one input.
  ///
  /// A layer beyond `rounding` is run once more with its inputs changed in their last bits: an engine in
  /// single precision may differ by a multiple of what that changes.
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

  /// Whether the blob is a program's and may have the source's axes instead of Core ML's.
  private func mayHaveOwnAxes(_ blob: String) -> Bool {
    let recorded = model.description?.metadata?.userDefined ?? [:]
    let layout = recorded[SourceLayout.metadataPrefix + blob] ?? recorded[SourceLayout.blobKey]
    return layout?.hasSuffix("C:NCHW") == true
  }

  /// Numbers as large as overflow saturate sigmoids and gates, of which only what rounds 1 remains: 16
  /// units in its last place.
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

  /// Runs the interpreter as far as it goes.
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

  /// Finds out which suspects rounding explains.
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
      // Where the last bits decide between two values, as the positions of equal maxima, either is right.
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

  /// How far the elements of each suspect change if all that layers get changes in its last bits, in one
  /// direction and in the other.
  private func changes(
    of suspects: [Result.Suspect], _ values: [String: Tensor], _ sources: [String: DoubleArray]
  ) throws -> [String: [Double]] {
    let expected = Dictionary(
      suspects.map { ($0.layer, $0.value.values) }, uniquingKeysWith: { first, _ in first })
    var changes: [String: [Double]] = [:]
    for sign in [1.0, -1] {
      var generator = SplitMix64(seed: seed)
      func nudged(_ array: DoubleArray, isInput: Bool = false) -> DoubleArray {
        let largest = array.values.reduce(0) { max($0, $1.isFinite ? abs($1) : 0) }
        // Whole numbers of inputs are indices and masked steps, unless all are the same.
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
