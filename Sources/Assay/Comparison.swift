import ByteFormats
import CoreMLModel
import Engine
import Imaging
import ImportSupport
import ModelPrediction
import ModelTransforms
import TensorCore
import Verification

/// A comparison of predictions, or of arrays, with expected values.
public struct Comparison: Sendable {
  /// Options for predicting and comparing.
  @dynamicMemberLookup
  public struct Options: Sendable {
    /// How to predict.
    public var predictor: Predictor.Options
    /// The tolerance of each output.
    public var tolerances = Tolerances()
    /// The number of best classes to compare; nil for none.
    public var top: Int?
    /// The number of classes to compare in outputs with class scores, if `top` is nil.
    public var topOfScores: Int?
    /// A file with expected inner blobs.
    public var layers: String?
    /// Whether to run the double-precision engine, too.
    public var reference = false
    /// Whether to run each layer on the expected values before it.
    package var runsLayersAlone = false
    /// Whether the differences of the outputs are kept.
    package var keepsDifferences = false

    /// Options to compare outputs within the tolerance of 32-bit weights.
    public init(_ predictor: Predictor.Options = Predictor.Options()) { self.predictor = predictor }

    /// An option of the prediction.
    public subscript<Value>(
      dynamicMember option: WritableKeyPath<Predictor.Options, Value>
    ) -> Value {
      get { predictor[keyPath: option] }
      set { predictor[keyPath: option] = newValue }
    }
  }

  /// The outputs, in the order of the expected arrays.
  public let outputs: [OutputComparison]
  /// Outputs without an expected value.
  public let unexpected: [String]
  /// The inner blobs, if requested.
  public let blobs: BlobComparison?
  /// The source of each output's difference, if requested.
  public let verdicts: [String: ReferenceVerdict]
  /// What each layer adds to the error, if requested.
  package private(set) var layerErrors: LayerErrors?
  /// The outputs that are images and were compared with images of the same size.
  public var images: [ImageDifference] = []
  /// Actual minus expected values of each output, if requested and the shapes match.
  package var differences = ArraySet([])

  /// Whether every output and blob is within its tolerance.
  public var matches: Bool {
    outputs.allSatisfy(\.agrees) && (blobs?.blobs.allSatisfy(\.agrees) ?? true)
  }

  /// Whether values of an output differ, rather than the pixels of an image.
  package var canBeDiagnosed: Bool {
    images.isEmpty && outputs.contains { !$0.agrees && $0.metrics != nil }
  }

  /// Runs `model` on the inputs that `words` name and compares its outputs with those in the file
  /// `expected`.
  public static func compare(
    _ model: Model, inputs words: [String], expected path: String, options: Options
  ) throws -> Comparison {
    var expected = try ExpectedArrays.read(path)
    let isImage = try ExpectedArrays.isImage(path)
    let source = try InputSource.only(words, for: model, command: "diff")
    let values = try source.read(
      for: model, images: options.images, hooks: options.engine.hooks)
    var predictorOptions = options.predictor
    if options.layers != nil { predictorOptions.keep = .all }
    let predictor = try Predictor(model: model, options: predictorOptions)
    let prediction = try source.blamed { try predictor.predict(values) }
    let outputs = prediction.features
    let imageOutputs = outputs.filter { if case .image = $0.kind { true } else { false } }
    if isImage {
      let shape = expected.arrays[0].tensor.shape.drop { $0 == 1 }
      let partners =
        imageOutputs.count == 1
        ? imageOutputs : outputs.filter { $0.channelsLast.shape.drop { $0 == 1 } == shape }
      if partners.count == 1 { expected.arrays[0].name = partners[0].name }
    }
    let (pairs, unexpected) = try pair(
      outputs.map { ($0.name, isImage ? $0.channelsLast : $0.value) }, with: expected, file: path,
      options.engine.hooks, states: predictor.stateOutputs)
    let scores = Set(outputs.filter(\.isScores).map(\.name))
    let comparisons = pairs.map {
      $0.compared(options, isImage: isImage, isScores: scores.contains($0.name))
    }
    var verdicts: [String: ReferenceVerdict] = [:]
    if options.reference {
      let references = try predictor.referencePrediction(values)
      for pair in pairs where pair.actual.count == pair.expected.count {
        guard let reference = references.outputs.first(where: { $0.name == pair.name }) else {
          continue
        }
        verdicts[pair.name] = ReferenceVerdict(
          actual: pair.actual, expected: pair.expected, reference: reference.value,
          tolerance: options.tolerances[pair.name, isImage: isImage])
      }
    }
    let known = try options.layers.map { try expectedBlobs($0, of: model) }
    var result = Comparison(
      outputs: comparisons, unexpected: unexpected,
      blobs: try known.map { try compareBlobs(prediction, model, expected: $0, options: options) },
      verdicts: verdicts,
      images: pairs.filter { pair in isImage || imageOutputs.contains { $0.name == pair.name } }
        .compactMap(\.images), differences: options.differences(of: pairs))
    if options.runsLayersAlone, let known {
      let names = Dictionary(first: result.blobs?.similar.map { ($0.expected, $0.blob) } ?? [])
      result.layerErrors = LayerErrors(
        model,
        known: Dictionary(first: known.blobs.map { (names[$0.name] ?? $0.name, $0.value) }),
        inputs: values, options: options.predictor)
    }
    return result
  }

  /// Compares the arrays of two files; `b` contains the expected values.
  public static func compare(
    arrays a: String, with b: String, options: Options
  ) throws -> Comparison {
    let actual = try ExpectedArrays.read(a)
    let isImage = try ExpectedArrays.isImage(a) || ExpectedArrays.isImage(b)
    let (pairs, unexpected) = try pair(
      actual.arrays.enumerated().map {
        ($1.name ?? (isImage ? "image" : "array \($0)"), $1.tensor)
      },
      with: try ExpectedArrays.read(b), file: b, options.engine.hooks)
    return Comparison(
      outputs: pairs.map { $0.compared(options, isImage: isImage) }, unexpected: unexpected,
      blobs: nil, verdicts: [:], images: isImage ? pairs.compactMap(\.images) : [],
      differences: options.differences(of: pairs))
  }

  /// An actual array and the expected one that belongs to it.
  struct Pair {
    let name: String
    let actual: Tensor
    let expected: Tensor

    var difference: NamedArray? {
      guard actual.hasAxes(of: expected.shape) else { return nil }
      let values = zip(actual.elements, expected.elements).map { $0 - $1 }
      return NamedArray(Tensor(shape: expected.shape, values), name: name)
    }

    /// - Parameters:
    ///   - isImage: whether one of them is an image from a file; the other is then rounded and
    ///     clipped as in such a file.
    ///   - isScores: whether they are scores of classes.
    func compared(_ options: Options, isImage: Bool, isScores: Bool = false) -> OutputComparison {
      OutputComparison(
        name, actual: isImage ? actual.colored(like: expected).asSamples : actual,
        expected: isImage ? expected.colored(like: actual).asSamples : expected,
        tolerance: options.tolerances[name, isImage: isImage],
        top: options.top ?? (isScores ? options.topOfScores : nil), peak: isImage ? 255 : nil)
    }

    var images: ImageDifference? {
      ImageDifference(
        name, actual: actual.colored(like: expected), expected: expected.colored(like: actual))
    }
  }

  /// Compares the outputs of a prediction with their expected values.
  package static func compare(
    _ prediction: Prediction, expected: ArraySet, file: String, options: Options,
    states: Set<String>
  ) throws -> [OutputComparison] {
    let outputs = prediction.features
    let scores = Set(outputs.filter(\.isScores).map(\.name))
    let pairs = try pair(
      outputs.map { ($0.name, $0.value) }, with: expected, file: file, options.engine.hooks,
      states: states
    ).pairs
    return pairs.map { $0.compared(options, isImage: false, isScores: scores.contains($0.name)) }
  }

  private static func pair(
    _ actual: [(name: String, value: Tensor)], with expected: ArraySet, file: String,
    _ hooks: EngineHooks, states: Set<String> = []
  ) throws -> (pairs: [Pair], unexpected: [String]) {
    let meant = FeatureNames.output.meant(
      by: expected.arrays.map(\.name), among: actual.map(\.name))
    // Arrays that name no output belong to the outputs other than states.
    let names = Set(actual.map(\.name))
    let isOpen =
      expected.arrays.count < actual.count && meant.contains { !names.contains($0 ?? "") }
    let actual = isOpen ? actual.filter { !states.contains($0.name) } : actual
    let pairing = ArrayPairing(actual: actual.map(\.name), expected: meant)
    guard pairing.unpairedExpected.isEmpty, !pairing.pairs.isEmpty else {
      let names = pairing.unpairedExpected.map { expected.arrays[$0].name ?? "array \($0)" }
      throw ModelError(
        .mismatch, "there is nothing to compare with \(names.joined(separator: ", "))", file: file,
        hint: "the outputs are \(actual.map(\.name).joined(separator: ", "))")
    }
    for pair in pairing.pairs {
      hooks.reportName(
        meant[pair.expected], usedFor: "output '\(actual[pair.actual].name)'",
        unless: actual[pair.actual].name, file: file)
    }
    return (
      pairing.pairs.map {
        Pair(
          name: actual[$0.actual].name, actual: actual[$0.actual].value,
          expected: expected.arrays[$0.expected].tensor)
      }, pairing.unpairedActual.map { actual[$0].name }
    )
  }

  /// The arrays of a file by blob; each is named after a blob or a layer.
  private static func expectedBlobs(
    _ path: String, of model: Model
  ) throws -> (file: String, blobs: [(name: String, value: Tensor)]) {
    let arrays = try ExpectedArrays.read(path).arrays.enumerated().map { index, array in
      let name = array.name ?? "array \(index)"
      return (name: model.blob(named: name) ?? name, value: array.tensor)
    }
    return (path, arrays)
  }

  private static func compareBlobs(
    _ prediction: Prediction, _ model: Model,
    expected: (file: String, blobs: [(name: String, value: Tensor)]), options: Options
  ) throws -> BlobComparison {
    var values: [String: Tensor] = [:]
    for output in prediction.outputs { values[output.name] = output.value }
    let (path, expected) = expected
    let comparison = BlobComparison(
      order: model.blobNames, actual: values, expected: expected, tolerances: options.tolerances)
    try require(
      !comparison.blobs.isEmpty, .mismatch,
      expected.isEmpty
        ? "the file has no arrays"
        : "none of its arrays matches a layer or blob of the model by name, or by shape and values: "
          + expected.map(\.name).sorted().prefix(3).joined(separator: ", "), file: path,
      hint: "name the arrays as `assay inspect` names layers or blobs")
    return comparison
  }
}

extension Predictor {
  /// The outputs that carry the state of recurrent layers to the next prediction.
  package var stateOutputs: Set<String> {
    let optional = inputs.map(\.name).filter { name in
      name.hasSuffix("_in") && inputs.contains { $0.name == name && $0.type?.isOptional == true }
    }
    return Set(model.recurrentStates.map(\.output) + optional.map { $0.dropLast(2) + "out" })
  }
}

extension Comparison.Options {
  /// The options with the names in the tolerances replaced by those of the model's outputs.
  package func named(for model: Model) -> Self {
    var result = self
    result.tolerances.relative = tolerances.relative.renamingKeys { model.feature(meantBy: $0) }
    result.tolerances.absolute = tolerances.absolute.renamingKeys { model.feature(meantBy: $0) }
    return result
  }

  func differences(of pairs: [Comparison.Pair]) -> ArraySet {
    ArraySet(keepsDifferences ? pairs.compactMap(\.difference) : [])
  }
}
