import CoreMLModel
import CustomLayers
import TensorCore

/// The precision of a network's computations.
public enum ComputePrecision: String, Sendable, CaseIterable {
  /// Single precision.
  case float32
  /// Weights, inputs and the results of all layers are rounded to half precision, as on a device
  /// that computes in it; sums inside a layer are in single precision.
  case float16
}

/// Rounds to the nearest half, ties to even; to infinity from 65520 up.
final class HalfRounding: CustomLayerImplementation {
  static let className = "HalfRounding"

  func setWeightData(_ weights: [Bytes]) {}

  func outputShapes(forInputShapes inputShapes: [[Int]]) -> [[Int]] { inputShapes }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) {
    for (input, output) in zip(inputs, outputs) {
      for index in input.elements.indices {
        output.elements[index] = Half.rounded(input.elements[index])
      }
    }
  }
}

extension Model {
  /// The model of a network with weights in half precision, and layers that round its inputs and the
  /// results of its layers.
  ///
  /// - Parameter whole: blobs of integers, which are not rounded.
  func roundedToHalf(whole: Set<String>) throws -> Model {
    guard var network = neuralNetwork else { return self }
    var model = self
    var rounding = HalfNetwork(whole: whole, names: NamePool(network.allBlobs))
    try rounding.round(&network)
    rounding.roundInputs(&network, (description?.input ?? []).map(\.name))
    model.neuralNetwork = network
    model.specificationVersion = max(specificationVersion, Custom.specificationVersion)
    return model
  }
}

extension NeuralNetwork {
  /// The names of the blobs in all layers, and in those inside them.
  fileprivate var allBlobs: Set<String> {
    layers.reduce(into: []) { names, layer in
      names.formUnion(layer.input + layer.output)
      for inner in (layer.parameters as? any ControlLayer)?.networks ?? [] {
        names.formUnion(inner.allBlobs)
      }
    }
  }
}

private struct HalfNetwork {
  let whole: Set<String>
  var names: NamePool

  private func layer(_ name: String, _ input: String, _ output: String) -> NeuralNetworkLayer {
    var custom = Custom()
    custom.className = HalfRounding.className
    return NeuralNetworkLayer(name, custom, input: [input], output: [output])
  }

  /// Rounds weights, and the results of each layer under their own names.
  mutating func round(_ network: inout NeuralNetwork) throws {
    var layers: [NeuralNetworkLayer] = []
    layers.reserveCapacity(network.layers.count * 2)
    for var layer in network.layers {
      if var flow = layer.parameters as? any ControlLayer {
        for index in flow.networks.indices { try round(&flow.networks[index]) }
        layer.parameters = flow
        layers.append(layer)
        continue
      }
      var added: [NeuralNetworkLayer] = []
      if !layer.isOfWholeNumbers(whole) {
        try layer.editWeights { _, weights in weights.round() }
      }
      for index in layer.output.indices where !layer.givesWholeNumbers(index) {
        let blob = layer.output[index]
        if whole.contains(blob) || layer.parameters is Copy { continue }
        let single = names.take(blob + " in single precision")
        layer.output[index] = single
        added.append(self.layer(blob, single, blob))
      }
      layers += [layer] + added
    }
    network.layers = layers
  }

  /// Rounds the inputs of the network, after preprocessing.
  mutating func roundInputs(_ network: inout NeuralNetwork, _ inputs: [String]) {
    for input in inputs where !whole.contains(input) && !network.writes(input) {
      let half = names.take(input + " in half precision")
      network.rename(input, to: half)
      network.layers.insert(layer(half, input, half), at: 0)
    }
  }
}

extension NeuralNetwork {
  fileprivate func writes(_ blob: String) -> Bool {
    layers.contains { layer in
      layer.output.contains(blob)
        || (layer.parameters as? any ControlLayer)?.networks.contains { $0.writes(blob) } == true
    }
  }

  fileprivate mutating func rename(_ blob: String, to name: String) {
    for index in layers.indices {
      layers[index].input = layers[index].input.map { $0 == blob ? name : $0 }
      guard var flow = layers[index].parameters as? any ControlLayer else { continue }
      for inner in flow.networks.indices { flow.networks[inner].rename(blob, to: name) }
      layers[index].parameters = flow
    }
  }
}

extension NeuralNetworkLayer {
  /// Whether an output has places or counts.
  fileprivate func givesWholeNumbers(_ index: Int) -> Bool {
    switch parameters {
    case is any ExtremumLayer, is ArgSort, is GetShape, is WhereNonZero, is RangeStatic,
      is RangeDynamic:
      true
    case is TopK: index == 1
    case is NonMaximumSuppression: index > 1
    default: false
    }
  }

  /// Whether the layer is a constant that may have places or sizes.
  fileprivate func isOfWholeNumbers(_ whole: Set<String>) -> Bool {
    guard let constant = parameters as? LoadConstantND else { return false }
    return output.allSatisfy(whole.contains)
      || constant.data?.floatValue.array().allSatisfy { $0 == $0.rounded() } == true
  }
}

extension Weights {
  /// Single precision rounded to half precision.
  fileprivate mutating func round() {
    if floatValue.count == 0 { return }
    floatValue = FloatValues(floatValue.array().map(Half.rounded))
  }
}
