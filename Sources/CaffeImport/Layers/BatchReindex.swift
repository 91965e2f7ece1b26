import CoreMLModel
import ImportSupport

/// Items of the first bottom, at the indices in the second
enum BatchReindex: CaffeLayerConverter {
  static let source = SourceLayer("BatchReindex", becomes: "gather", version: 4)

  static func batchAxis(_ layer: LayerCall, _ batch: OmittedBatch) -> Int? { nil }

  static func convert(_ layer: LayerCall, _ network: inout CaffeWriter) throws -> [CaffeTensor] {
    try layer.requireBottoms(2...2)
    let source = network.five(layer.inputs[0], for: layer.name)
    guard let axis = source.axes.first, layer.inputs[1].shape.count == 1 else {
      throw layer.error(
        "its bottoms have the shapes \(layer.inputs[0].shapeText) and \(layer.inputs[1].shapeText); they must be items and "
          + "a list of their indices")
    }
    let count = layer.inputs[1].shape[0]
    var list = ReshapeStatic()
    list.targetShape = [count]
    let positions = network.add(
      layer.part("places"), list, [network.five(layer.inputs[1], for: layer.name).blob])
    var gather = Gather()
    gather.axis = axis
    return [
      source.with(
        network.add(layer.name, gather, [source.blob, positions], to: layer.tops[0]),
        shape: [count] + source.shape.dropFirst())
    ]
  }
}
