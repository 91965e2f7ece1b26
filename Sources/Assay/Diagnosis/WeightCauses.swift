import CoreMLModel
import ModelPrediction
import TensorCore

extension DiagnosisSubject {
  /// Weights that were read in another order.
  var weightCauses: [Cause] {
    kernelCauses + flattenCauses + [
      cause("square matrices of dense layers are transposed") { (layer: inout InnerProduct) in
        let units = layer.outputChannels
        guard units == layer.inputChannels, let matrix = layer.matrix else { return }
        let values = Tensor(
          shape: [units, units], try matrix.values(shape: [units, units]).array())
        layer.matrix = Weights(values.transposed([1, 0]).elements)
      },
      cause("the biases of convolutions and dense layers are missing in the expected prediction") {
        (layer: inout Convolution) in
        layer.hasBias = false
      },
    ]
  }

  private var kernelCauses: [Cause] {
    [
      cause("kernels of convolutions are rotated by 180° (Theano convolves, others correlate)") {
        (layer: inout Convolution) in
        try layer.changeKernel { $0.reversed(2).reversed(3) }
      },
      cause("height and width of kernels are swapped") { (layer: inout Convolution) in
        guard layer.kernelShape[2] == layer.kernelShape[3] else { return }
        try layer.changeKernel { $0.transposed([0, 1, 3, 2]) }
      },
      cause("input and output channels of square kernels are swapped") {
        (layer: inout Convolution) in
        guard layer.kernelShape[0] == layer.kernelShape[1] else { return }
        try layer.changeKernel { $0.transposed([1, 0, 2, 3]) }
      },
    ]
  }

  /// The first dense layer's columns are in channels-first or channels-last order.
  private var flattenCauses: [Cause] {
    [true, false].map { isChannelsFirst in
      let summary =
        "the first dense layer's weights are for "
        + (isChannelsFirst
          ? "flattening with channels first, and the network flattens with channels last"
          : "flattening with channels last, and the network flattens with channels first")
      return Cause(.network, summary) { [self] trial in
        guard let position = flattened(trial.model), var network = trial.model.neuralNetwork,
          var layer = network.layers[position.layer].parameters as? InnerProduct,
          let matrix = layer.matrix
        else { return false }
        let shape = [layer.outputChannels, layer.inputChannels]
        let values = Tensor(shape: shape, try matrix.values(shape: shape).array())
        let (c, h, w) = (position.shape[0], position.shape[1], position.shape[2])
        let changed =
          isChannelsFirst
          ? values.reshaped([shape[0], c, h, w]).transposed([0, 2, 3, 1])
          : values.reshaped([shape[0], h, w, c]).transposed([0, 3, 1, 2])
        layer.matrix = Weights(changed.elements)
        network.layers[position.layer].parameters = layer
        trial.model.neuralNetwork = network
        trial.changes.append(summary)
        return true
      }
    }
  }

  /// The first dense layer whose input has as many elements as an image's blob before it, and the
  /// `[C, H, W]` of that blob.
  private func flattened(_ model: Model) -> (layer: Int, shape: [Int])? {
    guard let network = model.neuralNetwork else { return nil }
    let shapes = network.inferredShapes(inputs: trial.blobs.mapValues(\.shape)).shapes
    for (index, layer) in network.layers.enumerated() {
      guard let dense = layer.parameters as? InnerProduct else { continue }
      var blob = layer.input.first
      // Flattening may take a few layers, such as a permutation and a reshape.
      for _ in 0..<6 {
        guard let name = blob else { break }
        if let shape = shapes[name]?.suffix(3), shape.count == 3,
          shape.reduce(1, *) == dense.inputChannels, shape.filter({ $0 > 1 }).count > 1
        {
          return (index, Array(shape))
        }
        blob = network.layers.first { $0.output.contains(name) }?.input.first
      }
      return nil
    }
    return nil
  }
}

extension Convolution {
  /// - Parameter change: receives `[O, I, H, W]`, deconvolutions `[I, O, H, W]`; keeps the shape.
  fileprivate mutating func changeKernel(_ change: (Tensor) -> Tensor) throws {
    guard let kernel, kernelShape[2] * kernelShape[3] > 1 || kernelShape[0] == kernelShape[1] else {
      return
    }
    let shape = kernelShape
    let values = Tensor(
      shape: shape, try kernel.values(shape: shape, channelAxis: isDeconvolution ? 1 : 0).array())
    let changed = change(values)
    if changed != values { self.kernel = Weights(changed.elements) }
  }
}
