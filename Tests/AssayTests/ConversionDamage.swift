import Assay
import CoreMLModel
import Engine
import ModelPrediction
import TensorCore

/// A mistake that a converter could make in one layer.
struct ConversionDamage: Sendable {
  let name: String
  /// Changes the layer; returns false if there is nothing to change.
  let change: @Sendable (inout NeuralNetworkLayer) throws -> Bool

  /// - Returns: whether the layer was changed.
  func apply(to model: inout Model, at index: Int) throws -> Bool {
    guard var network = model.neuralNetwork else { return false }
    guard try change(&network.layers[index]) else { return false }
    model.neuralNetwork = network
    return true
  }

  private init(
    _ name: String, _ change: @escaping @Sendable (inout NeuralNetworkLayer) throws -> Bool
  ) {
    self.name = name
    self.change = change
  }

  static func of<Layer: LayerParameters>(
    _ type: Layer.Type, _ name: String, _ change: @escaping @Sendable (inout Layer) throws -> Bool
  ) -> ConversionDamage {
    ConversionDamage(name) { layer in
      guard var parameters = layer.parameters as? Layer, try change(&parameters) else {
        return false
      }
      layer.parameters = parameters
      return true
    }
  }

  /// Swaps the first and the last of different values.
  static func swap(_ weights: inout Weights?) -> Bool {
    guard var values = try? weights?.floatValue.array(), values.count > 1,
      let other = values.lastIndex(where: { $0 != values[0] })
    else { return false }
    values.swapAt(0, other)
    weights = Weights(values)
    return true
  }

  static let swappedWeights = ConversionDamage("swapped weights") { layer in
    switch layer.parameters {
    case var convolution as Convolution:
      guard swap(&convolution.kernel) else { return false }
      layer.parameters = convolution
    case var product as InnerProduct:
      guard swap(&product.matrix) else { return false }
      layer.parameters = product
    case var scale as Scale:
      guard swap(&scale.scale) else { return false }
      layer.parameters = scale
    case var bias as Bias:
      guard swap(&bias.bias) else { return false }
      layer.parameters = bias
    case var norm as Batchnorm:
      guard swap(&norm.mean) || swap(&norm.gamma) else { return false }
      layer.parameters = norm
    default: return false
    }
    return true
  }

  static let all: [ConversionDamage] = [
    swappedWeights,
    of(Convolution.self, "a shifted padding") { layer in
      guard case .valid(var valid)? = layer.padding, let amounts = valid.paddingAmounts else {
        return false
      }
      var sides = amounts.borderAmounts
      guard sides.count == 2, sides[0].startEdgeSize > 0 else { return false }
      sides[0].startEdgeSize -= 1
      sides[0].endEdgeSize += 1
      valid.paddingAmounts?.borderAmounts = sides
      layer.padding = .valid(valid)
      return true
    },
    of(Convolution.self, "a missing bias") { layer in
      guard layer.hasBias else { return false }
      layer.hasBias = false
      layer.bias = nil
      return true
    },
    of(Batchnorm.self, "an epsilon") { layer in
      layer.epsilon = layer.effectiveEpsilon * 100
      return true
    },
    of(Activation.self, "a missing activation") { layer in
      if case .linear = layer.function { return false }
      layer.function = .linear(alpha: 1, beta: 0)
      return true
    },
    of(Activation.self, "a factor") { layer in
      switch layer.function {
      case .leakyReLU(let alpha): layer.function = .leakyReLU(alpha: alpha * 1.1)
      case .elu(let alpha): layer.function = .elu(alpha: alpha * 1.1)
      case .linear(let alpha, let beta): layer.function = .linear(alpha: alpha * 1.01, beta: beta)
      default: return false
      }
      return true
    },
    of(Pooling.self, "an average") { layer in
      layer.type = layer.type == .max ? .average : .max
      return true
    },
    of(Pooling.self, "excluded padding") { layer in
      layer.avgPoolExcludePadding.toggle()
      return layer.type == .average
    },
    of(LRN.self, "a beta") { layer in
      layer.beta *= 1.05
      return true
    },
    of(Unary.self, "a scale") { layer in
      layer.scale = layer.effectiveScale * 1.01
      return true
    },
    of(Reduce.self, "another reduction") { layer in
      guard layer.mode == .sum || layer.mode == .avg else { return false }
      layer.mode = layer.mode == .sum ? .avg : .sum
      return true
    },
    of(Permute.self, "swapped axes") { layer in
      guard layer.axis.count == 4 else { return false }
      layer.axis.swapAt(2, 3)
      return true
    },
    of(UniDirectionalLSTM.self, "swapped gates") { layer in
      guard var weights = layer.weightParams else { return false }
      (weights.inputGate, weights.forgetGate) = (weights.forgetGate, weights.inputGate)
      defer { layer.weightParams = weights }
      return weights.inputGate != weights.forgetGate
    },
    of(BiDirectionalLSTM.self, "a swapped direction") { layer in
      guard layer.weightParams.count == 2 else { return false }
      layer.weightParams.reverse()
      return true
    },
    of(GRU.self, "swapped gates") { layer in
      (layer.updateGate, layer.resetGate) = (layer.resetGate, layer.updateGate)
      return layer.updateGate != layer.resetGate
    },
    of(SimpleRecurrent.self, "a damaged state") { layer in swap(&layer.recursionMatrix) },
    ConversionDamage("inputs in another order") { layer in
      guard layer.parameters is Concat, layer.input.count > 1, layer.input[0] != layer.input[1]
      else { return false }
      layer.input.swapAt(0, 1)
      return true
    },
    ConversionDamage("another operation") { layer in
      guard layer.parameters is Add, layer.input.count > 1 else { return false }
      layer.parameters = Multiply()
      return true
    },
  ]
}

extension Model {
  /// Whether the engine computes a different blob of the layer for the proof's random inputs, by
  /// more than 1e-3 of its largest value. False if the model does not run.
  func differs(from other: Model, in blobs: Set<String>) throws -> Bool {
    var options = Predictor.Options()
    options.keep = .named(blobs)
    guard (try? requireValid()) != nil, let own = try? Predictor(model: self, options: options)
    else { return false }
    let predictor = try Predictor(model: other, options: options)
    let inputs = try predictor.randomBlobs(seed: 0)
    guard let actual = try? own.outputBlobs(inputs) else { return false }
    let expected = try predictor.outputBlobs(inputs)
    return blobs.contains { blob in
      guard let a = actual[blob]?.elements, let b = expected[blob]?.elements, a.count == b.count
      else { return actual[blob]?.shape != expected[blob]?.shape }
      let largest = b.reduce(0) { max($0, abs($1)) }
      return zip(a, b).contains { !(abs($0 - $1) <= 1e-3 * largest) }
    }
  }

  /// The given blobs that a layer writes, or that depend on its outputs without another given blob
  /// in between.
  func nearest(_ blobs: Set<String>, behind index: Int) -> Set<String> {
    let layers = neuralNetwork?.layers ?? []
    var found: Set<String> = []
    var reached: Set<String> = []
    for (place, layer) in layers.enumerated().dropFirst(index)
    where place == index || !reached.isDisjoint(with: layer.input) {
      for blob in layer.output {
        if blobs.contains(blob) { found.insert(blob) } else { reached.insert(blob) }
      }
    }
    return found
  }
}
