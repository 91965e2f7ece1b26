import CoreMLModel
import CustomLayers
@_exported import LayerTemplates

extension Model {
  /// The classes of the model's custom layers, with the shapes as far as they are known.
  ///
  /// - Parameter customLayers: the classes that are asked for the shapes of their outputs.
  public func customLayerClasses(
    _ customLayers: CustomLayerRegistry = CustomLayerRegistry()
  ) -> [LayerClass] {
    let shapes = Inspection(self, customLayers: customLayers).layers
    let layers = neuralNetwork?.layers ?? []
    return LayerClass.classes(
      of: zip(layers, shapes).compactMap { layer, shapes in
        (layer.parameters as? Custom).map {
          LayerClass.Layer(
            name: layer.name, custom: $0, inputShapes: shapes.inputShapes,
            outputShapes: shapes.outputShapes)
        }
      })
  }
}
