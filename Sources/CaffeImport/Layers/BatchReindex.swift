import CoreMLModel
import ImportSupport

/// Items of the first bottom in the order that the second one names
enum BatchReindex: CaffeLayerConverter {
  static let typeNames = ["BatchReindex"]
  static let documentation = DocumentationRow("gather", version: 4)

  static func convert(
    _ layer: CaffeLayer, inputs: [CaffeTensor], into network: inout CaffeNetworkWriter
  ) throws -> [CaffeTensor] {
    try layer.requireBottoms(2...2)
    let source = network.five(inputs[0], for: layer.name)
    guard let axis = source.axes.first, inputs[1].shape.count == 1 else {
      throw layer.error(
        "its bottoms have the shapes \(inputs[0].shapeText) and \(inputs[1].shapeText); items and "
          + "a list of their numbers are needed")
    }
    let count = inputs[1].shape[0]
    var list = ReshapeStatic()
    list.targetShape = [count]
    let places = network.add(
      layer.part("places"), list, [network.five(inputs[1], for: layer.name).blob])
    var gather = Gather()
    gather.axis = axis
    return [
      source.with(
        network.add(layer.name, gather, [source.blob, places], to: layer.tops[0]),
        shape: [count] + source.shape.dropFirst())
    ]
  }
}
