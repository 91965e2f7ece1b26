import ImportSupport

/// The mean of each window, excluding padding.
struct LocalAveragePoolLayer: DarknetLayer {
  static let source = SourceLayer(
    "local_avgpool", "local_avg", becomes: "pooling, excluding padding")
  static let options = ["size", "stride", "stride_x", "stride_y", "padding"]

  private let pool: PoolOptions

  init(_ section: ConfigurationSection) throws { pool = try PoolOptions(section) }

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    try pool.convert(.average, call.image, call, into: &network)
  }
}
