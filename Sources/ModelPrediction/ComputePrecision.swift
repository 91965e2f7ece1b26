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
  /// Like `float16`, with sums of products, means and sums of elements also rounded to half
  /// precision after each addition.
  case float16Sums = "float16-sums"
  /// Convolutions whose weights have linear codes round their inputs to 8 bits and sum products of
  /// integers; everything else is in single precision.
  case fast

  package var isHalf: Bool { self == .float16 || self == .float16Sums }
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

/// The parts of a network that are not in half precision.
struct SinglePrecision {
  /// The blobs of integers.
  var whole: Set<String> = []
  /// The single-precision blobs of a program that also has half-precision ones.
  var blobs: Set<String> = []
  /// The names of the layers that compute in single precision.
  var layers: Set<String> = []

  func contains(_ layer: NeuralNetworkLayer) -> Bool {
    layers.contains(layer.name) || !layer.output.isEmpty && layer.output.allSatisfy(blobs.contains)
  }
}

extension Model {
  /// The model of a network with half-precision weights, and with layers that round its inputs and
  /// the results of its layers, except those that stay in single precision. A half-precision layer
  /// rounds what it reads from the others.
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
  /// The names of the blobs of all layers, including nested ones.
  fileprivate var allBlobs: Set<String> {
    layers.reduce(into: []) { $0.formUnion($1.input + $1.allOutputs) }
  }
}

extension NeuralNetworkLayer {
  /// The outputs of the layer and of layers nested in it.
  fileprivate var allOutputs: Set<String> {
    networksInside.reduce(into: Set(output)) { $0.formUnion($1.allBlobs) }
  }

  fileprivate var networksInside: [NeuralNetwork] {
    (parameters as? any ControlLayer)?.networks ?? []
  }
}

private struct HalfNetwork {
  /// The blobs known at a layer.
  struct Scope {
    /// Blobs that may have more precision than halves.
    var unrounded: Set<String>
    /// The rounded copies of these blobs.
    var rounded: [String: String] = [:]
  }

  let single: SinglePrecision
  var names: NamePool
  /// The first outputs of layers in half precision.
  private(set) var halfBlobs: Set<String> = []

  private func layer(_ name: String, _ input: String, _ output: String) -> NeuralNetworkLayer {
    var custom = Custom()
    custom.className = HalfRounding.className
    return NeuralNetworkLayer(name, custom, input: [input], output: [output])
  }

  /// Rounds the weights, and the results of each layer, which keep their names.
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

  /// The layer in half precision, between layers that round its inputs and outputs.
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
  /// Whether an output holds indices or counts.
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

  /// Whether the layer is a constant that may hold indices or sizes.
  fileprivate func isOfWholeNumbers(_ whole: Set<String>) -> Bool {
    guard let constant = parameters as? LoadConstantND else { return false }
    return output.allSatisfy(whole.contains)
      || constant.data?.floatValue.isOfWholeNumbers == true
  }
}

extension FloatValues {
  fileprivate var isOfWholeNumbers: Bool { count > 0 && !contains { $0 != $0.rounded() } }
}

extension Weights {
  /// Rounds single precision and the values of codes to half precision.
  fileprivate mutating func round() throws {
    switch quantization?.kind {
    case .linear: quantization?.roundsToHalf = true
    case .lookupTable(let table): quantization?.kind = .lookupTable(table.map(Half.rounded))
    case nil: if floatValue.count > 0 { floatValue = try floatValue.map(Half.rounded) }
    }
  }
}
