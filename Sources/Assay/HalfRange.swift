import CoreMLModel
import ModelPrediction
import TensorCore

extension Model {
  /// The layers with input or output values beyond half precision when the model runs on the
  /// inputs, in the order of the network.
  ///
  /// - Parameter words: inputs as on a command line.
  package func layersBeyondHalf(
    inputs words: [String], options: Predictor.Options
  ) throws -> [String] {
    var options = options
    options.keep = .all
    let predictor = try Predictor(model: self, options: options)
    var large: Set<String> = []
    for source in try InputList(words, for: self) {
      let values = try source.read(
        for: self, images: options.images, hooks: options.engine.hooks)
      for output in try source.blamed({ try predictor.predict(values) }).outputs
      where output.value.elements.contains(where: Half.overflows) {
        large.insert(output.name)
      }
    }
    if large.isEmpty { return [] }
    var labels: [String] = []
    func look(at network: NeuralNetwork, _ prefix: String) {
      for (index, layer) in network.layers.enumerated() {
        if (layer.input + layer.output).contains(where: { large.contains(prefix + $0) }) {
          labels.append(layer.label(at: index))
        }
        for inner in (layer.parameters as? any ControlLayer)?.networks ?? [] {
          look(at: inner, prefix)
        }
      }
    }
    for (prefix, model) in networks {
      if let network = model.neuralNetwork { look(at: network, prefix) }
    }
    return labels
  }
}
