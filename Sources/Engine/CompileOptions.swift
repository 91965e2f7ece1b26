import CustomLayers
import Kernels

/// How a network is compiled.
public struct CompileOptions: Sendable {
  /// Which intermediate blobs a prediction returns besides the outputs. A kept blob is never fused
  /// away.
  public enum Keep: Sendable, Equatable {
    /// Those of these names.
    case named(Set<String>)
    /// Every blob.
    case all
  }

  /// Threads of a prediction; nil means one a core.
  public var threads: Int?
  /// Kernels to use; nil means the best that the machine runs.
  package var instructionSet: InstructionSet?
  /// How 3 × 3 convolutions are computed; nil means what the environment asks for, else the faster.
  package var convolution: ConvolutionAlgorithm?
  /// Names of passes to leave out, to find out whether one is at fault.
  package var withoutPasses: Set<String> = []
  /// The blobs that a prediction returns besides the outputs.
  public var keep = Keep.named([])
  /// Shapes `[Seq, Batch, C, H, W]` of inputs that differ from the declared ones: another batch, a
  /// sequence, one of the flexible sizes.
  public var inputShapes: [String: [Int]] = [:]
  /// The classes of custom layers.
  public var customLayers = CustomLayerRegistry()
  /// The objects behind the custom layers, where the model has been compiled before; nil makes them
  /// again.
  package var customLayerInstances: CustomLayerInstances?
  /// Decides the numbers of layers of random numbers.
  public var seed: UInt64 = 0
  /// Bytes that weights and working memory may take together; nil means the machine's memory.
  public var maxMemory: Int?
  /// What is reported.
  public var hooks = EngineHooks()

  /// All cores, the best kernels, and no blobs besides the outputs.
  public init() {}
}

/// What the engine reports while it works. Called on the thread that compiles or predicts.
public struct EngineHooks: Sendable {
  /// After each step of a prediction.
  package var onStep: (@Sendable (StepRecord) -> Void)?
  /// Before each call of a custom layer.
  package var onCustomLayerCall: (@Sendable (CustomLayerCall) -> Void)?

  /// Nothing is reported.
  public init() {}
}

/// One executed step.
package struct StepRecord: Sendable {
  package var step: StepDescription
  package var seconds: Double
}

/// One step of the plan.
package struct StepDescription: Sendable, Equatable {
  /// The layer, or the last of those that have been fused into the step; the blob, where the step
  /// only converts a layout.
  package var name: String
  /// The layer's type in the specification; `input`, `output` and `convert` for the engine's own.
  package var layerType: String
  /// What the step does and with which kernel.
  package var kernel: String
  /// Names of the blobs that are read and written.
  package var inputs: [String]
  package var outputs: [String]
  /// `[Seq, Batch, C, H, W]` of the outputs.
  package var outputShapes: [[Int]]
  package var multiplyAdds = 0
  /// Bytes of packed weights.
  package var weightBytes = 0
}

/// A call of a custom layer, printed as Core ML's own layers print their arguments.
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
