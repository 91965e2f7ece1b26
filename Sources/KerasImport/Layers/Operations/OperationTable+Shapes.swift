import CoreMLModel
import ImportSupport
import TensorCore

extension OperationTable {
  /// Other orders and groupings of the same elements, and tensors side by side.
  static let shapes: [Operation] = [
    Operation("shape") { call, _ in
      let tensor = try call.input
      return [
        KerasTensor(
          blob: "", shape: [], layout: TensorLayout(axes: []),
          sizes: KnownSizes(values: tensor.shape))
      ]
    },
    Operation("reshape") { call, network in
      let input = try call.input
      guard let shape = try call.ints(1, "shape", "newshape", "new_shape", "target_shape") else {
        throw call.layer.error("it is called without a shape")
      }
      return try call.reshaped(input, shape, into: &network)
    },
    Operation("flatten", "ravel", "batchflatten") { call, network in
      let input = try call.input
      return try call.convert([input], as: "Flatten", [:], into: &network)
    },
    Operation("transpose", "permutedimensions") { call, network in
      let input = try call.input
      let order = try call.ints(1, "perm", "axes", "pattern")
      return [try call.transposed(input, order ?? (0..<input.rank).reversed(), into: &network)]
    },
    Operation("swapaxes") { call, network in
      let input = try call.input
      let a = try call.axis(call.int(1, "axis1", default: -1), of: input)
      let b = try call.axis(call.int(2, "axis2", default: -2), of: input)
      var order = Array(0..<input.rank)
      order.swapAt(a, b)
      return [try call.transposed(input, order, into: &network)]
    },
    Operation("expanddims") { call, network in
      let input = try call.input
      let axis = try call.int(1, "axis", default: -1)
      let index = axis < 0 ? input.rank + 1 + axis : axis
      guard let output = input.inserting(at: index) else {
        throw call.layer.unsupported("one more axis for \(input.shapeText) at \(axis)")
      }
      return [network.settled(output, for: call.name)]
    },
    Operation("squeeze") { call, network in
      let input = try call.input
      let named = try call.ints(1, "axis", "squeeze_dims")
      let axes =
        try named.map { try Set($0.map { try call.axis($0, of: input) }) }
        ?? Set((1..<input.rank).filter { input.shape[$0] == 1 })
      guard axes.allSatisfy({ input.shape[$0] == 1 }) else {
        throw call.layer.error("axes of one element are wanted of \(input.shapeText)")
      }
      return [network.settled(input.without(axes), for: call.name)]
    },
    Operation("concat", "concatenate", "concatv2") { call, network in
      if let sizes = try call.joinedSizes() { return [sizes] }
      let axis = try call.int(1, "axis", default: 0)
      return try network.concatenated(axis: axis, call.call(call.inputs))
    },
    Operation("stack", "pack") { call, network in
      if let sizes = try call.joinedSizes() { return [sizes] }
      let axis = try call.int(1, "axis", default: 0)
      let tensors = try call.inputs
      guard let first = tensors.first else { throw call.layer.error("it has no inputs") }
      let index = axis < 0 ? first.rank + 1 + axis : axis
      let raised = try tensors.map { tensor -> KerasTensor in
        guard let raised = tensor.inserting(at: index) else {
          throw call.layer.unsupported("one more axis for \(tensor.shapeText) at \(axis)")
        }
        return network.settled(raised, for: call.name)
      }
      return try network.concatenated(axis: index, call.call(raised))
    },
    Operation("tile") { call, network in
      let input = try call.input
      guard let counts = try call.ints(1, "multiples", "repeats", "n"), counts.count == input.rank
      else { throw call.layer.unsupported("as many repetitions as axes are wanted") }
      var output = input
      for (axis, count) in counts.enumerated() where count != 1 {
        guard axis > 0, (2...256).contains(count) else {
          throw call.layer.unsupported("repeating \(counts) times")
        }
        output = try network.concatenated(
          axis: axis,
          call.call([KerasTensor](repeating: output, count: count), "__axis\(axis)__"))[0]
      }
      return [output]
    },
  ]
}

extension OperationCall {
  /// The tensor in another shape, the batch included.
  func reshaped(
    _ input: KerasTensor, _ shape: [Int], into network: inout NetworkWriter
  ) throws -> [KerasTensor] {
    var target = Array(shape.dropFirst())
    let known = try checkedProduct(target.filter { $0 > 0 }, limit: Limits.tensorElements)
    if target.isEmpty { throw layer.unsupported("a reshape of the batch") }
    // −1 in front is the batch where the rest holds one item.
    if shape[0] == -1, !target.contains(-1), let count = input.itemCount, count != known {
      throw layer.unsupported("a reshape of \(input.shapeText) to \(shape), across the batch")
    }
    if shape[0] == -1, target.filter({ $0 == -1 }).count > 1 {
      throw layer.unsupported("a reshape to \(shape), of which more than one size is unknown")
    }
    // Axes of unknown size keep theirs.
    for index in target.indices where target[index] == 0 { target[index] = -1 }
    return try convert(
      [input], as: "Reshape", ["target_shape": .array(target.map { .int($0) })], into: &network)
  }

  func transposed(
    _ input: KerasTensor, _ order: [Int], into network: inout NetworkWriter
  ) throws -> KerasTensor {
    guard order.sorted() == Array(0..<input.rank) else {
      throw layer.error("\(order) is no order of the axes of \(input.shapeText)")
    }
    guard order[0] == 0 else { throw layer.unsupported("a transposition of the batch") }
    var output = input
    output.shape = order.map { input.shape[$0] }
    output.layout = TensorLayout(axes: order.dropFirst().map { input.layout.axes[$0 - 1] })
    return network.settled(output, for: name)
  }

  /// Sizes one after the other; nil where there are tensors among the inputs.
  func joinedSizes() throws -> KerasTensor? {
    guard case .list(let elements)? = argument(0, "values", "xs") else { return nil }
    var joined: [Int?] = []
    for element in elements {
      switch try operand(element) {
      case .tensor(let tensor):
        guard let sizes = tensor.sizes else { return nil }
        joined += sizes.values
      case .constant(let value):
        if let int = value.int {
          joined.append(int)
        } else {
          joined += (value.array ?? []).map(\.int)
        }
      }
    }
    return KerasTensor(
      blob: "", shape: [], layout: TensorLayout(axes: []), sizes: KnownSizes(values: joined))
  }
}
