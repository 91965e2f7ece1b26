import CoreMLModel
import TensorCore

/// Layers without control flow between them, and the plans that have been made for them.
///
/// What cannot be planned before values are known is left to another run, `RunPlan.rest`. Layers
/// whose sizes are values of blobs from outside are a run of their own, so that the plans of the
/// others hold whatever the values are.
final class LayerSequence: @unchecked Sendable {
  // `@unchecked`: the network's lock guards the plans.
  let layers: [PlacedLayer]
  /// Blobs that must be left for others.
  let wanted: Set<String>
  /// Whether it starts from the model's inputs rather than from blobs.
  let takesInputs: Bool
  /// Blobs that come from outside.
  let reads: [String]
  /// Those of them whose values decide sizes, as positions in `reads`.
  let deciding: [Int]
  /// What a run of layers with deciding blobs leaves to another.
  let others: LayerSequence?
  private var plans: [Key: RunPlan] = [:]
  private var last: RunPlan?
  private var readSlots: [Int] = []

  struct Key: Hashable {
    var shapes: [[Int]]
    var values: [[Float]]
  }

  private static let mostPlans = 32

  init(_ layers: [PlacedLayer], wanted: Set<String>, takesInputs: Bool) {
    self.takesInputs = takesInputs
    let (ready, waiting, names) = takesInputs ? ([], layers, []) : Self.ready(layers)
    self.layers = ready.isEmpty ? layers : ready
    others = ready.isEmpty ? nil : LayerSequence(waiting, wanted: wanted, takesInputs: false)
    self.wanted = ready.isEmpty ? wanted : wanted.union(waiting.flatMap(\.layer.input))
    let reads = Self.reads(self.layers)
    self.reads = reads
    deciding = reads.indices.filter { names.contains(reads[$0]) }
  }

  /// Blobs that are read before they are written.
  private static func reads(_ layers: [PlacedLayer]) -> [String] {
    var seen: Set<String> = []
    var reads: [String] = []
    for layer in layers.lazy.map(\.layer) {
      for name in layer.input where seen.insert(name).inserted { reads.append(name) }
      seen.formUnion(layer.output)
    }
    return reads
  }

  /// The layers whose sizes are values of blobs from outside, the others, and those blobs.
  private static func ready(
    _ layers: [PlacedLayer]
  ) -> (ready: [PlacedLayer], waiting: [PlacedLayer], deciding: Set<String>) {
    var (ready, waiting): ([PlacedLayer], [PlacedLayer]) = ([], [])
    var (written, readBefore, deciding): (Set<String>, Set<String>, Set<String>) = ([], [], [])
    for placed in layers {
      let layer = placed.layer
      let positions =
        (layer.parameters as? any DynamicLayer)?.decidingInputs(layer.input.count) ?? []
      let isReady =
        !positions.isEmpty && written.isDisjoint(with: layer.input)
        && readBefore.isDisjoint(with: layer.output) && written.isDisjoint(with: layer.output)
      if isReady {
        ready.append(placed)
        deciding.formUnion(positions.filter(layer.input.indices.contains).map { layer.input[$0] })
      } else {
        waiting.append(placed)
      }
      readBefore.formUnion(layer.input)
      written.formUnion(layer.output)
    }
    return (ready, waiting, deciding)
  }

  /// The numbers of `reads` among those of all blobs.
  func slots(_ all: [String: Int]) -> [Int] {
    if readSlots.count < reads.count { readSlots = reads.compactMap { all[$0] } }
    return readSlots
  }

  /// The plan for the blobs at `slots`, which `make` makes if there is none yet.
  ///
  /// - Parameter byteLimit: what all plans may take together.
  func plan(
    _ blobs: [Tensor?], _ slots: [Int], byteLimit: Int,
    _ make: (LayerSequence, [Tensor]) throws -> RunPlan
  ) throws -> RunPlan {
    if let last, matches(last.key, blobs, slots) { return last }
    let inputs = try zip(slots, reads).map { slot, name in
      guard let blob = blobs[slot] else { throw missing(name) }
      return blob
    }
    let key = Key(shapes: inputs.map(\.shape), values: deciding.map { inputs[$0].elements })
    let plan = try plans[key] ?? make(self, inputs)
    plan.key = key
    let bytes = plans.values.reduce(plan.byteCount) { $0 + $1.byteCount }
    if plans.count >= Self.mostPlans || bytes > byteLimit { plans.removeAll() }
    plans[key] = plan
    last = plan
    return plan
  }

  private func matches(_ key: Key, _ blobs: [Tensor?], _ slots: [Int]) -> Bool {
    for (slot, shape) in zip(slots, key.shapes) where blobs[slot]?.shape != shape { return false }
    for (position, values) in zip(deciding, key.values) {
      let isSame = blobs[slots[position]]?.withUnsafeElements { $0.elementsEqual(values) }
      if isSame != true { return false }
    }
    return true
  }

  /// The error of a blob that nothing has produced.
  private func missing(_ name: String) -> ModelError {
    let reader = layers.first { $0.layer.input.contains(name) }?.layer
    return ModelError(
      .malformed, "neither an input nor an earlier layer produces the blob '\(name)'",
      field: "input"
    ).inLayer(reader?.name ?? "", class: reader?.parameters?.engineTypeName)
  }
}

/// A run of layers, planned for the shapes of its inputs.
final class RunPlan: @unchecked Sendable {
  // `@unchecked`: written before it is shared but for `results`, which the network's lock guards.
  fileprivate(set) var key = LayerSequence.Key(shapes: [], values: [])
  /// Nil where nothing is computed.
  var executor: Executor?
  /// Which of the blobs the executor takes; for the first run, which of the model's inputs.
  var inputs: [Int] = []
  /// The blobs to which the executor's results go.
  var outputs: [Int] = []
  /// Blobs that take what another blob, or for the first run an input, was before.
  var copies: [(from: Int, to: Int)] = []
  /// Blobs without elements, and their shapes.
  var empty: [(slot: Int, shape: [Int])] = []
  /// What waits for values that this run computes.
  var rest: LayerSequence?
  var steps: [StepDescription] = [] {
    didSet {
      // A step of few elements takes as long as one of several thousand.
      work = steps.reduce(0) { sum, step in
        let elements = step.outputShapes.reduce(0) { $0 + $1.reduce(1, *) }
        return min(sum + step.multiplyAdds + elements + 1 << 13, Limits.loopWork + 1)
      }
    }
  }
  /// Multiply-adds and elements of a run.
  private(set) var work = 0
  /// Of weights and working memory.
  var byteCount = 0
  /// Tensors for the executor's results: small ones that later results have replaced.
  private var results: [Tensor?] = []

  /// Floats of a tensor that is kept, because to allocate it takes longer than to fill it.
  private static let mostKept = 1024

  /// Runs the layers and puts what they leave for others into `blobs`.
  ///
  /// - Parameter inputs: those of the first run; nil for others, which take them from `blobs`.
  func run(_ blobs: inout [Tensor?], inputs given: [Tensor?]? = nil, round: Int) throws {
    let copied = copies.isEmpty ? [] : copies.map { given?[$0.from] ?? blobs[$0.from] }
    if let executor {
      var kept: [Tensor?] = []
      swap(&kept, &results)
      if kept.isEmpty { kept = outputs.map { _ in nil } }
      if let given {
        try executor.run(given, positions: inputs, round: round, into: &kept)
      } else {
        try executor.run(blobs, positions: inputs, round: round, into: &kept)
      }
      for (index, slot) in outputs.enumerated() {
        let isKept = (blobs[slot]?.count ?? 0) <= Self.mostKept
        swap(&blobs[slot], &kept[index])
        if !isKept { kept[index] = nil }
      }
      results = kept
    }
    for (index, copy) in copies.enumerated() { blobs[copy.to] = copied[index] }
    for (slot, shape) in empty { blobs[slot] = Tensor(shape: shape) }
  }
}
