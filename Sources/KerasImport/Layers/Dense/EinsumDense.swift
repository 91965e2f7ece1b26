import CoreMLModel
import ImportSupport
import TensorCore

/// activation(Σ x · kernel + bias) over the axes in an equation, such as `abc,cde->abde`.
enum EinsumDense: KerasLayer {
  static let classes = [SourceLayer](
    "EinsumDense", becomes: "reshape, innerProduct or 1 × 1 convolution, reshape",
    options:
      "`equation`, `bias_axes`, `activation`; axes shared by kernel and output become a grouped convolution"
  )

  private static func known(_ sizes: [Int?], _ call: LayerCall) throws -> [Int] {
    let result = sizes.compactMap { $0 }
    guard result.count == sizes.count else { throw call.unknownSize(of: try call.input) }
    return result
  }

  /// Reorders the axes without moving elements.
  private static func rearranged(
    _ tensor: KerasTensor, _ old: [Character], _ new: [Character]
  ) -> KerasTensor {
    tensor.reordered(new.dropFirst().compactMap { old.firstIndex(of: $0) })
  }

  private static func biased(
    _ tensor: KerasTensor, _ biasAxes: String, _ target: [Character], _ call: LayerCall,
    _ network: inout KerasWriter
  ) throws -> KerasTensor {
    let letters = Array(biasAxes)
    let indices = letters.compactMap { target.firstIndex(of: $0) }.sorted()
    guard indices.count == letters.count, let first = indices.first, first > 0 else {
      throw call.error("the bias axes '\(biasAxes)' are not axes of the result '\(String(target))'")
    }
    let shape = (first..<target.count).map { indices.contains($0) ? tensor.shape[$0] : 1 }
    let stored = try call.weight("bias", shape)
    let layout = tensor.layout
    let axes = try ReducibleAxes(indices, of: tensor, call)
    var result = network.relaid(tensor, to: axes.layout, for: call.name + "_bias")
    result.blob = network.scaled(
      result.blob, axes, gamma: nil,
      beta: stored.shaped(indices.map { stored.shape[$0 - first] }), call.name + "__bias__")
    return network.relaid(result, to: layout, for: call.name + "_back")
  }

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let biasAxes = try configuration.string("bias_axes", default: "")
    let activation = try ActivationFunction(configuration)
    let text = try configuration.string("equation")
    guard let equation = Einsum(text), equation.terms.count == 2 else {
      throw configuration.unsupported("equation", "'\(text.prefix(64))' is not an equation")
    }
    return conversion([WeightSlot("kernel")] + (biasAxes.isEmpty ? [] : [WeightSlot("bias")])) {
      call, network in
      let given = try call.input
      let (source, target) = Einsum.expanding(
        equation.terms[0], equation.target, rank: given.rank)
      let factors = equation.terms[1]
      let roles = Einsum.Roles(source, factors, to: target)
      let (own, kept, summed, made) = (roles.shared, roles.rows, roles.summed, roles.columns)
      try call.require(
        source.count == given.rank && Set(source).count == source.count
          && Set(factors).count == factors.count && Set(target) == Set(kept + own + made)
          && target.count == kept.count + own.count + made.count && source.first == target.first
          && kept.first == source.first && Set(factors) == Set(summed + own + made),
        unsupported:
          "equation '\(equation.text)' is not supported for the input \(given.shapeText): only sums over axes of "
          + "the input that the kernel also has are supported")
      let shape = factors.map { letter in
        source.firstIndex(of: letter).flatMap { given.isShapeAssumed ? nil : given.shape[$0] }
      }
      let stored = try call.weight("kernel", shape)
      func size(_ letter: Character) -> Int {
        factors.firstIndex(of: letter).map { stored.shape[$0] } ?? 1
      }
      let groups = try checkedProduct(own.map(size), limit: Limits.dimension)
      let inputs = try checkedProduct(summed.map(size), limit: Limits.dimension)
      let outputs = try checkedProduct(made.map(size), limit: Limits.dimension)
      let matrix = stored.transposed(
        (own + made + summed).compactMap { factors.firstIndex(of: $0) })
      var tensor = rearranged(network.standard(given, for: call.name), source, kept + own + summed)
      let outer = kept.dropFirst().map { letter in
        source.firstIndex(of: letter).flatMap { given.shape[$0] }
      }
      let all = try checkedProduct([groups, inputs], limit: Limits.dimension)
      if own.count + summed.count != 1 {
        tensor = try network.reshaped(
          network.settled(tensor, for: call.name + "_merge"), to: try known(outer, call) + [all],
          preferred: .channelsLast, name: call.name + "__merge__", call)
      }
      let results = try checkedProduct([groups, outputs], limit: Limits.dimension)
      if groups == 1 {
        tensor = network.channelProduct(
          tensor, Weights(matrix), inputs: inputs, outputs: outputs, call.name)
      } else {
        tensor = network.groupedProduct(
          tensor, Weights(matrix), groups: groups, inputs: inputs, outputs: results, call.name)
      }
      if own.isEmpty && made.isEmpty {
        tensor = network.settled(tensor.without([tensor.rank - 1]), for: call.name + "_split")
      } else if own.count + made.count != 1 {
        tensor = try network.reshaped(
          tensor, to: try known(outer, call) + own.map(size) + made.map(size),
          preferred: .channelsLast, name: call.name + "__split__", call)
      }
      tensor = rearranged(tensor, kept + own + made, target)
      if !biasAxes.isEmpty {
        tensor = try biased(tensor, biasAxes, target, call, &network)
      }
      return [try network.activate(activation, tensor, call)]
    }
  }
}

extension KerasWriter {
  /// matrix · x along the last axis, in any layout; the matrix is `[outputs, inputs]`.
  mutating func channelProduct(
    _ tensor: KerasTensor, _ matrix: Weights, inputs: Int, outputs: Int, bias: Weights? = nil,
    _ name: String
  ) -> KerasTensor {
    axisProduct(
      tensor, axis: tensor.rank - 1, matrix, inputs: inputs, outputs: outputs, bias: bias, name)
  }

  /// matrix · x along an axis.
  mutating func axisProduct(
    _ tensor: KerasTensor, axis: Int, _ matrix: Weights, inputs: Int, outputs: Int,
    bias: Weights? = nil, _ name: String
  ) -> KerasTensor {
    withChannelAxis(axis, of: [tensor], for: name) { network, tensors in
      var result = tensors[0]
      result.shape[axis] = outputs
      let axes = result.layout.axes
      if axes.contains(.height) || axes.contains(.width) {
        result.blob = network.add(
          name,
          Convolution.pointwise(matrix, inputs: inputs, outputs: outputs, bias: bias),
          [result.blob])
      } else {
        result.blob = network.matrixProduct(
          result.blob, matrix, inputs: inputs, outputs: outputs, bias: bias, name)
      }
      return result
    }
  }

  /// Splits the last axis into equal parts, and multiplies each by a separate matrix `[outputs,
  /// inputs per part]`.
  mutating func groupedProduct(
    _ tensor: KerasTensor, _ matrices: Weights, groups: Int, inputs: Int, outputs: Int,
    _ name: String
  ) -> KerasTensor {
    withChannelAxis(tensor.rank - 1, of: [tensor], for: name) { network, tensors in
      var result = tensors[0]
      result.shape[result.rank - 1] = outputs
      var convolution = Convolution.pointwise(matrices, inputs: inputs, outputs: outputs, bias: nil)
      convolution.nGroups = groups
      result.blob = network.add(name, convolution, [result.blob])
      return result
    }
  }
}
