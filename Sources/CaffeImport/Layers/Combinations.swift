import CoreMLModel
import Formulas
import ImportSupport
import TensorCore

private enum EltwiseOperation {
  case product, sum, maximum
}

extension CaffeLayerType {
  /// The bottoms concatenated along an axis
  static let concat = CaffeLayerType(
    SourceLayer(
      "Concat", becomes: "concat, wrapped in permutes if the axis is H or W",
      options: "`axis`, `concat_dim`, any"),
    batchAxis: besides { try $0.joinedAxis("concat_param", legacy: "concat_dim") }
  ) { layer, network in
    try layer.requireBottoms(1...Int.max)
    let axis = try layer.joinedAxis("concat_param", legacy: "concat_dim")
    for input in layer.inputs.dropFirst() {
      var expected = layer.inputs[0].shape
      try layer.require(
        input.shape.count == expected.count,
        "its bottoms \(layer.inputs[0].shapeText) and \(input.shapeText) have different ranks")
      expected[axis] = input.shape[axis]
      try layer.require(
        input.shape == expected,
        "its bottoms \(layer.inputs[0].shapeText) and \(input.shapeText) differ in more than axis "
          + "\(axis)")
    }
    if layer.inputs.count == 1 { return [network.copied(layer.inputs[0], layer)] }
    return [try network.joined(layer.inputs, axis: axis, layer, output: layer.tops[0])]
  }

  /// Parts of the bottom along an axis
  static let slice = CaffeLayerType(
    SourceLayer(
      "Slice", becomes: "split; a slice for each top",
      options: "`axis`, `slice_dim`, any; `slice_point`"),
    batchAxis: besides { try $0.joinedAxis("slice_param", legacy: "slice_dim") }
  ) { layer, network in
    let input = network.five(try layer.onlyInput, for: layer.name)
    let parameters = layer.parameters("slice_param")
    let axis = try layer.joinedAxis("slice_param", legacy: "slice_dim")
    let size = input.shape[axis]
    let count = layer.tops.count
    var points = try parameters.ints("slice_point", atLeast: 1)
    if points.isEmpty {
      try layer.require(
        count > 0 && size % count == 0, "\(size) elements cannot be split evenly into \(count) tops"
      )
      points = (1..<max(count, 1)).map { $0 * (size / count) }
    }
    try parameters.require(
      points.count == count - 1 && zip(points, points.dropFirst()).allSatisfy({ $0 < $1 })
        && points.allSatisfy({ $0 < size }), "slice_point",
      "slice points \(points) do not split \(size) elements into \(count) tops")
    if count == 1 { return [network.copied(input, layer)] }
    let bounds = [0] + points + [size]
    let isEven = Set(zip(bounds, bounds.dropFirst()).map { $1 - $0 }).count == 1
    if isEven, input.axes[axis] == Placement.channel {
      var split = Split()
      split.nOutputs = count
      var shape = input.shape
      shape[axis] = size / count
      return network.add(layer.name, split, [input.blob], outputs: layer.tops).map {
        input.with($0, shape: shape)
      }
    }
    return layer.tops.enumerated().map { index, top in
      network.sliced(
        input, axis: axis, bounds[index]..<bounds[index + 1],
        index == 0 ? layer.name : layer.part("\(index)"), output: top)
    }
  }

  /// The bottom repeated along an axis
  static let tile = CaffeLayerType(
    SourceLayer(
      "Tile", becomes: "concat of the bottom with itself; sequenceRepeat",
      options: "`axis`, `tiles`"),
    batchAxis: besides { try $0.joinedAxis("tile_param") }
  ) { layer, network in
    let input = network.five(try layer.onlyInput, for: layer.name)
    let parameters = layer.parameters("tile_param")
    let axis = try layer.joinedAxis("tile_param")
    let count = try parameters.int("tiles", atLeast: 1, atMost: Limits.writtenOutSteps)
    if count == 1 { return [network.copied(input, layer)] }
    if input.axes[axis] == Placement.sequence {
      var repetition = SequenceRepeat()
      repetition.nRepetitions = count
      var shape = input.shape
      shape[axis] = try checkedProduct([shape[axis], count], limit: Limits.dimension)
      return [network.add(repetition, input, as: layer, shape: shape)]
    }
    return [
      try network.joined(
        [CaffeTensor](repeating: input, count: count), axis: axis, layer, output: layer.tops[0])
    ]
  }

  /// Sum, product or maximum of several bottoms
  static let eltwise = CaffeLayerType(
    SourceLayer(
      "Eltwise",
      becomes: "add; multiply; max; a factor other than 1 becomes a linear activation before it",
      options: "`operation`, `coeff`; `stable_prod_grad` is for training"), batchAxis: elements
  ) { layer, network in
    try layer.requireBottoms(2...Int.max)
    let parameters = layer.parameters("eltwise_param")
    let operation = try parameters.choice(
      "operation",
      of: ["PROD": EltwiseOperation.product, "SUM": .sum, "MAX": .maximum])
    let factors = try parameters.floats("coeff")
    try parameters.require(
      factors.isEmpty || operation == .sum, "coeff",
      "coefficients with the operation \(parameters.symbol("operation"))",
      hint: "only SUM has coefficients")
    try parameters.require(
      factors.isEmpty || factors.count == layer.inputs.count, "coeff",
      "\(factors.count) coefficients for \(layer.inputs.count) bottoms")
    let first = network.five(layer.inputs[0], for: layer.name)
    var blobs = try layer.inputs.map { input in
      try layer.require(
        input.shape == first.shape,
        "its bottoms have the shapes \(first.shapeText) and \(input.shapeText); equal shapes are "
          + "needed")
      return network.blob(of: input, axes: first.axes, layer)
    }
    for (index, factor) in factors.enumerated() where factor != 1 {
      blobs[index] = network.affine(blobs[index], factor, layer.part("coeff\(index)"))
    }
    let top = layer.tops[0]
    switch operation {
    case .sum: return [first.with(network.sum(blobs, layer.name, to: top))]
    case .product: return [first.with(network.add(layer.name, Multiply(), blobs, to: top))]
    case .maximum: return [first.with(network.add(layer.name, Max(), blobs, to: top))]
    }
  }

  /// a[n, c] · x + y
  static let axpy = CaffeLayerType(SourceLayer("Axpy", becomes: "multiply, add")) {
    layer, network in
    try layer.requireBottoms(3...3)
    let x = network.five(layer.inputs[1], for: layer.name)
    let rank = x.shape.count
    try layer.require(
      rank >= 2 && layer.inputs[0].shape.count >= 2 && layer.inputs[0].shape.count <= rank
        && layer.inputs[0].shape[..<2] == x.shape[..<2]
        && layer.inputs[0].shape.dropFirst(2).allSatisfy({ $0 == 1 })
        && layer.inputs[2].shape == x.shape,
      "its bottoms have the shapes \(layer.inputs.map(\.shapeText).joined(separator: ", ")); "
        + "expected (N, C, 1, 1), (N, C, H, W) and (N, C, H, W)")
    let factor = network.blob(
      of: layer.inputs[0], axes: Array(x.axes[..<layer.inputs[0].shape.count]), layer)
    let y = network.blob(of: layer.inputs[2], axes: x.axes, layer)
    let product = network.product(factor, x.blob, layer.part("product"))
    return [x.with(network.sum([product, y], layer.name, to: layer.tops[0]))]
  }
}

extension CaffeWriter {
  /// The tensors concatenated along one of Caffe's axes, with the axis layout of the first.
  mutating func joined(
    _ tensors: [CaffeTensor], axis: Int, _ layer: LayerCall, output: String?
  ) throws -> CaffeTensor {
    var first = five(tensors[0], for: layer.name)
    let position = first.axes[axis]
    var shape = first.shape
    shape[axis] = try checkedSum(tensors.map { $0.shape[axis] }, limit: Limits.dimension)
    if tensors.allSatisfy({ $0.constant != nil }), shape.count <= 3 || shape[0] == 1 {
      return try joinedConstants(tensors, axis, shape, layer, output)
    }
    // Core ML concatenates along the sequence and channel axes.
    let own = first.axes
    if position == Placement.batch, !first.axes.contains(Placement.sequence),
      tensors.allSatisfy({ $0.shape[axis] == 1 })
    {
      first = placed(first, axis: axis, in: Placement.sequence, for: layer.name)
    } else if position != Placement.sequence, position != Placement.channel {
      first = placed(first, axis: axis, in: Placement.channel, for: layer.name)
    }
    let isSequence = first.axes[axis] == Placement.sequence
    let blobs = tensors.map {
      blob(of: $0, axes: first.axes, layer)
    }
    let isMoved = first.axes != own && position != Placement.batch
    let result = first.with(
      joined(blobs, alongSequence: isSequence, layer.name, to: isMoved ? nil : output),
      shape: shape)
    return isMoved ? placed(result, axes: own, for: layer.part("back")) : result
  }

  private mutating func joinedConstants(
    _ tensors: [CaffeTensor], _ axis: Int, _ shape: [Int], _ layer: LayerCall, _ output: String?
  ) throws -> CaffeTensor {
    let outer = try checkedProduct(shape[..<axis])
    let arrays = try tensors.map { tensor in
      (try tensor.constant?.array() ?? [], try checkedProduct(tensor.shape[axis...]))
    }
    var values: [Float] = []
    values.reserveCapacity(try computedCount(shape, limit: Limits.computedElements))
    for index in 0..<outer {
      for (array, run) in arrays { values += array[index * run..<(index + 1) * run] }
    }
    return constant(FloatValues(values).shaped(shape), layer.name, output: output)
  }

  /// A constant with Caffe's shape, of which up to three axes may be longer than 1.
  mutating func constant(
    _ values: FloatValues, _ name: String, output: String? = nil
  ) -> CaffeTensor {
    let shape = values.shape
    var sizes = Array(shape.suffix(3))
    var axes = CaffeTensor.standardAxes(shape.count)
    switch shape.count {
    case 0: sizes = [1, 1, 1]
    case 1: sizes = [shape[0], 1, 1]
    case 2:
      axes = shape[0] == 1 ? axes : [Placement.channel, Placement.height]
      sizes = shape[0] == 1 ? [shape[1], 1, 1] : shape + [1]
    default: break
    }
    let blob: String
    if shape.dropLast(3).allSatisfy({ $0 == 1 }) {
      blob = constant(sizes, values, name, to: output)
    } else {
      var constant = LoadConstantND()
      constant.shape = [Int](repeating: 1, count: 5 - shape.count) + shape
      constant.data = Weights(values)
      blob = add(name, constant, [], to: output)
    }
    var result = CaffeTensor(blob, shape, axes: axes)
    result.constant = values
    return result
  }

  /// The elements `range` along one of Caffe's axes.
  mutating func sliced(
    _ tensor: CaffeTensor, axis: Int, _ range: Range<Int>, _ name: String, output: String? = nil
  ) -> CaffeTensor {
    let input = five(tensor, for: name)
    var shape = input.shape
    shape[axis] = range.count
    if range.count == input.shape[axis] { return input }
    var moved = input
    if input.axes[axis] < Placement.channel {
      moved = placed(input, axis: axis, in: Placement.channel, for: name)
    }
    let position: Slice.Axis =
      switch moved.axes[axis] {
      case Placement.height: .height
      case Placement.width: .width
      default: .channel
      }
    let isMoved = moved.axes != input.axes
    let result = moved.with(
      slice(moved.blob, range, of: position, name, to: isMoved ? nil : output), shape: shape)
    return isMoved ? placed(result, axes: input.axes, for: name + "_back") : result
  }
}

extension LayerCall {
  /// The axis of Concat and Slice, which had other field names in earlier versions.
  func joinedAxis(
    _ settings: String, legacy: String = "axis", default standard: Int? = nil
  ) throws -> Int {
    let parameters = self.parameters(settings)
    return try parameters.axis(
      parameters.has(legacy) ? legacy : "axis", of: input, default: standard)
  }
}
