import CoreMLModel
import TensorCore

/// A batch normalization, scale or bias that was folded into a neighbor, or was not because the
/// error was too large.
package struct BatchnormFold: Sendable, Equatable {
  package let layer: String
  package let neighbor: String
  /// The largest difference of the results for random inputs, relative to the sum of magnitudes.
  package let error: Double
  /// Whether the error was small enough to fold.
  package let isDone: Bool
}

extension Model {
  /// The model with batch normalizations, scales and biases that have one factor and offset per
  /// channel folded into the convolution or inner product before them, or into the convolution
  /// after them:
  ///
  ///     a (W x + c) + b = (a W) x + (a c + b)        W (a x + b) + c = (W a) x + (W b + c)
  ///
  /// The latter is possible only without padding. Weights are computed in double precision and
  /// rounded once; each fold is tried on random inputs and skipped if the results differ by more
  /// than rounding. A blob between the two layers is removed; outputs of the model are kept.
  ///
  /// - Parameters:
  ///   - keepsScales: whether folding into the preceding layer leaves a scale after it, so that all
  ///     output channels of the weights have the same root mean square: one table for the whole
  ///     weight then fits them all.
  ///   - kept: the layers to leave unchanged.
  ///   - widensHalf: whether half-precision weights become single precision, which is larger.
  package func withFoldedBatchnorm(
    keepsScales: Bool = false, keeping kept: Set<String> = [], widensHalf: Bool = true
  ) throws -> (model: Model, folds: [BatchnormFold]) {
    var model = self
    var folds: [BatchnormFold] = []
    if !isUpdatable, var network = neuralNetwork, network.updateParams == nil {
      folds = try network.foldBatchnorm(keeping: visibleBlobs, keepsScales: keepsScales) {
        !kept.contains($0.name)
          && (widensHalf
            || $0.parameters?.weights.allSatisfy { $0.values.float16Value.count == 0 } ?? false)
      }
      model.neuralNetwork = network
    }
    model.pipelineModels = try pipelineModels.map {
      let (folded, more) = try $0.withFoldedBatchnorm(
        keepsScales: keepsScales, keeping: kept, widensHalf: widensHalf)
      folds += more
      return folded
    }
    return (model, folds)
  }

  /// Blobs that are visible outside the network.
  private var visibleBlobs: Set<String> {
    var names = Set((description?.output ?? []).map(\.name))
    if case .neuralNetworkClassifier(let classifier) = type {
      names.insert(classifier.labelProbabilityLayerName)
      names.formUnion(classifier.network.layers.last?.output ?? [])
    }
    return names
  }
}

extension NeuralNetwork {
  fileprivate mutating func foldBatchnorm(
    keeping visible: Set<String>, keepsScales: Bool, where mayFold: (NeuralNetworkLayer) -> Bool
  ) throws -> [BatchnormFold] {
    // Layers that cannot be inspected may read any blob.
    let hidesBlobs = layers.contains {
      $0.parameters is OpaqueLayer || $0.parameters is any ControlLayer || $0.parameters == nil
    }
    if hidesBlobs { return [] }
    var folds: [BatchnormFold] = []
    var refused: Set<String> = []
    /// For each layer into which a later one was folded: the later layer's name, and the blob
    /// between the two.
    var behind: [String: (layer: String, blob: String)] = [:]
    var index = 0
    while index < layers.count {
      let layer = layers[index]
      if layer.input.count == 1, layer.output.count == 1, !layer.isUpdatable,
        !refused.contains(layer.name), mayFold(layer),
        let affine = try ChannelFactors(layer),
        let (neighbor, isBehind) = neighbor(of: index, visible), mayFold(layers[neighbor])
      {
        if let (folded, error) = try affine.folded(into: layers[neighbor], isBehind: isBehind) {
          let isDone = error <= 4e-6
          folds.append(
            BatchnormFold(
              layer: layer.name, neighbor: layers[neighbor].name, error: error, isDone: isDone))
          if isDone {
            layers[neighbor].parameters = folded
            if isBehind {
              layers[neighbor].input = layer.input
              layers[neighbor].inputTensor = layer.inputTensor
            } else {
              let name = layers[neighbor].name
              behind[name] = behind[name] ?? (layer.name, layer.input[0])
              layers[neighbor].output = layer.output
              layers[neighbor].outputTensor = layer.outputTensor
            }
            layers.remove(at: index)
            // Layers that were refused or skipped may fit the new neighbor.
            index = max(0, min(index, neighbor))
            continue
          }
          refused.insert(layer.name)
        }
      }
      index += 1
    }
    if keepsScales { try separateScales(behind) }
    return folds
  }

  /// Inserts a scale layer after each layer in `positions`, with the given name and the given input
  /// blob.
  private mutating func separateScales(_ positions: [String: (layer: String, blob: String)]) throws
  {
    var index = 0
    while index < layers.count {
      if let position = positions[layers[index].name],
        let (parameters, scale) = try layers[index].parameters?.withSeparateScale()
      {
        let output = layers[index].output
        layers[index].parameters = parameters
        layers[index].output = [position.blob]
        layers[index].outputTensor = []
        layers.insert(
          NeuralNetworkLayer(position.layer, scale, input: [position.blob], output: output),
          at: index + 1)
        index += 1
      }
      index += 1
    }
  }

  /// The layer that computes the input of the layer at `index`, if nothing else reads that blob;
  /// otherwise the only layer that reads its output.
  private func neighbor(of index: Int, _ visible: Set<String>) -> (Int, isBehind: Bool)? {
    let layer = layers[index]
    func readers(_ blob: String) -> [Int] {
      layers.indices.filter { layers[$0].input.contains(blob) }
    }
    let before = layer.input[0]
    if !visible.contains(before), readers(before) == [index],
      let producer = layers.firstIndex(where: { $0.output == [before] }),
      layers[producer].parameters is Convolution
        || layers[producer].parameters is InnerProduct && arrayInputShapeMapping == .rank5,
      layers[producer].isFoldable
    {
      return (producer, false)
    }
    let behind = layer.output[0]
    let found = readers(behind)
    if !visible.contains(behind), found.count == 1, layers[found[0]].input == [behind],
      layers[found[0]].parameters is Convolution, layers[found[0]].isFoldable
    {
      return (found[0], true)
    }
    return nil
  }
}

extension NeuralNetworkLayer {
  fileprivate var isFoldable: Bool {
    !isUpdatable && input.count == 1
      && (parameters?.weights.allSatisfy {
        $0.values.rawValue.count + $0.values.int8RawValue.count == 0 && !$0.values.isUpdatable
      } ?? false)
  }
}

/// y = factor · x + offset, with one pair for each channel or a single pair for all.
struct ChannelFactors {
  var factors: [Double]
  var offsets: [Double]

  /// Nil if the layer is anything else.
  init?(_ layer: NeuralNetworkLayer) throws {
    do {
      switch layer.parameters {
      case let batchnorm as Batchnorm:
        guard !batchnorm.computeMeanVar, !batchnorm.instanceNormalization else { return nil }
        (factors, offsets) = try batchnorm.channelAffine()
      case let scale as Scale:
        guard scale.shapeScale.isPerChannel, !scale.hasBias || scale.shapeBias.isPerChannel,
          let factors = try Self.values(scale.scale, scale.shapeScale),
          let offsets = scale.hasBias ? try Self.values(scale.bias, scale.shapeBias) : [0]
        else { return nil }
        self.factors = factors
        self.offsets = offsets
      case let bias as Bias:
        guard bias.shape.isPerChannel, let offsets = try Self.values(bias.bias, bias.shape) else {
          return nil
        }
        factors = [1]
        self.offsets = offsets
      default: return nil
      }
    } catch let error as ModelError {
      throw error.inLayer(layer.name, class: layer.parameters?.typeName)
    }
    guard factors.allSatisfy(\.isFinite), offsets.allSatisfy(\.isFinite) else { return nil }
  }

  private static func values(_ weights: Weights?, _ shape: [Int]) throws -> [Double]? {
    try weights?.values(shape: shape).array().map(Double.init)
  }

  private func factor(_ channel: Int) -> Double { factors[factors.count == 1 ? 0 : channel] }
  private func offset(_ channel: Int) -> Double { offsets[offsets.count == 1 ? 0 : channel] }

  private func fits(_ channels: Int) -> Bool {
    [1, channels].contains(factors.count) && [1, channels].contains(offsets.count)
  }

  /// The parameters of `layer` with this folded in, and the difference of the results; nil if that
  /// is not possible.
  func folded(
    into layer: NeuralNetworkLayer, isBehind: Bool
  ) throws -> (any LayerParameters, Double)? {
    switch layer.parameters {
    case var convolution as Convolution:
      guard let kernel = convolution.kernel else { return nil }
      let shape = convolution.kernelShape
      let channels = isBehind ? try convolution.inputChannels : convolution.outputChannels
      guard fits(channels), channels > 0, !isBehind || convolution.padsNothing else { return nil }
      let values = try kernel.values(shape: shape, channelAxis: convolution.isDeconvolution ? 1 : 0)
      let bias =
        convolution.hasBias
        ? try convolution.bias?.values(shape: [convolution.outputChannels]).array() : nil
      let folding = Folding(
        kernel: try values.array(), bias: bias, pairs: try ChannelPairs(convolution))
      let (newKernel, newBias, error) = folding.folded(
        factor: factor, offset: offset, isBehind: isBehind)
      convolution.kernel = Weights(newKernel)
      convolution.bias = Weights(newBias)
      convolution.hasBias = true
      return (convolution, error)
    case var dense as InnerProduct:
      guard let matrix = dense.matrix, !isBehind, fits(dense.outputChannels),
        !dense.int8DynamicQuantize
      else { return nil }
      let folding = Folding(
        kernel: try matrix.values(shape: [dense.outputChannels, dense.inputChannels]).array(),
        bias: dense.hasBias ? try dense.bias?.values(shape: [dense.outputChannels]).array() : nil,
        pairs: ChannelPairs(dense))
      let (newMatrix, newBias, error) = folding.folded(
        factor: factor, offset: offset, isBehind: false)
      dense.matrix = Weights(newMatrix)
      dense.bias = Weights(newBias)
      dense.hasBias = true
      return (dense, error)
    default: return nil
    }
  }
}

extension LayerParameters {
  /// W x + c = s ((W / s) x + c / s), where s is the root mean square of each output channel's
  /// weights; nil unless the layer is an ordinary convolution.
  fileprivate func withSeparateScale() throws -> (any LayerParameters, Scale)? {
    guard var convolution = self as? Convolution, !convolution.isDeconvolution,
      let kernel = convolution.kernel, let bias = convolution.bias
    else { return nil }
    var values = try kernel.values(shape: convolution.kernelShape).array()
    let outputs = convolution.outputChannels
    var offsets = try bias.values(shape: [outputs]).array()
    let run = values.count / max(1, outputs)
    var factors = [Float](repeating: 1, count: outputs)
    for output in 0..<outputs {
      let range = output * run..<(output + 1) * run
      let squares = values[range].reduce(0) { $0 + Double($1) * Double($1) }
      let size = Float((squares / Double(max(1, run))).squareRoot())
      guard size.isNormal, (offsets[output] / size).isFinite else { continue }
      factors[output] = size
      for index in range { values[index] /= size }
      offsets[output] /= size
    }
    convolution.kernel = Weights(values)
    convolution.bias = Weights(offsets)
    return (
      convolution, Scale().with(\.shapeScale, [outputs, 1, 1]).with(\.scale, Weights(factors))
    )
  }
}

/// The weights of a convolution or inner product, mapped to channels.
private struct Folding {
  let kernel: [Float]
  let bias: [Float]?
  let pairs: ChannelPairs

  func folded(
    factor: (Int) -> Double, offset: (Int) -> Double, isBehind: Bool
  ) -> (kernel: [Float], bias: [Float], error: Double) {
    var newKernel = kernel
    let outputs = pairs.outputs
    var newBias = (0..<outputs).map { Double(bias?[$0] ?? 0) }
    // Both results for the same random inputs; each channel has the same value at all taps.
    var generator = SplitMix64(seed: 1)
    let probe = (0..<pairs.inputs).map { _ in Double.random(in: -1...1, using: &generator) }
    var before = newBias
    var after = [Double](repeating: 0, count: outputs)
    var size = after
    if !isBehind {
      for output in 0..<outputs {
        newBias[output] = newBias[output] * factor(output) + offset(output)
      }
    }
    for pair in 0..<kernel.count / max(1, pairs.taps) {
      let (input, output) = pairs[pair]
      let own = factor(isBehind ? input : output)
      let x = isBehind ? own * probe[input] + offset(input) : probe[input]
      for index in pair * pairs.taps..<(pair + 1) * pairs.taps {
        let weight = Double(kernel[index])
        newKernel[index] = Float(weight * own)
        if isBehind { newBias[output] += weight * offset(input) }
        before[output] += weight * x
        let product = Double(newKernel[index]) * probe[input]
        after[output] += product
        size[output] += abs(product)
      }
    }
    let rounded = newBias.map { Float($0) }
    var error = 0.0
    for output in 0..<outputs {
      let expected = isBehind ? before[output] : before[output] * factor(output) + offset(output)
      let found = after[output] + Double(rounded[output])
      let magnitude = size[output] + abs(Double(rounded[output]))
      let difference = abs(found - expected)
      if difference == 0 { continue }
      error = max(error, magnitude == 0 ? .infinity : difference / magnitude)
      if !difference.isFinite { error = .infinity }
    }
    return (newKernel, rounded, error)
  }
}

extension Convolution {
  /// Whether all taps of all outputs are inside the input.
  fileprivate var padsNothing: Bool {
    guard !isDeconvolution, case .valid(let valid)? = padding else { return false }
    return (valid.paddingAmounts?.borderAmounts ?? []).allSatisfy {
      $0.startEdgeSize == 0 && $0.endEdgeSize == 0
    }
  }
}

extension [Int] {
  /// `[1]`, `[C]` or `[C, 1, 1]`.
  fileprivate var isPerChannel: Bool { count == 1 || count == 3 && self[1] == 1 && self[2] == 1 }
}
