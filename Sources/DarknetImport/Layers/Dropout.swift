import ImportSupport

/// Has no effect outside of training.
struct DropoutLayer: DarknetLayer {
  static let source = SourceLayer("dropout", becomes: "nothing")
  static let options: [String] = []
  static let trainingOptions = [
    "probability", "dropblock", "dropblock_size_abs", "dropblock_size_rel",
  ]
  static let vanishes = true

  init(_ section: ConfigurationSection) throws {}

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    call.previous
  }
}

/// A loss, which has no effect outside of training.
struct CostLayer: DarknetLayer {
  static let source = SourceLayer("cost", "contrastive", becomes: "nothing")
  static let options: [String] = []
  static let trainingOptions = [
    "type", "scale", "ratio", "noobj", "thresh", "classes", "temperature", "yolo_layer",
    "cls_normalizer", "max_delta", "contrastive_neg_max",
  ]
  static let vanishes = true

  init(_ section: ConfigurationSection) throws {}

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    call.previous
  }
}
