import Kernels
import TensorCore

/// The layout that an operation requests for one of its inputs.
struct LayoutPreference: Sendable {
  enum Block: Sendable {
    /// `[C][H][W]`, with a halo if requested.
    case planar
    /// Row-major without a halo.
    case dense
    /// The machine's channel block.
    case blocked
  }

  var block: Block
  var halo = Halo.none

  static let dense = LayoutPreference(block: .dense)
  static let blocked = LayoutPreference(block: .blocked)
}

/// The layouts that an operation requests: a preference per input, a block per output.
struct LayoutPreferences: Sendable {
  var inputs: [LayoutPreference]
  var outputs: [LayoutPreference.Block]
}

/// Shapes of a node's inputs and outputs, and the blocks in which its inputs are produced.
struct NodeShapes: Sendable {
  var inputs: [Shape]
  var outputs: [Shape]
  var producedBlocks: [LayoutPreference.Block]

  /// The preferences of an operation that works on planes with any block: the first input's block
  /// for everything.
  func followingFirstInput() -> LayoutPreferences {
    let block: LayoutPreference.Block = producedBlocks.first == .blocked ? .blocked : .planar
    return LayoutPreferences(
      inputs: inputs.map { _ in LayoutPreference(block: block) },
      outputs: outputs.map { _ in block })
  }

  /// Row-major inputs and outputs.
  func allDense() -> LayoutPreferences {
    LayoutPreferences(inputs: inputs.map { _ in .dense }, outputs: outputs.map { _ in .dense })
  }
}

/// What a node computes. Each operation has a file in `Layers` or in the folder of its topic.
protocol NodeOperation: Sendable {
  /// The name shown in lists of steps.
  var kind: String { get }
  /// The requested layouts; row-major inputs and outputs by default.
  func layoutWishes(_ shapes: NodeShapes) -> LayoutPreferences
  /// Whether the output may overwrite the first input if the layouts agree.
  var canRunInPlace: Bool { get }
  /// Whether the output is the first input with another shape, both row-major.
  var isView: Bool { get }
  /// Whether the output is just the inputs concatenated along the channels.
  var joinsChannels: Bool { get }
  /// How many inputs, from the first on, may be the caller's tensors if they are row-major.
  var borrowableInputs: Int { get }
  /// Whether the operation performs the multiply-adds of its layer.
  var sumsProducts: Bool { get }
  /// Whether equal inputs always give equal outputs.
  var isRepeatable: Bool { get }
  /// Floats of working memory that a run needs.
  func scratchFloats(_ context: StepContext) throws -> Int
  /// Packs weights, chooses kernels and returns the body of the step.
  func makeStep(_ context: StepContext) throws -> StepBody
  /// Bytes of weights and the name of the kernel, for lists of steps.
  func describe(_ context: StepContext) -> StepNote
}

struct StepNote: Sendable {
  var kernel = ""
  var weightBytes = 0
  var usesIntegers = false
}

extension NodeOperation {
  func layoutWishes(_ shapes: NodeShapes) -> LayoutPreferences { shapes.allDense() }
  var canRunInPlace: Bool { false }
  var isView: Bool { false }
  var joinsChannels: Bool { false }
  var borrowableInputs: Int { 0 }
  var sumsProducts: Bool { false }
  var isRepeatable: Bool { true }
  func scratchFloats(_ context: StepContext) throws -> Int { 0 }
  func describe(_ context: StepContext) -> StepNote { StepNote() }
}

/// A blob as a step sees it: the position and layout of its buffer.
struct Operand: Sendable {
  enum Location: Sendable {
    /// Floats from the start of the arena.
    case arena(offset: Int)
    /// The caller's tensor for an input of the graph.
    case input(index: Int)
    case constant(Constant)

    /// The position `floats` further on in the arena.
    func advanced(by floats: Int) -> Location {
      if case .arena(let offset) = self { .arena(offset: offset + floats) } else { self }
    }
  }

  var location: Location
  var layout: BlobLayout

  /// Whether it is the caller's tensor, which is slower to reach than what a step has just written.
  var isBorrowed: Bool { if case .input = location { true } else { false } }
}

/// The context for making an operation's step.
struct StepContext: Sendable {
  var layer: String
  var layerType: String
  var inputs: [Operand]
  var outputs: [Operand]
  /// Row-major elements of those inputs that are constants.
  var constants: [Constant?]
  var scratch: Operand.Location
  var threadCount: Int
  /// Weights that all dense layers of the network read once, for one or two vectors.
  var streamedWeights: Int
  /// Used for preparation at compile time, such as packing.
  var pool: ThreadPool
  /// Memory for packed weights; nil before anything is packed.
  var weights: WeightStore?
  var kernels: any KernelTable.Type
  var tiles = Tiles.none

  var channelBlock: Int { kernels.channelBlock }

  /// Allocates memory for packed weights.
  func weightBuffer(floats: Int) throws -> AlignedBuffer {
    let bytes = try checkedProduct([floats, 4])
    return try weights?.buffer(byteCount: bytes) ?? AlignedBuffer(checkedByteCount: bytes)
  }

  func error(_ message: String, field: String? = nil) -> ModelError {
    ModelError(.malformed, message, layer: layer, layerClass: layerType, field: field)
  }
}

typealias StepBody = @Sendable (RunContext) throws -> Void

/// The context for running a step.
struct RunContext {
  let arena: UnsafeMutablePointer<Float>
  let pool: ThreadPool
  /// The elements of the caller's tensors.
  let inputs: UnsafeBufferPointer<UnsafePointer<Float>>
  /// The number of loop iterations that the prediction has started.
  let round: Int

  /// The start of an operand's buffer.
  func pointer(_ operand: Operand) -> UnsafeMutablePointer<Float> { pointer(operand.location) }

  func pointer(_ location: Operand.Location) -> UnsafeMutablePointer<Float> {
    switch location {
    case .arena(let offset): arena + offset
    // Only operations that accept borrowed inputs get these, and they only read them.
    case .input(let index): UnsafeMutablePointer(mutating: inputs[index])
    // Constants are only inputs, and steps do not write to inputs.
    case .constant(let constant): UnsafeMutablePointer(mutating: constant.pointer)
    }
  }

  /// Runs `units` on all threads, each of which first clears its share of `output`'s halo.
  func parallel(_ units: Int, writing output: Operand, _ body: (Int) -> Void) {
    share(units, writing: output) { _, units in for unit in units { body(unit) } }
  }

  /// The same for a body that receives the thread's number and all of its units at once.
  func share(_ count: Int, writing output: Operand, _ body: (Int, WorkQueue) -> Void) {
    if count == 1, output.layout.halo == .none { return body(0, WorkQueue(count: 1)) }
    let buffer = pointer(output)
    pool.share(count) { thread, units in
      output.layout.clearHalos(ofThread: thread, pool.threadCount, in: buffer)
      body(thread, units)
    }
  }
}
