import CoreMLModel
import Engine
import TensorCore

/// Outputs computed in double precision, in the order in which a user sees them.
struct ReferencePrediction {
  struct Output {
    let name: String
    let value: ReferenceTensor
  }

  let outputs: [Output]
}

extension Predictor {
  /// The same prediction by the double-precision engine.
  func referencePrediction(_ values: [String: FeatureValue]) throws -> ReferencePrediction {
    let blobs = try blobs(values)
    let network = try ReferenceNetwork(model: model, customLayers: options.engine.customLayers)
    let items = try batchItems(blobs).map { item in
      try network.predict(item.mapValues { ReferenceTensor($0) }).mapValues { $0.tensor }
    }
    return ReferencePrediction(
      outputs: assembled(averagesItems(of: values) ? [Tensor.mean(items)] : items).outputs.map {
        output in
        let elements = output.value.elements.map(Double.init)
        return .init(
          name: output.name, value: ReferenceTensor(shape: [1, 1, elements.count, 1, 1], elements))
      })
  }
}
