/// Every kind of section that can be converted.
enum DarknetLayerRegistry {
  static let types: [any DarknetLayer.Type] = [
    ConvolutionalLayer.self, DeconvolutionalLayer.self, LocalLayer.self, ConnectedLayer.self,
    MaxPoolLayer.self, AveragePoolLayer.self, LocalAveragePoolLayer.self, RouteLayer.self,
    ShortcutLayer.self, ScaleChannelsLayer.self, SAMLayer.self, ReorgLayer.self,
    Reorg3DLayer.self, UpsampleLayer.self, CropLayer.self, ActivationLayer.self,
    LogisticLayer.self, SoftmaxLayer.self, BatchNormLayer.self, NormalizationLayer.self,
    L2NormLayer.self, ImplicitLayer.self, DropoutLayer.self, CostLayer.self, RegionLayer.self,
    YOLOLayer.self, DetectionLayer.self, RecurrentLayer.self, GatedLayer.self,
    LongMemoryLayer.self, ConvolutionalRecurrentLayer.self, ConvolutionalLongMemoryLayer.self,
  ]

  private static let byName: [String: any DarknetLayer.Type] = {
    var names: [String: any DarknetLayer.Type] = [:]
    for type in types { for name in type.source.names { names[name] = type } }
    return names
  }()

  /// - Parameter kind: the name in lower case.
  static func type(named kind: String) -> (any DarknetLayer.Type)? { byName[kind] }
}
