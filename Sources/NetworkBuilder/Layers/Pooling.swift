import CoreMLModel
import TensorCore

/// The maximum of each window.
public final class Pooling: Layer, @unchecked Sendable {
  /// - Parameters:
  ///   - kernel: the window's width and height.
  ///   - stride: steps between windows, across and down; by default the window's size.
  public init(
    kernel: (Int, Int), stride: (Int, Int)? = nil, padding: Padding = .valid, name: String? = nil
  ) {
    super.init(
      name,
      PoolingDefinition(
        type: .max, kernel: [kernel.1, kernel.0], stride: stride.map { [$0.1, $0.0] },
        padding: padding, countsPadding: false))
  }
}

/// The mean of each window.
public final class AveragePooling: Layer, @unchecked Sendable {
  /// - Parameters:
  ///   - kernel: the window's width and height.
  ///   - stride: steps between windows, across and down; by default the window's size.
  ///   - countsPadding: whether the padding counts as zeros; otherwise, as in Keras, only elements
  ///     inside the input are averaged.
  public init(
    kernel: (Int, Int), stride: (Int, Int)? = nil, padding: Padding = .valid,
    countsPadding: Bool = false, name: String? = nil
  ) {
    super.init(
      name,
      PoolingDefinition(
        type: .average, kernel: [kernel.1, kernel.0], stride: stride.map { [$0.1, $0.0] },
        padding: padding, countsPadding: countsPadding))
  }
}

struct PoolingDefinition: LayerDefinition {
  static let typeName = "Pooling"

  var type: CoreMLModel.Pooling.PoolingType
  var kernel: [Int]
  var stride: [Int]?
  var padding: Padding
  var countsPadding: Bool

  var typeName: String { type == .average ? "AveragePooling" : Self.typeName }

  func write(_ inputs: [WrittenTensor], _ scope: LayerScope) throws -> WrittenTensor {
    var pooling = CoreMLModel.Pooling()
    pooling.type = type
    pooling.kernelSize = kernel
    pooling.stride = stride ?? kernel
    pooling.avgPoolExcludePadding = type == .average && !countsPadding
    pooling.padding = padding.valid.map { .valid($0) } ?? .same(SamePadding())
    return try scope.add(pooling, [scope.single(inputs)])
  }
}
