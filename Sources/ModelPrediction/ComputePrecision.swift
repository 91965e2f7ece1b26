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
  /// As `float16`, and sums of products, means and sums of elements are rounded to half precision
  /// after each addition.
  case float16Sums = "float16-sums"
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

/// What of a network is not in half precision.
struct SinglePrecision {
  /// Blobs of integers.
  var whole: Set<String> = []
  /// Blobs of a program that has them in single precision, and others in half precision.
  var blobs: Set<String> = []
  /// The names of layers.
  var layers: Set<String> = []

  func contains(_ layer: NeuralNetworkLayer) -> Bool {
    layers.contains(layer.name) || !layer.output.isEmpty && layer.output.allSatisfy(blobs.contains)
  }
}

extension Model {
  /// The model of a network with weights in half precision, and layers that round its inputs and the
  /// results of its layers, but for those that stay in single precision. A layer in half precision
  /// rounds what it reads of the others.
  ///
  /// - Returns: the model, and the first outputs of the layers that compute in half precision.
  func roundedToHalf(except single: SinglePrecision) throws -> (model: Model, blobs: Set<String>) {
    guard var network = neuralNetwork else { return (self, []) }
    var model = self
    var rounding = HalfNetwork(single: single, names: NamePool(network.allBlobs))
    let inputs = Set((description?.input ?? []).map(\.name)).subtracting(single.whole)
    try rounding.round(&network, HalfNetwork.Scope(unrounded: inputs))
    model.neuralNetwork = network
    model.specificationVersion = max(specificationVersion, Custom.specificationVersion)
    return (model, rounding.halfBlobs)
  }
}

extension NeuralNetwork {
  /// The names of the blobs in all layers, and in those inside them.
  fileprivate var allBlobs: Set<String> {
    layers.reduce(into: []) { $0.formUnion($1.input + $1.allOutputs) }
  }
}

extension NeuralNetworkLayer {
  /// What the layer writes, and the layers inside it.
  fileprivate var allOutputs: Set<String> {
    networksInside.reduce(into: Set(output)) { $0.formUnion($1.allBlobs) }
  }

  fileprivate var networksInside: [NeuralNetwork] {
    (parameters as? any ControlLayer)?.networks ?? []
  }
}

private struct HalfNetwork {
  /// What is known of blobs at a layer.
  struct Scope {
    /// Those that may have more digits than halves have.
    var unrounded: Set<String>
    /// The rounded ones of these.
    var rounded: [String: String] = [:]
  }

  let single: SinglePrecision
  var names: NamePool
  /// The first outputs of layers in half precision.
  private(set) var halfBlobs: Set<String> = []

  init(single: SinglePrecision, names: NamePool) { (self.single, self.names) = (single, names) }

  private func layer(_ name: String, _ input: String, _ output: String) -> NeuralNetworkLayer {
    var custom = Custom()
    custom.className = HalfRounding.className
    return NeuralNetworkLayer(name, custom, input: [input], output: [output])
  }

  /// Rounds weights, and the results of each layer under their own names.
  mutating func round(_ network: inout NeuralNetwork, _ given: Scope) throws {
    var scope = given
    var layers: [NeuralNetworkLayer] = []
    layers.reserveCapacity(network.layers.count * 2)
    for var layer in network.layers {
      if var flow = layer.parameters as? any ControlLayer {
        let written = layer.allOutputs
        scope.unrounded.subtract(written)
        for index in flow.networks.indices { try round(&flow.networks[index], scope) }
        layer.parameters = flow
        layers.append(layer)
      } else if single.contains(layer) {
        scope.unrounded.formUnion(layer.output.filter { !single.whole.contains($0) })
        layers.append(layer)
      } else {
        layers += try rounded(&layer, &scope)
      }
    }
    network.layers = layers
  }

  /// The layer in half precision, between those that round what it reads and gives.
  private mutating func rounded(
    _ layer: inout NeuralNetworkLayer, _ scope: inout Scope
  ) throws -> [NeuralNetworkLayer] {
    var before: [NeuralNetworkLayer] = []
    for index in layer.input.indices where scope.unrounded.contains(layer.input[index]) {
      let blob = layer.input[index]
      if let half = scope.rounded[blob] {
        layer.input[index] = half
      } else {
        let half = names.take(blob + " in half precision")
        scope.rounded[blob] = half
        before.append(self.layer(half, blob, half))
        layer.input[index] = half
      }
    }
    if !layer.isOfWholeNumbers(single.whole) {
      try layer.editWeights { _, weights in try weights.round() }
    }
    var after: [NeuralNetworkLayer] = []
    for index in layer.output.indices {
      let blob = layer.output[index]
      scope.unrounded.remove(blob)
      scope.rounded[blob] = nil
      if single.whole.contains(blob) || layer.parameters is Copy || layer.givesWholeNumbers(index) {
        continue
      }
      let unrounded = names.take(blob + " in single precision")
      layer.output[index] = unrounded
      after.append(self.layer(blob, unrounded, blob))
    }
    if let first = layer.output.first { halfBlobs.insert(first) }
    return before + [layer] + after
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
      || constant.data?.floatValue.contains { $0 != $0.rounded() } == false
  }
}

extension Weights {
  /// Single precision rounded to half precision.
  fileprivate mutating func round() throws {
    if floatValue.count == 0 { return }
    floatValue = try floatValue.map(Half.rounded)
  }
}
