import CoreMLModel
import Formulas
import ImportSupport
import TensorCore

extension CaffeLayerType {
  /// x · scale + bias, both broadcast along the other axes
  static let scale = CaffeLayerType(
    SourceLayer(
      "Scale",
      becomes:
        "scale; folded into a BatchNorm before it that nothing else reads; "
        + "with two bottoms multiply, bias",
      options: "`axis`, `num_axes`, `bias_term`; one or two bottoms")
  ) { layer, network in
    try layer.requireBottoms(1...2)
    let parameters = layer.parameters("scale_param")
    let hasBias = try parameters.bool("bias_term")
    let input = network.five(layer.inputs[0], for: layer.name)
    let covered = try BroadcastAxes(parameters, input, layer.inputs.dropFirst().first)
    if layer.inputs.count == 2 {
      let factor = try network.broadcasting(layer.inputs[1], covered, input, layer)
      guard hasBias else {
        return [input.with(network.product(input.blob, factor, layer.name, to: layer.tops[0]))]
      }
      let product = input.with(network.product(input.blob, factor, layer.part("Mul")))
      let bias = try layer.weight(0, "bias", shape: covered.shape)
      return [try network.shifted(product, covered, bias, layer.part("Bias"), to: layer.tops[0])]
    }
    let factors = try layer.weight(0, "scale", shape: covered.shape)
    let bias = hasBias ? try layer.weight(1, "bias", shape: covered.shape) : nil
    if network.joinBatchnorm(input, covered, factors, bias) { return [input] }
    return [try network.scaled(input, covered, factors, bias, layer)]
  }.withInputAxes { layer, index, shape in
    BroadcastAxes.inputAxes(layer.parameters("scale_param"), bottom: index, shape: shape)
  }.withBatchAxis { layer, _ in
    try BroadcastAxes.batchAxis(layer, layer.parameters("scale_param"))
  }
}

extension CaffeLayerType {
  /// x + bias, broadcast along the other axes
  static let bias = CaffeLayerType(
    SourceLayer(
      "Bias", becomes: "bias; with two bottoms add",
      options: "`axis`, `num_axes`; one or two bottoms"
    )
  ) { layer, network in
    try layer.requireBottoms(1...2)
    let input = network.five(layer.inputs[0], for: layer.name)
    let covered = try BroadcastAxes(
      layer.parameters("bias_param"), input, layer.inputs.dropFirst().first)
    if layer.inputs.count == 2 {
      let bias = try network.broadcasting(layer.inputs[1], covered, input, layer)
      return [input.with(network.sum([input.blob, bias], layer.name, to: layer.tops[0]))]
    }
    let bias = try layer.weight(0, "bias", shape: covered.shape)
    return [try network.shifted(input, covered, bias, layer.name, to: layer.tops[0])]
  }.withInputAxes { layer, index, shape in
    BroadcastAxes.inputAxes(layer.parameters("bias_param"), bottom: index, shape: shape)
  }.withBatchAxis { layer, _ in
    try BroadcastAxes.batchAxis(layer, layer.parameters("bias_param"))
  }
}

/// The axes along which a weight or a second bottom varies; it is broadcast along all others.
struct BroadcastAxes: Sendable {
  let range: Range<Int>
  let shape: [Int]
  /// The positions in the blob of those axes that are longer than 1.
  let positions: [Int]

  init(_ parameters: CaffeParameters, _ input: CaffeTensor, _ second: CaffeTensor?) throws {
    let rank = input.shape.count
    let count: Int
    if let second {
      count = second.shape.count
    } else {
      count = try parameters.int("num_axes", atLeast: -1)
    }
    // A scalar has no first axis.
    let isScalar = count == 0
    let first =
      isScalar
      ? 0 : try input.axis(parameters.int("axis"), parameters.path + ".axis", of: parameters.layer)
    let end = count == -1 ? rank : first + count
    try parameters.require(
      end <= rank, "num_axes",
      "it needs \(count) axes from axis \(first) on; the bottom has \(rank)")
    range = first..<end
    shape = Array(input.shape[range])
    if let second, second.shape != shape {
      throw parameters.layer.error(
        "its second bottom \(second.shapeText) does not fit axis \(first) of \(input.shapeText)")
    }
    positions = range.filter { input.shape[$0] != 1 }.map { input.axes[$0] }
  }

  init(channelsOf input: CaffeTensor, axis: Int = 1) {
    range = axis..<axis + 1
    shape = [input.shape[axis]]
    positions = [input.axes[axis]]
  }

  /// The Core ML axes of a second bottom that is an input, if the first one is an image.
  static func inputAxes(_ parameters: CaffeParameters, bottom index: Int, shape: [Int]) -> [Int]? {
    guard index == 1, let axis = try? parameters.int("axis") else { return nil }
    let first = axis < 0 ? axis + 4 : axis
    guard first >= 0, first + shape.count <= 4 else { return nil }
    return Array(first + 1..<first + 1 + shape.count)
  }

  /// The batch axis of the first bottom, if the broadcast operand has the same batch or none.
  static func batchAxis(_ layer: LayerCall, _ parameters: CaffeParameters) throws -> Int? {
    guard let batch = layer.input.batch else { return nil }
    let second = layer.inputs.dropFirst().first
    let range = try BroadcastAxes(parameters, layer.input, second).range
    guard range.contains(batch.axis) else { return second?.batch == nil ? batch.axis : nil }
    let own = OmittedBatch(axis: batch.axis - range.lowerBound, size: batch.size)
    return second?.batch == own ? batch.axis : nil
  }

  /// Whether it has one value per Core ML channel.
  var isChannel: Bool { range.count == 1 && positions.allSatisfy { $0 == Placement.channel } }
}

extension CaffeWriter {
  /// The second bottom with its axes in the same positions as in the first one.
  fileprivate mutating func broadcasting(
    _ second: CaffeTensor, _ covered: BroadcastAxes, _ first: CaffeTensor, _ layer: LayerCall
  ) throws -> String {
    blob(of: second, axes: Array(first.axes[covered.range]), layer)
  }

  /// scale · x + bias
  mutating func scaled(
    _ input: CaffeTensor, _ covered: BroadcastAxes, _ factors: FloatValues, _ bias: FloatValues?,
    _ layer: LayerCall
  ) throws -> CaffeTensor {
    let (name, output) = (layer.name, layer.tops[0])
    if let (shape, values) = try broadcast(factors, covered, input) {
      var scale = CoreMLModel.Scale()
      scale.shapeScale = shape
      scale.scale = Weights(values)
      if let bias, let (shape, values) = try broadcast(bias, covered, input) {
        scale.hasBias = true
        scale.shapeBias = shape
        scale.bias = Weights(values)
      }
      return input.with(add(name, scale, [input.blob], to: output))
    }
    let constant = exactConstant(factors, covered, input, name + "_scale")
    let product = add(
      bias == nil ? name : name + "_product", MultiplyBroadcastable(), [input.blob, constant],
      to: bias == nil ? output : nil)
    guard let bias else { return input.with(product) }
    return try shifted(input.with(product), covered, bias, name, to: output)
  }

  /// x + bias
  mutating func shifted(
    _ input: CaffeTensor, _ covered: BroadcastAxes, _ values: FloatValues, _ name: String,
    to output: String? = nil
  ) throws -> CaffeTensor {
    if let (shape, values) = try broadcast(values, covered, input) {
      var bias = CoreMLModel.Bias()
      bias.shape = shape
      bias.bias = Weights(values)
      return input.with(add(name, bias, [input.blob], to: output))
    }
    let constant = exactConstant(values, covered, input, name + "_bias")
    return input.with(add(name, AddBroadcastable(), [input.blob, constant], to: output))
  }

  /// The values in a shape that Core ML broadcasts: `[1]`, `[C]`, `[1, H, W]` or `[C, H, W]`. Nil
  /// if they vary along Seq or Batch.
  private func broadcast(
    _ values: FloatValues, _ covered: BroadcastAxes, _ input: CaffeTensor
  ) throws -> (shape: [Int], values: FloatValues)? {
    let positions = covered.positions
    if positions.isEmpty { return ([1], values.shaped([values.count])) }
    if positions == [Placement.channel] { return ([values.count], values.shaped([values.count])) }
    guard positions.allSatisfy({ $0 >= Placement.channel }) else { return nil }
    let blob = input.blobShape
    var target = [1, blob[Placement.height], blob[Placement.width]]
    if positions.contains(Placement.channel) { target[0] = blob[Placement.channel] }
    // Strides of the values along C, H and W; 0 along repeated axes.
    var strides = [0, 0, 0]
    var stride = 1
    let sizes = covered.shape.filter { $0 != 1 }
    for (position, size) in zip(positions, sizes).reversed() {
      strides[position - Placement.channel] = stride
      stride *= size
    }
    let source = try values.array()
    var result = [Float]()
    result.reserveCapacity(try computedCount(target, limit: Limits.computedElements))
    for c in 0..<target[0] {
      for y in 0..<target[1] {
        for x in 0..<target[2] {
          result.append(source[c * strides[0] + y * strides[1] + x * strides[2]])
        }
      }
    }
    return (target, FloatValues(result))
  }

  /// A constant of exact rank that can be broadcast to the input's blob.
  private mutating func exactConstant(
    _ values: FloatValues, _ covered: BroadcastAxes, _ input: CaffeTensor, _ name: String
  ) -> String {
    let order = covered.range.map { input.axes[$0] }
    let sorted = order.indices.sorted { order[$0] < order[$1] }
    var shape = [Int](repeating: 1, count: 5)
    for (position, size) in zip(order, covered.shape) { shape[position] = size }
    var constant = LoadConstantND()
    constant.shape = shape
    constant.data = Weights(values.shaped(covered.shape).transposed(sorted))
    return add(name, constant, [])
  }

  /// Folds the factors into gamma and beta of the normalization that produced `input`, since
  /// Caffe's BatchNorm has neither.
  fileprivate mutating func joinBatchnorm(
    _ input: CaffeTensor, _ covered: BroadcastAxes, _ factors: FloatValues, _ bias: FloatValues?
  ) -> Bool {
    guard input.readers <= 1, covered.isChannel, factors.count == input.blobShape[Placement.channel]
    else { return false }
    return writer.edit(producerOf: input.blob) { layer in
      guard var norm = layer.parameters as? Batchnorm,
        norm.channels == factors.count,
        norm.gamma?.floatValue.contains(where: { $0 != 1 }) == false,
        norm.beta?.floatValue.contains(where: { $0 != 0 }) == false
      else { return false }
      norm.gamma = Weights(factors)
      if let bias { norm.beta = Weights(bias) }
      layer.parameters = norm
      return true
    }
  }
}
