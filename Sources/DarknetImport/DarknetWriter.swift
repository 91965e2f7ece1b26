import CoreMLModel
import ImportSupport
import TensorCore

/// Collects the Core ML layers for the sections.
struct DarknetWriter: LayerWriting {
  var writer: LayerWriter
  var weights: WeightReader
  let rules: CustomLayerRules
  /// Whether a [batchnorm] has biases in the file, as Alexey Bochkovskiy's Darknet writes them.
  let storesBatchnormBiases: Bool
  /// The weights of convolutions by index, for layers that share them.
  var convolutions: [Int: ConvolutionWeights] = [:]
  var heads: [DetectionHead] = []
  var states: [SectionState] = []
  /// The class hierarchies in files, by the names that sections use.
  let trees: [String: Result<ClassTree, any Error>]
  private var constantCount = 0

  /// The maximum number of constants that the conversion creates; they take 256 MB.
  private static let constantLimit = 1 << 26

  init(
    weights: WeightReader, rules: CustomLayerRules, storesBatchnormBiases: Bool,
    trees: [String: Result<ClassTree, any Error>], onVisit: (@Sendable (String) -> Void)?
  ) {
    writer = LayerWriter(onVisit: onVisit)
    self.weights = weights
    self.rules = rules
    self.trees = trees
    self.storesBatchnormBiases = storesBatchnormBiases
  }

  /// Counts constants that are not from a file against the limit.
  mutating func addConstants(_ sizes: [Int], _ call: LayerCall) throws {
    constantCount = try checkedSum([constantCount, computedCount(sizes)])
    try call.require(
      constantCount <= Self.constantLimit,
      "the constants of this and earlier layers would need \(constantCount) values",
      code: .limitExceeded)
  }

  /// The elements in memory order, reshaped to `[channels, height, width]`.
  mutating func reshaped(
    _ blob: String, _ channels: Int, _ height: Int, _ width: Int, _ name: String
  ) -> String {
    return add(name, Reshape().with(\.targetShape, [channels, height, width]), [blob])
  }

  /// The elements flattened to a vector.
  mutating func flattened(_ tensor: DarknetTensor, for name: String) -> String {
    tensor.isRow ? tensor.blob : add(name + "__flatten__", Flatten(), [tensor.blob])
  }

  mutating func reorganized(
    _ blob: String, _ mode: ReorganizeData.Mode, _ size: Int, _ name: String
  ) -> String {
    return add(name, ReorganizeData().with(\.mode, mode).with(\.blockSize, size), [blob])
  }
}
