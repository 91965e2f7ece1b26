/// Every type of Caffe layers that is read; this is the one list of this stage.
enum CaffeLayerRegistry {
  static let types: [any CaffeLayerConverter.Type] = [
    ReLU.self
  ]

  private static let byName: [String: any CaffeLayerConverter.Type] = Dictionary(
    types.flatMap { type in type.typeNames.map { ($0, type) } },
    uniquingKeysWith: { first, _ in first })

  static func type(named name: String) -> (any CaffeLayerConverter.Type)? { byName[name] }
}
