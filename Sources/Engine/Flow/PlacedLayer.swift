import CoreMLModel
import TensorCore

/// A layer and its index in the model, where layers inside a layer come right after it.
struct PlacedLayer: Sendable {
  let layer: NeuralNetworkLayer
  let position: Int
  /// The layers of the networks inside: of a branch both, of a loop the condition's and the body's.
  let networks: [[PlacedLayer]]

  /// All layers of a network, with the layers inside them.
  static func layers(of network: NeuralNetwork) throws -> [PlacedLayer] {
    var count = 0
    let layers = layers(of: network, &count)
    try require(
      count <= Limits.layers, .limitExceeded,
      "\(count) layers, more than the limit of \(Limits.layers)")
    return layers
  }

  private static func layers(of network: NeuralNetwork?, _ count: inout Int) -> [PlacedLayer] {
    (network?.layers ?? []).map { layer in
      let position = count
      count += 1
      let inner: [NeuralNetwork?] =
        switch layer.parameters {
        case let branch as Branch: [branch.ifBranch, branch.elseBranch]
        case let loop as Loop: [loop.conditionNetwork, loop.bodyNetwork]
        default: []
        }
      return PlacedLayer(
        layer: layer, position: position, networks: inner.map { layers(of: $0, &count) })
    }
  }

  /// The layer and those inside it.
  var all: [PlacedLayer] { [self] + networks.joined().flatMap(\.all) }

  /// Runs `body` and adds the layer's name to its errors.
  func inErrors<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as ModelError {
      throw error.inLayer(layer.name, class: layer.parameters?.engineTypeName)
    }
  }
}

extension Double {
  /// Whether a control flow layer considers the number true.
  var isTrue: Bool { magnitude > 1e-6 }
}

extension Loop {
  /// The maximum number of iterations; nil to run while the condition holds.
  ///
  /// - Parameter input: the value of the layer's input, if it has one.
  /// - Throws: if nothing would end the loop.
  func runCount(_ input: Double?) throws -> Int? {
    if let input {
      try require(!input.isNaN, "the number of runs is NaN", field: "input")
      return Int(Swift.min(Swift.max(input, 0), Double(Limits.loopRuns + 1)))
    }
    if maxLoopIterations > 0 { return maxLoopIterations }
    try require(
      conditionNetwork?.layers.isEmpty == false, "nothing terminates the loop",
      field: "conditionNetwork",
      hint: "a loop needs maxLoopIterations, a condition network, or an input")
    return nil
  }
}

/// Counts a prediction's loop iterations and their work.
struct LoopRuns {
  private(set) var count = 0
  private let limit: Int
  private let isBounded: Bool
  private var work = 0
  private let end: UInt64

  /// - Parameter isBounded: whether to limit the work and the time of the loops.
  init(limit: Int = Limits.loopRuns, isBounded: Bool = false) {
    self.limit = limit
    self.isBounded = isBounded
    end = TimeBudget.now + UInt64(Limits.loopSeconds) * 1_000_000_000
  }

  mutating func add(work more: Int) { work = min(work + more, Limits.loopWork + 1) }

  /// - Throws: `.limitExceeded` if there are too many iterations or too much work; `TimeIsOver`.
  mutating func begin() throws {
    count += 1
    try TimeBudget.require()
    try require(
      !isBounded || work <= Limits.loopWork && TimeBudget.now < end, .limitExceeded,
      "the loops of the model are too long for this command: they have run \(count) times",
      hint: "`assay run` runs them longer, with \(setting: "timeout") SECONDS")
    try require(
      count <= limit, .limitExceeded,
      "the loops of the model have run \(limit) times without terminating",
      hint: "check the condition of the loop, or set maxLoopIterations")
  }
}
