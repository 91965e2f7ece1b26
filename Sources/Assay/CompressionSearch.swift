import CoreMLModel
import Engine
import Imaging
import MILExport
import ModelPrediction
import ModelTransforms
import TensorCore
import Verification

/// Finds the smallest precision of every layer that a goal for the whole model allows.
///
/// Each layer is compressed separately, step by step through the precisions, and the outputs are
/// compared with those of the original model. This determines an order of steps: those that save
/// most for the error they add come first, those of the most sensitive layers last; errors of
/// layers are assumed to add up in squares. Bisection with all layers together finds how far the
/// model may go along that order; later steps that might still be possible are tried one by one.
/// Biases compensate for the shift of the means.
package struct CompressionSearch {
  package enum Goal: Sendable {
    /// The largest allowed error of any output element.
    case error(Double)
    /// The minimum fraction of inputs that keep their best class.
    case agreement(Double)
    /// The largest allowed size in bytes.
    case size(Int)
  }

  package struct Options: Sendable {
    package var goal: Goal
    /// Selects layers and the choice of scales; its precision is not used.
    package var rules = CompressionRules(.float16)
    /// Whether biases compensate for the shift of the mean of a layer's outputs.
    package var correctsBiases = true
    package var mode = CodeMode.linear
    package var foldsBatchnorm = true
    package var predictor = Predictor.Options()

    package init(_ goal: Goal) { self.goal = goal }
  }

  package struct Result: Sendable {
    package let model: Model
    package let folds: [BatchnormFold]
    /// The model with these layers folded.
    package let base: Model
    package let layers: [CompressedLayer]
    /// The measurements with all layers together, from the largest to the smallest.
    package let points: [CompressionPoint]
    /// The point of the written model.
    package let chosen: CompressionPoint
  }

  private let original: Model
  private let base: Model
  private let folds: [BatchnormFold]
  private let options: Options
  private let channelMeans: [String: [Double]]
  private let values: [[String: FeatureValue]]
  private let expected: [Prediction]
  private let onProgress: (Double, String) -> Void

  /// - Parameter words: files or folders of inputs, as `InputList` takes them.
  package init(
    _ model: Model, inputs words: [String], options: Options,
    onProgress: @escaping (Double, String) -> Void = { _, _ in }
  ) throws {
    original = model
    self.options = options
    self.onProgress = onProgress
    try require(
      model.neuralNetwork != nil || model.isMLProgram, .unsupported,
      "a model of type \(model.typeName) cannot run, so its precision cannot be searched")
    values = try InputList.values(
      words, for: model, options.predictor.images ?? ImageOptions(), options.predictor.engine.hooks)
    let keepsScales = WeightPrecision.codes(bits: 8, options.mode).wantsChannelScales
    (base, folds) =
      options.foldsBatchnorm && !model.isMLProgram
      ? try model.withFoldedBatchnorm(keepsScales: keepsScales) : (model, [])
    channelMeans =
      options.correctsBiases && !model.isMLProgram
      ? try ChannelMeans(base, values, options.predictor).means : [:]
    expected = try Self.predict(model, values, options)
    if case .agreement = options.goal,
      expected.contains(where: { prediction in
        !prediction.outputs.contains { $0.isScores }
      })
    {
      throw ModelError(.mismatch, "the model has no output with class scores")
    }
  }

  private static func predict(
    _ model: Model, _ values: [[String: FeatureValue]], _ options: Options
  ) throws -> [Prediction] {
    let predictor = try Predictor(model: model, options: options.predictor)
    return try values.flatMap { value in
      // Each item of a batch has its own best class.
      return try predictor.interface.batchItems(predictor.interface.blobs(value)).map {
        predictor.assembled([try predictor.outputBlobs($0)])
      }
    }
  }
}

// MARK: - Search

extension CompressionSearch {
  /// - Throws: `.mismatch` if the goal cannot be reached.
  package func run() throws -> Result {
    let steps = CompressionSteps(
      try base.neuralNetwork.map { try candidates($0) } ?? programCandidates())
    var measured: [Int: CompressionPoint] = [:]
    func point(_ position: Int) throws -> CompressionPoint {
      if let known = measured[position] { return known }
      let new = try measure(steps.path[position], steps)
      measured[position] = new
      return new
    }
    // Some points for the curve, regardless of the goal.
    let curve = 10
    for part in 0...curve {
      onProgress(0.6 + 0.03 * Double(part), "all layers together")
      _ = try point(part * (steps.path.count - 1) / curve)
    }
    var state: [Int]
    var chosen: CompressionPoint
    if case .size(let limit) = options.goal {
      guard let position = steps.path.firstIndex(where: { byteCount($0, steps) <= limit }) else {
        let least = measured.values.map(\.byteCount).min() ?? 0
        throw ModelError(
          .mismatch, "even at the lowest precision the weights would take \(least) bytes")
      }
      (state, chosen) = (steps.path[position], try point(position))
    } else {
      let first = try point(0)
      try require(
        allows(first), .mismatch,
        "even without compression the outputs differ by \(first.largestError)")
      var low = measured.filter { allows($0.value) }.keys.max() ?? 0
      var high = measured.keys.filter { $0 > low }.min() ?? low
      while low + 1 < high {
        let middle = (low + high) / 2
        onProgress(0.92, "all layers together")
        if allows(try point(middle)) { low = middle } else { high = middle }
      }
      (state, chosen) = try furthered(steps, from: low, try point(low))
    }
    if !measured.values.contains(chosen) { measured[steps.path.count] = chosen }
    let points = measured.values.sorted {
      ($0.byteCount, $1.largestError) > ($1.byteCount, $0.largestError)
    }
    return Result(
      model: try model(state, steps), folds: folds, base: base, layers: entries(state, steps),
      points: points, chosen: chosen)
  }

  /// Measures all layers in half precision, and as codes of each width, without a search.
  package func variants() throws -> [CompressionPoint] {
    try precisions.compactMap { precision in
      var rules = options.rules
      (rules.precision, rules.channelMeans) = (precision, channelMeans)
      rules.keepsOverflow = true
      onProgress(0.5, "all layers together")
      do {
        let (model, layers) =
          base.isMLProgram
          ? try base.compressedProgram(ProgramCompressionRules(rules)) : try base.compressed(rules)
        var point = try measure(model, byteCount: layers.reduce(0) { $0 + $1.bytesAfter })
        point.label = Self.label(layers.map(\.mainStorage))
        return point
      } catch let error as ModelError where error.code == .unsupported { return nil }
    }
  }

  private var precisions: [WeightPrecision] {
    [.float16] + [8, 6, 5, 4, 3, 2].map { .codes(bits: $0, options.mode) }
  }

  private func allows(_ point: CompressionPoint) -> Bool {
    switch options.goal {
    case .error(let limit): point.largestError <= limit
    case .agreement(let limit): (point.agreement ?? 0) >= limit
    case .size(let limit): point.byteCount <= limit
    }
  }

  /// Tries further steps after `position` one by one, up to a maximum number of tries.
  private func furthered(
    _ steps: CompressionSteps, from position: Int, _ point: CompressionPoint
  ) throws -> ([Int], CompressionPoint) {
    var (state, chosen) = (steps.path[position], point)
    var refused: Set<Int> = []
    var tries = 0
    for next in steps.path.indices.dropFirst(position + 1) where tries < 24 {
      let previous = steps.path[next - 1]
      guard let changed = state.indices.first(where: { steps.path[next][$0] != previous[$0] }),
        !refused.contains(changed), state[changed] < steps.path[next][changed]
      else { continue }
      var candidate = state
      candidate[changed] = steps.path[next][changed]
      onProgress(0.95, "single layers")
      let found = try measure(candidate, steps)
      tries += 1
      if allows(found) { (state, chosen) = (candidate, found) } else { refused.insert(changed) }
    }
    return (state, chosen)
  }

  // MARK: Measuring

  /// The layers to search, each separately in every precision that may be possible.
  private func candidates(_ network: NeuralNetwork) throws -> [CompressionSteps.Candidate] {
    var candidates: [CompressionSteps.Candidate] = []
    for (index, layer) in network.layers.enumerated() {
      onProgress(0.6 * Double(index) / Double(network.layers.count), layer.name)
      var rules = options.rules
      rules.precision = .float32
      rules.keepsOverflow = true
      rules.channelMeans = channelMeans
      guard let entry = try layer.compressed(rules).entry else { continue }
      let start = CompressionSteps.Rung(part: .layer(layer, index), entry: entry, squaredError: 0)
      candidates.append(
        try candidate(start) { precision in
          rules.precision = precision
          let (compressed, entry) = try layer.compressed(rules)
          guard let entry else { return nil }
          var changed = base
          changed.neuralNetwork?.layers[index] = compressed
          return (changed, .layer(compressed, index), entry)
        })
    }
    return candidates
  }

  /// The weights of an ML Program to search.
  private func programCandidates() throws -> [CompressionSteps.Candidate] {
    var rules = options.rules
    rules.precision = .float32
    let entries = try base.compressedProgram(ProgramCompressionRules(rules)).weights
    var candidates: [CompressionSteps.Candidate] = []
    for (index, entry) in entries.enumerated()
    where rules.precision(named: entry.name, type: entry.type) != nil {
      onProgress(0.6 * Double(index) / Double(entries.count), entry.name)
      let start = CompressionSteps.Rung(
        part: .weight(entry.name, .float32), entry: entry, squaredError: 0)
      candidates.append(
        try candidate(start) { precision in
          let part = CompressionSteps.Part.weight(entry.name, precision)
          do {
            let (changed, entries) = try program([part])
            return (changed, part, entries[index])
          } catch let error as ModelError where error.code == .unsupported { return nil }
        })
    }
    return candidates
  }

  /// The program with these weights in their precisions, and others unchanged.
  private func program(
    _ parts: [CompressionSteps.Part]
  ) throws -> (model: Model, weights: [CompressedLayer]) {
    var rules = options.rules
    rules.precision = .float32
    for case .weight(let name, let precision) in parts { rules.layers[name] = precision }
    return try base.compressedProgram(ProgramCompressionRules(rules))
  }

  /// Steps to lower precisions from `start`, as far as the goal may allow.
  private func candidate(
    _ start: CompressionSteps.Rung,
    _ compressed: (WeightPrecision) throws -> (Model, CompressionSteps.Part, CompressedLayer)?
  ) throws -> CompressionSteps.Candidate {
    var rungs = [start]
    for precision in precisions {
      guard let (changed, part, entry) = try compressed(precision),
        entry.bytesAfter < (rungs.last?.entry.bytesAfter ?? 0)
      else { continue }
      let point = try measure(changed, byteCount: 0)
      rungs.append(
        .init(
          part: part, entry: entry,
          squaredError: max(
            point.relativeError * point.relativeError, rungs.last?.squaredError ?? 0)))
      if !mayContinue(point) { break }
    }
    return CompressionSteps.Candidate(rungs: rungs)
  }

  /// Whether a layer with this separate error may have a larger one.
  private func mayContinue(_ point: CompressionPoint) -> Bool {
    if case .size = options.goal { true } else { allows(point) }
  }

  private func model(_ state: [Int], _ steps: CompressionSteps) throws -> Model {
    let parts = zip(steps.candidates, state).map { $0.rungs[$1].part }
    guard var network = base.neuralNetwork else { return try program(parts).model }
    var model = base
    for case .layer(let layer, let index) in parts { network.layers[index] = layer }
    model.neuralNetwork = network
    model.specificationVersion = max(
      original.specificationVersion, model.minimumSpecificationVersion)
    return model
  }

  private func entries(_ state: [Int], _ steps: CompressionSteps) -> [CompressedLayer] {
    zip(steps.candidates, state).map { $0.rungs[$1].entry }
  }

  /// The size of the weights.
  private func byteCount(_ state: [Int], _ steps: CompressionSteps) -> Int {
    entries(state, steps).reduce(0) { $0 + $1.bytesAfter }
  }

  private func measure(_ state: [Int], _ steps: CompressionSteps) throws -> CompressionPoint {
    var point = try measure(try model(state, steps), byteCount: byteCount(state, steps))
    point.label = Self.label(entries(state, steps).map(\.mainStorage))
    return point
  }

  /// A label such as `1 × float16, 3 × 8 bits`.
  private static func label(_ storages: [(name: String, bits: Int)]) -> String {
    Dictionary(grouping: storages, by: \.bits).sorted { $0.key > $1.key }
      .map { "\($1.count) × \($1[0].name)" }.joined(separator: ", ")
  }

  private func measure(_ model: Model, byteCount: Int) throws -> CompressionPoint {
    var point = CompressionPoint(byteCount: byteCount)
    var squares = (error: 0.0, values: 0.0)
    var agreements: [Double] = []
    for (found, expected) in zip(try Self.predict(model, values, options), expected) {
      for (actual, wanted) in zip(found.features, expected.features) {
        let metrics = ErrorMetrics(
          actual.value, wanted.value, Tolerance(relative: 0, absolute: 0))
        point.largestError = max(point.largestError, metrics.largestAbsoluteError)
        let size = wanted.value.elements.reduce(0) { $0 + Double($1) * Double($1) }
        squares.error +=
          metrics.countNotFinite > 0
          ? .infinity
          : metrics.rootMeanSquareError * metrics.rootMeanSquareError * Double(metrics.count)
        squares.values += size
        if actual.isScores,
          let classes = ClassAgreement(actual.value, wanted.value, count: 1)
        {
          agreements.append(classes.top1)
        }
      }
    }
    point.relativeError =
      squares.error == 0
      ? 0 : (squares.error / max(squares.values, .leastNormalMagnitude)).squareRoot()
    if !agreements.isEmpty { point.agreement = agreements.reduce(0, +) / Double(agreements.count) }
    return point
  }
}
