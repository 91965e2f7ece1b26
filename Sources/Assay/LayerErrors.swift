import CoreMLModel
import Engine
import ModelPrediction
import ModelTransforms
import TensorCore
import Verification

/// The error that each part of a network adds to its blob. A part starts at the nearest known blobs
/// before it, and is run alone on their values.
package struct LayerErrors: Sendable {
  /// The errors of each known blob. Blobs whose part cannot be run alone are missing.
  package private(set) var metrics: [String: ErrorMetrics] = [:]
  /// The largest absolute error of each blob, relative to its largest value.
  package var own: [String: Double] { metrics.mapValues(\.relativeToLargest) }

  /// - Parameters:
  ///   - known: blobs with their expected values, in the source framework's layout.
  ///   - inputs: the inputs of the network.
  package init(
    _ model: Model, known: [String: Tensor], inputs: [String: FeatureValue],
    options: Predictor.Options
  ) {
    guard let network = model.neuralNetwork else { return }
    let writers = Dictionary(
      first: network.layers.flatMap { layer in layer.output.map { ($0, layer) } })
    let shapes = model.inferredBlobShapes(options.engine.customLayers)
    for (blob, expected) in known where writers[blob] != nil {
      let begin = Self.beginning(of: blob, writers, known)
      let values = begin.compactMap { name in
        (known[name].map(FeatureValue.array) ?? inputs[name]).map { (name, $0) }
      }
      guard values.count == begin.count,
        let part = try? model.part(from: begin.sorted(), to: blob, shapes: shapes),
        let predictor = try? Predictor(model: part, options: options),
        let prediction = try? predictor.predict(Dictionary(first: values)),
        let actual = prediction.outputs.first(where: { $0.name == blob })?.value
      else { continue }
      let comparison = OutputComparison(
        blob, actual: actual, expected: expected, tolerance: Tolerances().standard)
      metrics[blob] = comparison.metrics
    }
  }

  /// The nearest known blobs and network inputs from which `blob` is computed.
  private static func beginning(
    of blob: String, _ writers: [String: NeuralNetworkLayer], _ known: [String: Tensor]
  ) -> Set<String> {
    var found = Set<String>()
    var seen: Set<String> = [blob]
    var pending = writers[blob]?.input ?? []
    while let name = pending.popLast() {
      guard seen.insert(name).inserted else { continue }
      if known[name] == nil, let writer = writers[name] {
        pending += writer.input
      } else {
        found.insert(name)
      }
    }
    return found
  }
}

extension Model {
  /// The network between these blobs; their arrays keep the source framework's layout.
  fileprivate func part(
    from inputs: [String], to output: String, shapes: [String: [Int]]
  ) throws -> Model {
    var part = try cut(from: inputs, to: [output], shapes: shapes, dataType: .float32)
    let recorded = description?.metadata?.userDefined ?? [:]
    for name in inputs + [output] {
      let key = "assay.layout." + name
      part.description?.metadata?.userDefined[key] = recorded[key] ?? recorded["assay.layout"]
    }
    return part
  }
}

extension ErrorMetrics {
  /// The largest absolute error, relative to the largest expected value.
  package var relativeToLargest: Double {
    largestExpected > 0 ? largestAbsoluteError / largestExpected : largestAbsoluteError
  }
}
