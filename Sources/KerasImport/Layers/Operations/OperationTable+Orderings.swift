import CoreMLModel
import TensorCore

extension OperationTable {
  /// Indices of the largest and smallest elements, sorting, and cumulative sums.
  static let orderings: [Operation] = [
    Operation("argmax") { try $0.extremum(isLargest: true, &$1) },
    Operation("argmin") { try $0.extremum(isLargest: false, &$1) },
    Operation("topk", "topkv2") { call, input, network in
      let count = try call.int(1, "k", default: 1)
      guard let length = input.channels, (1...length).contains(count) else {
        throw call.layer.error("\(count) of the last axis of \(input.shapeText)")
      }
      return try call.ordered(input, input.rank - 1, count: count, smallest: false, &network)
    },
    Operation("sort") { call, input, network in
      let axis = try call.axis(call.int(1, "axis", default: -1), of: input)
      let direction = try call.string(2, "direction", default: "ASCENDING").uppercased()
      let length = try input.shape[axis].orThrow(
        call.layer.unsupported("sorting an axis of unknown size is not supported"))
      let results = try call.ordered(
        input, axis, count: length, smallest: direction == "ASCENDING", &network)
      return [results[0]]
    },
    Operation("argsort") { call, input, network in
      let axis = try call.axis(call.int(1, "axis", default: -1), of: input)
      var sort = ArgSort()
      sort.axis = input.layout.axes[axis - 1].blobIndex
      sort.descending =
        try call.string(2, "direction", default: "ASCENDING").uppercased() != "ASCENDING"
      return [input.with(network.add(call.name, sort, [input.blob]))]
    },
    Operation("cumsum") { call, input, network in
      let axis = try call.axis(call.int(1, "axis", default: 0), of: input)
      let isExclusive = try call.bool(2, "exclusive", default: false)
      let isReversed = try call.bool(3, "reverse", default: false)
      guard let length = input.shape[axis], length <= 512 else {
        var sum = CumSum()
        sum.axis = input.layout.axes[axis - 1].blobIndex
        sum.excludeFinalSum = isExclusive
        sum.reverse = isReversed
        return [input.with(network.add(call.name, sum, [input.blob]))]
      }
      // Multiplies by a triangular matrix of ones.
      let triangle = (0..<length).flatMap { row in
        (0..<length).map { column -> Float in
          let distance = isReversed ? column - row : row - column
          return distance > 0 || distance == 0 && !isExclusive ? 1 : 0
        }
      }
      return [
        network.axisProduct(
          input, axis: axis, Weights(triangle), inputs: length, outputs: length, call.name)
      ]
    },
    Operation("onehot") { call, network in
      guard case .tensor(let input) = try call.operand(0, "indices", "x") else {
        throw call.layer.unsupported("operations on constants are not supported")
      }
      let count = try call.int(1, "depth", "num_classes", default: 0)
      try call.layer.require(
        (1...4096).contains(count), unsupported: "\(count) positions are not supported")
      let on = try call.double(2, "on_value", default: 1)
      let off = try call.double(3, "off_value", default: 0)
      let axis = try call.int(nil, "axis", default: -1)
      try call.layer.require(
        axis == -1 || axis == input.rank,
        unsupported: "positions along axis \(axis) are not supported")
      var result = try network.categories(input, (0..<count).map { Float($0) }, call.call([input]))
      if on != 1 || off != 0 {
        result.blob = network.affine(
          result.blob, Float(on - off), Float(off), call.name + "__values__")
      }
      return [network.settled(result, for: call.name)]
    },
  ]
}

extension BlobAxis {
  /// The index of the axis in `[Seq, Batch, C, H, W]`.
  var blobIndex: Int { self == .sequence ? 0 : rawValue + 1 }
}

extension OperationCall {
  fileprivate func extremum(isLargest: Bool, _ network: inout KerasWriter) throws -> [KerasTensor] {
    var input = try self.input
    let named = try (ints(1, "axis", "dimension")?.first).orThrow(
      layer.unsupported("it needs an axis"))
    let axis = try self.axis(named, of: input)
    let axes = try ReducibleAxes([axis], of: input, layer)
    input = network.relaid(input, to: axes.layout, for: name)
    let blob =
      isLargest ? input.blob : network.affine(input.blob, -1, 0, name + "__neg__")
    input.blob = network.reduced(.argmax, .c, blob, name)
    input.shape[axis] = 1
    if try !bool(nil, "keepdims", default: false) { input = input.without([axis]) }
    return [network.settled(input, for: name)]
  }

  /// The `count` largest or smallest elements along an axis, in order, and their indices.
  fileprivate func ordered(
    _ input: KerasTensor, _ axis: Int, count: Int, smallest: Bool,
    _ network: inout KerasWriter
  ) throws -> [KerasTensor] {
    var order = TopK()
    order.axis = input.layout.axes[axis - 1].blobIndex
    order.count = count
    order.useBottomK = smallest
    let blobs = network.add(
      name, order, [input.blob], outputs: [name + "_output", name + "_output_places"])
    return blobs.map { blob in
      var output = input
      output.blob = blob
      output.shape[axis] = count
      return output
    }
  }
}
