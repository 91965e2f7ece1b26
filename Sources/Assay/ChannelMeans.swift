import CoreMLModel
import Imaging
import ModelPrediction
import ModelTransforms
import TensorCore

/// The mean of each input channel of convolutions and inner products, over inputs.
package struct ChannelMeans: Sendable {
  /// The means by layer name.
  package private(set) var means: [String: [Double]] = [:]

  /// - Parameters:
  ///   - words: files or folders of inputs, as for `InputList`.
  ///   - onProgress: receives the number of inputs done, and the total.
  /// - Throws: errors of reading the inputs and running the model.
  package init(
    _ model: Model, inputs words: [String], options: Predictor.Options = Predictor.Options(),
    onProgress: (Int, Int) -> Void = { _, _ in }
  ) throws {
    let images = try options.images ?? ImageOptions(recordedIn: model)
    try self.init(
      model, InputList.values(words, for: model, images, options.engine.hooks), options, onProgress)
  }

  init(
    _ model: Model, _ values: [[String: FeatureValue]], _ options: Predictor.Options,
    _ onProgress: (Int, Int) -> Void = { _, _ in }
  ) throws {
    let network = try model.neuralNetwork.orThrow(
      ModelError(.unsupported, "a model of type \(model.typeName) has no layers to measure"))
    let isExact = network.arrayInputShapeMapping == .exact
    let readers = network.layers.filter {
      $0.input.count == 1 && ($0.parameters is Convolution || $0.parameters is InnerProduct)
    }
    var options = options
    options.keep = .named(Set(readers.map { $0.input[0] }))
    let predictor = try Predictor(model: model, options: options)
    var sums: [String: (sums: [Double], count: Int)] = [:]
    for (index, value) in values.enumerated() {
      defer { onProgress(index + 1, values.count) }
      for item in try predictor.interface.batchItems(predictor.interface.blobs(value)) {
        let blobs = try predictor.outputBlobs(item)
        for layer in readers {
          guard let blob = blobs[layer.input[0]],
            let (start, end) = Self.channelAxes(of: layer, blob.shape.count, isExact: isExact)
          else { continue }
          let channels = blob.shape[start..<end].reduce(1, *)
          let run = blob.shape[end...].reduce(1, *)
          guard channels > 0, run > 0 else { continue }
          var own = sums[layer.name] ?? (sums: [Double](repeating: 0, count: channels), count: 0)
          guard own.sums.count == channels else { continue }
          let elements = blob.elements
          for part in 0..<elements.count / run {
            var sum = 0.0
            for index in part * run..<(part + 1) * run { sum += Double(elements[index]) }
            own.sums[part % channels] += sum
          }
          own.count += elements.count / channels
          sums[layer.name] = own
        }
      }
    }
    means = sums.mapValues { own in own.sums.map { $0 / Double(own.count) } }
  }

  /// The axes that form the channels of a layer's input: of `[S, B, C, H, W]`, C, and also H and W
  /// for an inner product; otherwise the third to last for a convolution, the last for an inner
  /// product.
  private static func channelAxes(
    of layer: NeuralNetworkLayer, _ rank: Int, isExact: Bool
  ) -> (Int, Int)? {
    let isDense = layer.parameters is InnerProduct
    if isExact {
      let axis = rank - (isDense ? 1 : 3)
      return axis >= 0 ? (axis, axis + 1) : nil
    }
    return rank == 5 ? (2, isDense ? 5 : 3) : nil
  }
}
