import CoreMLModel
import Engine
import ModelPrediction
import ModelTransforms
import TensorCore
import Verification

/// Runs a model before and after an edit on the same seeded random inputs.
package struct EditCheck {
  /// Differences up to this fraction of an output's largest value count as rounding: other outputs
  /// make the engine fuse other layers.
  private static let rounding = 1e-4
  /// The bounds of flexible shapes are not tried for inputs with more elements.
  private static let largestInput = 1 << 22

  private let edit: ModelEdit
  private let options: Predictor.Options
  /// The findings of the check, for the user.
  package private(set) var notes: [String] = []
  private var outputs: [String: Tensor]?
  private var inputs: [String: Tensor] = [:]

  package init(_ edit: ModelEdit, options: Predictor.Options = Predictor.Options()) {
    self.edit = edit
    var options = options
    options.layout = .coreml
    self.options = options
  }

  /// - Throws: `ModelError` if the edited model is invalid or no longer runs,
  /// or if its predictions changed although only names and declarations were edited.
  package mutating func check(_ before: Model, _ after: Model) throws {
    try after.requireWritable()
    if let type = after.firstTypeThatDoesNotRun {
      notes.append("not run: the engine cannot run models of type \(type)")
      return
    }
    if after.usesFeatures {
      notes.append("not run: random inputs are for neural networks only")
      return
    }
    let reference: (given: [String: Tensor], taken: [String: Tensor])
    do { reference = try blobs(before) } catch let error as ModelError {
      do { try run(after, [:]) } catch let later as ModelError {
        let isSame = later.description == error.description
        notes.append("not run\(isSame ? "" : " before the edit"): \(error.description)")
        if !isSame { notes.append("not run after the edit: \(later.description)") }
        return
      }
      notes.append("not run before the edit: \(error.description)")
      return try checkBounds(after)
    }
    do { try run(after, reference.taken) } catch let error as ModelError {
      // The class may exist only in the app.
      guard error.code == .unsupported, edit.customLayers.contains(where: { $0.className != nil })
      else { throw error }
      notes.append("not run after the edit: \(error.description)")
      return
    }
    try compare(after, reference.given, isSame: !edit.changesNumbers(of: before))
    try checkBounds(after)
  }

  /// Checks that the written model, read back, makes the same predictions as the edited one.
  package func checkWritten(_ bytes: Bytes) throws {
    let written = try Model(bytes: bytes)
    try written.selectingFunction(nil).requireValid()
    try require(
      try written.isEncoded(as: bytes), .internal, "the file does not contain what was written")
    guard let outputs else { return }
    let found = try Predictor(model: written, options: options).outputBlobs(inputs)
    for (name, value) in outputs where found[name].map({ !Self.agree($0, value, 0) }) ?? true {
      throw ModelError(
        .internal, "the written file gives other predictions than the edited model", field: name)
    }
  }

  /// The blobs before the edit by their new names: inputs, outputs, and all that become features.
  /// In `taken`, blobs that pass between models of a pipeline have the form in which the next one
  /// reads them.
  private func blobs(_ before: Model) throws -> (given: [String: Tensor], taken: [String: Tensor]) {
    let observed = edit.observing(before)
    let predictor = try Predictor(model: observed, options: options)
    let inputs = try predictor.randomBlobs(seed: 0)
    var blobs = before.namingProbabilities(in: try predictor.outputBlobs(inputs))
    func renamed(_ blobs: [String: Tensor]) -> [String: Tensor] {
      Dictionary(first: blobs.map { (edit.renames[$0.key] ?? $0.key, $0.value) })
    }
    blobs.merge(inputs) { first, _ in first }
    var taken = blobs
    for (name, value) in blobs {
      let taker = predictor.members.firstValue { $0.interface.features[name] }
      let giver = predictor.members.reversed().firstValue { $0.interface.output(name) }
      if let taker, let giver { taken[name] = try taker.blob(passedOnBy: giver, value) }
    }
    return (renamed(blobs), renamed(taken))
  }

  private mutating func run(_ model: Model, _ known: [String: Tensor]) throws {
    let predictor = try Predictor(model: model, options: options)
    inputs = try predictor.randomBlobs(
      seed: 0,
      shapes: known.mapValues(\.shape).filter { name, shape in
        model.typicalShapeFits(name, shape)
      })
    for input in predictor.inputs {
      guard let value = known[input.name] else { continue }
      // Inputs that became optional keep their values.
      if inputs[input.name].map({ $0.shape == value.shape }) ?? true { inputs[input.name] = value }
    }
    outputs = try predictor.outputBlobs(inputs)
  }

  private mutating func compare(
    _ model: Model, _ reference: [String: Tensor], isSame: Bool
  ) throws {
    let inputs = Set(self.inputs.keys)
    let compared = model.namingProbabilities(in: outputs ?? [:])
    let shared = compared.filter { reference[$0.key] != nil && !inputs.contains($0.key) }
    guard isSame else {
      notes.append("the model runs before and after the edit")
      return
    }
    for (name, value) in shared.sorted(by: { $0.key < $1.key }) {
      guard let expected = reference[name], Self.agree(value, expected, Self.rounding) else {
        throw ModelError(.internal, "the edited model gives other predictions", field: name)
      }
    }
    notes.append(
      shared.isEmpty
        ? "the model runs before and after the edit"
        : "same predictions before and after: " + shared.keys.sorted().joined(separator: ", "))
  }

  private static func agree(_ a: Tensor, _ b: Tensor, _ part: Double) -> Bool {
    guard a.count == b.count else { return false }
    let largest = b.elements.reduce(0) { max($0, $1.isFinite ? abs($1) : 0) }
    return ErrorMetrics(
      a, b, Tolerance(relative: 0, absolute: part * Double(largest))
    ).isWithinTolerance
  }
}

// MARK: - Flexible shapes

extension EditCheck {
  /// Runs the model at the bounds of the shapes that the edit set.
  fileprivate mutating func checkBounds(_ model: Model) throws {
    let names = edit.shapes.map(\.name)
    let features = (model.description?.input ?? []).filter { names.contains($0.name) }
    guard !features.isEmpty else { return }
    let choices = features.map { ($0.name, $0.boundaryShapes(in: model)) }
    let predictor = try Predictor(model: model, options: options)
    for index in 0..<(choices.map { $0.1.count }.max() ?? 0) {
      let shapes = Dictionary(
        first: choices.compactMap { name, list in
          list.isEmpty ? nil : (name, list[min(index, list.count - 1)])
        })
      let text = shapes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        .joined(separator: ", ")
      guard
        shapes.values.allSatisfy({
          (try? checkedProduct($0)).map { $0 <= Self.largestInput } ?? false
        })
      else {
        notes.append("not run with \(text): too large to try")
        continue
      }
      do {
        let blobs = try predictor.randomBlobs(seed: 0, shapes: shapes)
        _ = try predictor.outputBlobs(blobs)
        notes.append("runs with \(text)")
      } catch var error as ModelError {
        if error.code == .outOfMemory {
          notes.append("not run with \(text): \(error.description)")
          continue
        }
        error.message = "does not run with \(text): \(error.message)"
        error.code = .mismatch
        throw error
      }
    }
  }
}

extension Model {
  /// The blobs, with a classifier's probabilities also under the name of that feature.
  fileprivate func namingProbabilities(in blobs: [String: Tensor]) -> [String: Tensor] {
    var blobs = blobs
    if let name = probabilitiesBlob, let value = blobs[name],
      let feature = description?.predictedProbabilitiesName, !feature.isEmpty
    {
      blobs[feature] = value
    }
    return blobs
  }

  /// Whether the shape differs from the input's usual one at most in its sequence and batch axes.
  fileprivate func typicalShapeFits(_ name: String, _ shape: [Int]) -> Bool {
    guard let feature = description?.input.first(where: { $0.name == name }),
      let typical = typicalShape(of: feature)
    else { return false }
    if network(taking: name)?.arrayInputShapeMapping == .exact { return typical == shape }
    return typical.count == shape.count && typical.dropFirst(2) == shape.dropFirst(2)
  }
}

extension FeatureDescription {
  /// The network's shapes of an input at the bounds of its flexibility: each enumerated shape, or
  /// all sizes at their minimum and all at their maximum. Unbounded sizes use twice the default.
  fileprivate func boundaryShapes(in model: Model) -> [[Int]] {
    guard let network = model.network(taking: name) else { return [] }
    func shape(_ kind: FeatureType.Kind) -> [Int]? {
      var type = FeatureType()
      type.kind = kind
      return type.networkShape(in: network)
    }
    func ends(_ range: SizeRange?, _ own: Int) -> (Int, Int) {
      guard let range else { return (own, own) }
      return (
        range.lowerBound, range.upperBound < 0 ? max(2 * own, range.lowerBound) : range.upperBound
      )
    }
    switch type?.kind {
    case .image(let image)?:
      func sized(_ width: Int, _ height: Int) -> [Int]? {
        var image = image
        (image.width, image.height) = (width, height)
        return shape(.image(image))
      }
      switch image.flexibility {
      case .enumerated(let sizes)?: return sizes.compactMap { sized($0.width, $0.height) }
      case .range(let width, let height)?:
        let (x, y) = (ends(width, image.width), ends(height, image.height))
        return [sized(x.0, y.0), sized(x.1, y.1)].compactMap { $0 }
      case nil: return []
      }
    case .multiArray(let array)?:
      func sized(_ sizes: [Int]) -> [Int]? {
        var array = array
        array.shape = sizes
        return shape(.multiArray(array))
      }
      switch array.flexibility {
      case .enumerated(let shapes)?: return shapes.compactMap(sized)
      case .range(let ranges)? where ranges.count == array.shape.count:
        let bounds = zip(ranges, array.shape).map { ends($0, $1) }
        return [sized(bounds.map(\.0)), sized(bounds.map(\.1))].compactMap { $0 }
      default: return []
      }
    default: return []
    }
  }
}
