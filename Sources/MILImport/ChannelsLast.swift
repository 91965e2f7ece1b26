import CoreMLModel
import TensorCore

/// Programs converted from TensorFlow are channels-last, except in convolutions and pooling.
/// Transposes to channels-last move behind layers that compute the same in any axis order. There
/// they meet the transposes back, and both cancel.
extension OperationCall {
  /// The result of a layer whose inputs have just been transposed to channels-last, computed from
  /// the arrays before the transposes; nil if the layer or an input does not allow it.
  func beforeChannelsMove(
    _ parameters: any LayerParameters, _ inputs: [ProgramValue], _ type: MILDataType
  ) throws -> ProgramValue? {
    guard let rank = inputs.map(\.rank).max(), rank >= 4 else { return nil }
    let order = [0] + Array(2..<rank) + [1]
    var sources: [ProgramValue] = []
    for input in inputs {
      if let source = source(of: input, movedBy: order) {
        sources.append(source)
      } else if input.constant != nil, input.shape.allSatisfy({ $0 == 1 }), inputs.count > 1 {
        sources.append(input)
      } else {
        return nil
      }
    }
    let moved = sources.filter { $0.rank == rank && $0.constant == nil }
    guard let first = moved.first, moved.allSatisfy({ $0.shape == first.shape }) else { return nil }
    if parameters.isElementwise {
      return try transposed(addAll(parameters, sources, types: [type])[0], order)
    }
    guard sources.count == 1 else { return nil }
    if let reduction = parameters as? any AxesReductionLayer {
      return try reduced(reduction, first, order, type)
    }
    if var slice = parameters as? SliceStatic, !slice.squeezeMasks.contains(true) {
      // Only checks that the slice is valid.
      _ = try slice.lengths(inputs[0].blobShape)
      slice.move(order)
      return try transposed(add(slice, first, type: type), order)
    }
    return nil
  }

  /// The array that a transpose with this order converts to `value`.
  private func source(of value: ProgramValue, movedBy order: [Int]) -> ProgramValue? {
    guard value.rank == order.count, let blob = value.blob,
      let (axes, input) = lowering.transpose(giving: blob), axes == order
    else { return nil }
    var source = value
    source.content = .blob(input)
    for (axis, index) in order.enumerated() { source.shape[index] = value.shape[axis] }
    return source
  }

  private func reduced(
    _ layer: some AxesReductionLayer, _ x: ProgramValue, _ order: [Int], _ type: MILDataType
  ) throws -> ProgramValue? {
    var layer = layer
    if layer.reduceAll { return nil }
    layer.axes = try ArrayShape.axes(layer.axes, rank: x.rank).map { order[$0] }
    if layer.keepDims { return try transposed(add(layer, x, type: type), order) }
    // Without the reduced axes, the remaining ones must already be in order.
    let rest = order.filter { !layer.axes.contains($0) }
    return rest == rest.sorted() && !rest.isEmpty ? try add(layer, x, type: type) : nil
  }
}

extension LayerParameters {
  /// Whether each element of the result depends only on the same element of inputs of the same
  /// shape.
  fileprivate var isElementwise: Bool {
    switch self {
    case let activation as Activation:
      activation.function?.row.weights.isEmpty == true
    case is AddBroadcastable, is SubtractBroadcastable, is MultiplyBroadcastable,
      is DivideBroadcastable, is MaxBroadcastable, is MinBroadcastable, is Unary, is Clip, is Gelu,
      is Tanh, is Erf:
      true
    default: false
    }
  }
}

extension SliceStatic {
  /// Changes the slice to apply before a transpose with this order instead of after it.
  fileprivate mutating func move(_ order: [Int]) {
    func moved<Value>(_ values: [Value]) -> [Value] {
      var result = values
      for (axis, index) in order.enumerated() where values.indices.contains(axis) {
        result[index] = values[axis]
      }
      return result
    }
    (beginIds, endIds, strides) = (moved(beginIds), moved(endIds), moved(strides))
    (beginMasks, endMasks) = (moved(beginMasks), moved(endMasks))
  }
}
