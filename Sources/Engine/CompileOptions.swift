import CustomLayers
import Kernels
import TensorCore

/// Options for compiling a network.
public struct CompileOptions: Sendable {
  /// Intermediate blobs that a prediction returns besides the outputs. A kept blob is never fused
  /// away.
  public enum Keep: Sendable, Equatable {
    /// The blobs with these names.
    case named(Set<String>)
    /// Every blob.
    case all
  }

  /// Threads per prediction; nil means one per core.
  public var threads: Int?
  /// Threads per prediction if `threads` is nil.
  package static var availableCores: Int { ThreadPool.availableCores }
  /// Kernels to use; nil means the widest instruction set that the machine supports.
  package var instructionSet: InstructionSet?
  /// How to compute large matrix products; nil means as the instruction set does.
  package var tiles: Tiles?
  /// Algorithm for convolutions; nil means the one set in the environment, or else the fastest.
  package var convolution: ConvolutionAlgorithm?
  /// Whether convolutions whose weights have linear codes multiply integers. Their inputs are rounded
  /// to 8 bits.
  package var usesIntegers = false
  /// The first outputs of the layers that keep their sums in half precision; see `HalfSumLayer`.
  package var halfSums: Set<String> = []
  /// Names of passes to skip, for example to find a faulty one.
  package var withoutPasses: Set<String> = []
  /// Blobs that a prediction returns besides the outputs.
  public var keep = Keep.named([])
  /// Shapes `[Seq, Batch, C, H, W]` of inputs that differ from the declared ones: another batch
  /// size, a sequence, or one of the flexible sizes.
  public var inputShapes: [String: [Int]] = [:]
  /// Classes that implement custom layers.
  public var customLayers = CustomLayerRegistry()
  /// Custom layer objects to reuse if the model has been compiled before; nil creates new ones.
  package var customLayerInstances: CustomLayerInstances?
  /// The seed for layers with random numbers.
  public var seed: UInt64 = 0
  /// The limit in bytes for weights, inputs, outputs and working memory together; nil means 80 % of
  /// the machine's memory, the limit of its control group, or the process's own limit, whichever is
  /// smallest.
  public var maxMemory: Int?
  /// Whether loops that exceed a bound on their work end with an error.
  package var hasBoundedLoops = false
  /// Callbacks for steps and custom layers.
  public var hooks = EngineHooks()

  /// Creates options for all cores, the best kernels, and no blobs besides the outputs.
  public init() {}
}

/// Callbacks of the engine, called on the thread that compiles or predicts.
public struct EngineHooks: Sendable {
  /// Called after each step of a prediction.
  package var onStep: (@Sendable (StepRecord) -> Void)?
  /// Called for each finding while inputs are read or a prediction runs, again for each prediction.
  package var onFinding: (@Sendable (ValueFinding) -> Void)?
  /// Called before each call of a custom layer.
  package var onCustomLayerCall: (@Sendable (CustomLayerCall) -> Void)?

  /// Creates hooks that report nothing.
  public init() {}
}

/// Values that are valid but probably a mistake.
package struct ValueFinding: Sendable {
  package enum Kind: Sendable {
    case notANumber, infinite, notWhole, outOfRange, overflow, lostDigits, pixels, shape
    case otherName, damagedImage
  }

  package var kind: Kind
  /// Its field is the input or output that the finding is about, if any.
  package var error: ModelError

  package init(_ kind: Kind, _ message: String, field: String? = nil, file: String? = nil) {
    self.kind = kind
    error = ModelError(.malformed, message, file: file, field: field)
  }
}

/// One executed step.
package struct StepRecord: Sendable {
  package var step: StepDescription
  package var seconds: Double
}

/// One step of the plan.
package struct StepDescription: Sendable, Equatable {
  /// The layer, or the last of the layers fused into the step; the blob if the step only converts
  /// the layout.
  package var name: String
  /// The layer's type in the specification; `input`, `output` and `convert` for steps without a
  /// layer.
  package var layerType: String
  /// What the step does, and the kernel that it uses.
  package var kernel: String
  /// Names of the blobs that the step reads and writes.
  package var inputs: [String]
  package var outputs: [String]
  /// Shapes `[Seq, Batch, C, H, W]` of the outputs.
  package var outputShapes: [[Int]]
  package var multiplyAdds = 0
  /// Bytes of packed weights.
  package var weightBytes = 0
  /// Whether the step rounds its input and multiplies integers.
  package var usesIntegers = false
}

/// A call of a custom layer, described with the argument names of Core ML's custom layer protocol.
package struct CustomLayerCall: Sendable, CustomStringConvertible {
  package enum Method: Sendable, Equatable {
    case initialize(parameters: [String: CustomLayerParameter])
    case setWeightData(byteCounts: [Int])
    case outputShapes(inputShapes: [[Int]])
    case evaluate(inputCount: Int, outputCount: Int)
  }

  package var layer: String
  package var className: String
  package var method: Method

  package var description: String {
    switch method {
    case .initialize(let parameters):
      parameters.isEmpty
        ? "[:]"
        : "["
          + parameters.sorted { $0.key < $1.key }
          .map { "\"\($0.key)\": \($0.value)" }.joined(separator: ", ") + "]"
    case .setWeightData(let byteCounts):
      "[" + byteCounts.map { "\($0) bytes" }.joined(separator: ", ") + "]"
    case .outputShapes(let shapes): "\(shapes)"
    case .evaluate(let inputs, let outputs): "\(inputs) \(outputs)"
    }
  }
}
