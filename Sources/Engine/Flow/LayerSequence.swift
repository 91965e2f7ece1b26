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
  /// Those of them whose values decide sizes, as places in `reads`.
  let deciding: [Int]
  /// What a run of layers with deciding blobs leaves to another.
  let others: LayerSequence?
  private var plans: [Key: RunPlan] = [:]
  private var last: (key: Key, plan: RunPlan)?
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
      let places = (layer.parameters as? any DynamicLayer)?.decidingInputs(layer.input.count) ?? []
      let isReady =
        !places.isEmpty && written.isDisjoint(with: layer.input)
        && readBefore.isDisjoint(with: layer.output) && written.isDisjoint(with: layer.output)
      if isReady {
        ready.append(placed)
        deciding.formUnion(places.filter(layer.input.indices.contains).map { layer.input[$0] })
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

  /// The plan for blobs like these, which `make` makes if there is none yet.
  ///
  /// - Parameter byteLimit: what all plans may take together.
  func plan(
    _ blobs: [Tensor], byteLimit: Int, _ make: (LayerSequence) throws -> RunPlan
  ) throws -> RunPlan {
    if let last, matches(last.key, blobs) { return last.plan }
    let key = Key(shapes: blobs.map(\.shape), values: deciding.map { blobs[$0].elements })
    let plan = try plans[key] ?? make(self)
    let bytes = plans.values.reduce(plan.byteCount) { $0 + $1.byteCount }
    if plans.count >= Self.mostPlans || bytes > byteLimit { plans.removeAll() }
    plans[key] = plan
    last = (key, plan)
    return plan
  }

  private func matches(_ key: Key, _ blobs: [Tensor]) -> Bool {
    for index in blobs.indices where blobs[index].shape != key.shapes[index] { return false }
    for (place, values) in zip(deciding, key.values)
    where !blobs[place].withUnsafeElements({ $0.elementsEqual(values) }) { return false }
    return true
  }
}

/// A run of layers, planned for the shapes of its inputs.
struct RunPlan {
  /// Where a blob that the run leaves for others comes from.
  enum Source {
    /// An element of what the executor returns.
    case result(Int)
    /// The blob from outside at this place in `LayerSequence.reads`.
    case input(Int)
    /// It has this shape and no elements.
    case empty([Int])
  }

  /// Nil where nothing is computed.
  var executor: Executor?
  /// The places in `LayerSequence.reads` of what the executor takes.
  var inputs: [Int]
  var outputs: [(slot: Int, source: Source)]
  /// What waits for values that this run computes.
  var rest: LayerSequence?
  var steps: [StepDescription] = []
  /// Of weights and working memory.
  var byteCount = 0
}
