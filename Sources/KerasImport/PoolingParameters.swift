import CoreMLModel

extension Pooling {
  /// Windows of `size`, of which only what is no padding counts towards a mean.
  static func windows(
    _ type: PoolingType, _ size: [Int], strides: [Int], _ border: LayerConfiguration.Border
  ) -> Pooling {
    var pooling = Pooling()
    pooling.type = type
    pooling.kernelSize = size
    pooling.stride = strides
    pooling.padding = border.poolingPadding
    pooling.avgPoolExcludePadding = true
    return pooling
  }

  /// One window over the whole of each plane, whatever its size.
  static func global(_ type: PoolingType) -> Pooling {
    var pooling = windows(type, [0, 0], strides: [0, 0], .valid)
    pooling.padding = .valid(.none)
    pooling.globalPooling = true
    return pooling
  }
}
