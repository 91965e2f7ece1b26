import CoreMLModel
import Engine
import TensorCore

/// Outputs computed in double precision, in the order of the prediction.
package struct ReferencePrediction {
  package struct Output {
    package let name: String
    package let value: ReferenceTensor
  }

  package let outputs: [Output]
}

extension Predictor {
  /// The same prediction by the double-precision engine.
  package func referencePrediction(_ values: [String: FeatureValue]) throws -> ReferencePrediction {
    let blobs = try interface.batchItems(interface.blobs(values)).first ?? [:]
    let prepared = try networkModel(for: blobs.mapValues(\.shape), values: blobs)
    let network = try ReferenceNetwork(
      model: prepared.model, customLayers: options.engine.customLayers, seed: options.engine.seed,
      halfSums: prepared.halfSums)
    let items = try items(values) { item in
      try network.predict(interface.completed(item).mapValues { ReferenceTensor($0) })
        .mapValues { $0.tensor }
    }
    return ReferencePrediction(
      outputs: assembled(items).outputs.map {
        output in
        let elements = output.value.elements.map(Double.init)
        return .init(
          name: output.name, value: ReferenceTensor(shape: [1, 1, elements.count, 1, 1], elements))
      })
  }
}
