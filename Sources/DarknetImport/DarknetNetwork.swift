import CoreMLModel
import ImportSupport
import TensorCore

/// Collects the Core ML layers that the sections become.
struct DarknetNetwork: LayerWriting {
  var writer: LayerWriter
  var weights: WeightReader
  let rules: CustomLayerRules
  /// Whether a [batchnorm] has biases in the file: Alexey Bochkovskiy's Darknet writes them.
  let storesBatchnormBiases: Bool
  /// Weights of the convolutions by their index, for those that share them.
  var convolutions: [Int: ConvolutionWeights] = [:]
  var heads: [DetectionHead] = []
  private var constantCount = 0

  /// Numbers that the conversion makes itself; it takes a quarter of a gigabyte.
  private static let constantLimit = 1 << 26

  init(
    weights: WeightReader, rules: CustomLayerRules, storesBatchnormBiases: Bool,
    onVisit: (@Sendable (String) -> Void)?
  ) {
    writer = LayerWriter(onVisit: onVisit)
    self.weights = weights
    self.rules = rules
    self.storesBatchnormBiases = storesBatchnormBiases
  }

  /// Accounts for constants that are in no file.
  mutating func addConstants(_ sizes: [Int], _ call: SectionCall) throws {
    constantCount = try checkedSum(
      [constantCount, checkedProduct(sizes, limit: Limits.tensorElements)])
    try call.require(
      constantCount <= Self.constantLimit,
      "the constants of this and earlier layers would take \(constantCount) numbers",
      code: .limitExceeded)
  }

  /// The elements as they lie in memory, as `[channels, height, width]`.
  mutating func reshaped(
    _ blob: String, _ channels: Int, _ height: Int, _ width: Int, _ name: String
  ) -> String {
    return add(name, Reshape().with(\.targetShape, [channels, height, width]), [blob])
  }

  /// The elements in a row.
  mutating func flattened(_ tensor: DarknetTensor, for name: String) -> String {
    tensor.isRow ? tensor.blob : add(name + "__flatten__", Flatten(), [tensor.blob])
  }

  mutating func reorganized(
    _ blob: String, _ mode: ReorganizeData.Mode, _ size: Int, _ name: String
  ) -> String {
    return add(name, ReorganizeData().with(\.mode, mode).with(\.blockSize, size), [blob])
  }
}
