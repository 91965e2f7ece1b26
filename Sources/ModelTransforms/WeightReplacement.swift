import CoreMLModel
import TensorCore

/// A weight of a layer.
package struct WeightPath: Sendable, Hashable {
  /// `MODEL/LAYER` inside a pipeline.
  package var layer: String
  /// The name in `NamedWeights`.
  package var parameter: String

  package init(layer: String, parameter: String) {
    self.layer = layer
    self.parameter = parameter
  }
}

extension Model {
  /// The model with other values for some weights, in Core ML's order. Weights whose values do not
  /// change keep their storage; others stay in half precision if they were, and are stored in
  /// single precision otherwise.
  ///
  /// - Throws: `.mismatch` if there is no such weight, or it has another number of values;
  ///   `.unsupported` for a value of 65504 or more in a half-precision weight.
  package func replacingWeights(_ values: [WeightPath: FloatValues]) throws -> Model {
    guard !networks.isEmpty else { throw Self.noNetwork("takes weights") }
    var rest = values
    let model = try replacingWeights("", &rest)
    if let unknown = rest.keys.min(by: { ($0.layer, $0.parameter) < ($1.layer, $1.parameter) }) {
      throw ModelError(
        .mismatch, "the model has no such weight", layer: unknown.layer, field: unknown.parameter)
    }
    return model
  }

  /// - Parameters:
  ///   - prefix: precedes the names of this model's layers.
  ///   - rest: values not used yet; those used are removed.
  private func replacingWeights(
    _ prefix: String, _ rest: inout [WeightPath: FloatValues]
  ) throws -> Model {
    var model = self
    model.pipelineModels = try pipelineModels.enumerated().map { index, member in
      try member.replacingWeights(prefix + pipelineName(index) + "/", &rest)
    }
    guard var network = neuralNetwork else { return model }
    for index in network.layers.indices {
      let layer = prefix + network.layers[index].name
      for weight in network.layers[index].parameters?.weights ?? [] {
        guard let given = rest.removeValue(forKey: .init(layer: layer, parameter: weight.name))
        else { continue }
        do {
          guard let new = try weight.replacing(with: given) else { continue }
          try network.layers[index].replaceWeights(weight.name, with: new)
        } catch let error as ModelError { throw error.inLayer(layer) }
      }
    }
    model.neuralNetwork = network
    return model
  }
}

extension NamedWeights {
  /// The weight with other values; nil if they are equal to the current ones.
  fileprivate func replacing(with given: FloatValues) throws -> Weights? {
    let old = try decoded()
    try require(
      given.count == old.count, .mismatch, "\(given.count) values, but the weight has \(old.count)",
      field: name)
    if given == old { return nil }
    var weights = Weights(given)
    weights.isUpdatable = values.isUpdatable
    weights.unknownFields = values.unknownFields
    if values.float16Value.count > 0 {
      do { try weights.roundToHalf() } catch var error as ModelError {
        error.field = name
        throw error
      }
    }
    return weights
  }
}

extension NeuralNetworkLayer {
  fileprivate mutating func replaceWeights(_ name: String, with new: Weights) throws {
    if var activation = parameters as? Activation {
      guard let function = activation.function, !function.row.weights.isEmpty else { return }
      var weights = function.row.weights
      weights[name.hasSuffix(".beta") ? 1 : 0] = new
      activation.function = function.with(weights: weights)
      parameters = activation
      return
    }
    var found = false
    try editWeights { path, weights in
      guard path == name else { return }
      weights = new
      found = true
    }
    guard found else { throw ModelError(.internal, "no field '\(name)'") }
  }
}
