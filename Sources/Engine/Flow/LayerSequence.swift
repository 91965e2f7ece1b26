import CoreMLModel
import TensorCore

/// A run of layers without control flow in between, and the plans made for it.
///
/// Layers that cannot be planned before values are known are left to another run, `RunPlan.rest`.
/// Layers whose sizes are determined by values of blobs from outside form a separate run, so that
/// the plans of the others are valid for any values.
final class LayerSequence: @unchecked Sendable {
  // `@unchecked`: the network's lock guards the plans.
  let layers: [PlacedLayer]
  /// Blobs that the run must provide to others.
  let wanted: Set<String>
  /// Whether the run starts from the model's inputs rather than from blobs.
  let takesInputs: Bool
  /// Blobs that come from outside.
  let reads: [String]
  /// Those of them whose values decide sizes, as positions in `reads`.
  let deciding: [Int]
  /// The remaining layers, if this run has only layers whose sizes `deciding` determines.
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

  /// The layers whose sizes are values of blobs from outside, the other layers, and those blobs.
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

  /// The slots of the blobs in `reads`, given those of all blobs.
  func slots(_ all: [String: Int]) -> [Int] {
    if readSlots.count < reads.count { readSlots = reads.compactMap { all[$0] } }
    return readSlots
  }

  /// The plan for the blobs at `slots`; calls `make` if there is none yet.
  ///
  /// - Parameter byteLimit: the memory that all plans may take together.
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

  /// The error for a blob that nothing has produced.
  private func missing(_ name: String) -> ModelError {
    let reader = layers.first { $0.layer.input.contains(name) }?.layer
    return ModelError(
      .malformed, "neither an input nor an earlier layer produces the blob '\(name)'",
      field: "input"
    ).inLayer(reader?.name ?? "", class: reader?.parameters?.engineTypeName)
  }
}

/// The plan of a run of layers, for the shapes of its inputs.
final class RunPlan: @unchecked Sendable {
  // `@unchecked`: written before it is shared, except `results`, which the network's lock guards.
  fileprivate(set) var key = LayerSequence.Key(shapes: [], values: [])
  /// Nil if nothing is computed.
  var executor: Executor?
  /// The blobs that the executor reads; for the first run, indices of the model's inputs.
  var inputs: [Int] = []
  /// The blobs that receive the executor's results.
  var outputs: [Int] = []
  /// Blobs that receive the previous value of another blob or, in the first run, an input.
  var copies: [(from: Int, to: Int)] = []
  /// Empty blobs and their shapes.
  var empty: [(slot: Int, shape: [Int])] = []
  /// The layers that wait for values computed by this run.
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
  /// Bytes of weights and working memory.
  var byteCount = 0
  /// Buffers for the executor's results: small tensors that later results have replaced.
  private var results: [Tensor?] = []

  /// Maximum number of floats of a tensor to keep: allocating it takes longer than filling it.
  private static let mostKept = 1024

  /// Runs the layers and stores their results for other runs in `blobs`.
  ///
  /// - Parameter inputs: the inputs of the first run; nil for other runs, which read from `blobs`.
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
