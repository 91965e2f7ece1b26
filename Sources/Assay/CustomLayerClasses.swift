import CoreMLModel
import CustomLayers
import LayerTemplates

extension Model {
  /// The classes of the model's custom layers, with their shapes as far as known.
  ///
  /// - Parameter customLayers: the classes that compute output shapes.
  package func customLayerClasses(
    _ customLayers: CustomLayerRegistry = CustomLayerRegistry()
  ) -> [LayerClass] {
    LayerClass.classes(of: customLayersWithShapes(customLayers))
  }

  /// The custom layers with their shapes, in the order of a pipeline's models.
  private func customLayersWithShapes(_ classes: CustomLayerRegistry) -> [LayerClass.Layer] {
    let shapes = Inspection(self, customLayers: classes).layers
    let layers = neuralNetwork?.layers ?? []
    return zip(layers, shapes).compactMap { layer, shapes in
      (layer.parameters as? Custom).map {
        LayerClass.Layer(
          name: layer.name, custom: $0, inputShapes: shapes.inputShapes,
          outputShapes: shapes.outputShapes)
      }
    } + pipelineModels.flatMap { $0.customLayersWithShapes(classes) }
  }
}
