import CoreMLModel
import Formulas
import ImportSupport
import TensorCore

/// The same elements with another shape
enum ReshapeLayer: SingleInputConverter {
  static let source = SourceLayer(
    "Reshape",
    becomes: "reshape; reshapeStatic if it mixes a batch larger than 1",
    options: "`shape` with 0 and −1, `axis`, `num_axes`",
    refused: "more than five axes, which Core ML's blobs cannot have")

  static func batchAxis(_ layer: LayerCall, _ batch: OmittedBatch) throws -> Int? {
    let whole = layer.input.wholeShape
    return batch.axis(reshaping: whole, to: try shape(layer, of: whole))
  }

  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor {
    let input = layer.input
    var shape = try shape(layer, of: input.wholeShape)
    if let batch = input.batch, let axis = batch.axis(reshaping: input.wholeShape, to: shape) {
      shape[axis] = 1
    }
    return try network.reshaped(input, to: shape, layer, output: layer.tops[0])
  }

  private static func shape(_ layer: LayerCall, of shape: [Int]) throws -> [Int] {
    let parameters = layer.parameters("reshape_param")
    let rank = shape.count
    let first = try parameters.int("axis", default: 0)
    // The axis may be one past the last.
    let start = first >= 0 ? first : rank + first + 1
    let count = try parameters.int("num_axes", default: -1, atLeast: -1)
    let end = count == -1 ? rank : start + count
    try parameters.require(
      (0...rank).contains(start) && (start...rank).contains(end), "axis",
      "axes \(start) to \(end) do not exist in its bottom \(layer.input.shapeText)")
    let shapeParameters = parameters.message("shape")
    let dims = try shapeParameters.ints("dim", atLeast: -1)
    return try sizes(dims, of: shape, start..<end, shapeParameters)
  }

  private static func sizes(
    _ dims: [Int], of shape: [Int], _ range: Range<Int>, _ parameters: CaffeParameters
  ) throws -> [Int] {
    var sizes: [Int] = []
    for (index, dim) in dims.enumerated() {
      if dim != 0 {
        sizes.append(dim)
        continue
      }
      // 0 copies the size of the axis at the same index.
      try parameters.require(
        range.lowerBound + index < shape.count, "dim",
        "0 copies axis \(range.lowerBound + index), which its bottom \(shape) lacks")
      sizes.append(shape[range.lowerBound + index])
    }
    try parameters.require(
      sizes.filter({ $0 == -1 }).count <= 1, "dim", "\(dims) contains −1 more than once")
    let total = try checkedProduct(shape[range], limit: Limits.tensorElements)
    let known = try checkedProduct(sizes.filter { $0 != -1 }, limit: Limits.tensorElements)
    let isOpen = sizes.contains(-1)
    try parameters.require(
      isOpen ? known > 0 && total % known == 0 : known == total, "dim",
      "\(dims) does not match the \(total) elements of its bottom \(shape)")
    if isOpen { sizes = sizes.map { $0 == -1 ? total / known : $0 } }
    var result = shape
    result.replaceSubrange(range, with: sizes)
    return result
  }
}

/// Several axes merged into one
enum FlattenLayer: SingleInputConverter {
  static let source = SourceLayer(
    "Flatten", becomes: "flatten; reshape for axes other than the last three",
    options: "`axis`, `end_axis`")

  static func batchAxis(_ layer: LayerCall, _ batch: OmittedBatch) throws -> Int? {
    let (first, last) = try axes(layer)
    return batch.axis < first ? batch.axis : batch.axis > last ? batch.axis - (last - first) : nil
  }

  private static func axes(_ layer: LayerCall) throws -> (first: Int, last: Int) {
    let parameters = layer.parameters("flatten_param")
    let first = try layer.input.axis(parameters.int("axis"), "flatten_param.axis", of: layer)
    let last = try layer.input.axis(parameters.int("end_axis"), "flatten_param.end_axis", of: layer)
    try parameters.require(first <= last, "end_axis", "end_axis \(last) is before axis \(first)")
    return (first, last)
  }

  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor {
    let input = layer.input
    let (first, last) = try axes(layer)
    let count = try input.count(first..<last + 1)
    var shape = input.shape
    shape.replaceSubrange(first...last, with: [count])
    let isImage =
      input.rank == 5 && first == 1 && last == 3 && input.constant == nil
      && Array(input.axes.dropFirst()) == [Placement.channel, Placement.height, Placement.width]
    if isImage {
      return CaffeTensor(
        network.add(layer.name, Flatten(), [input.blob], to: layer.tops[0]), shape,
        axes: [input.axes[0], Placement.channel])
    }
    return try network.reshaped(input, to: shape, layer, output: layer.tops[0])
  }
}

/// A permutation of the axes (SSD)
enum PermuteLayer: CaffeLayerConverter {
  static let source = SourceLayer(
    "Permute", becomes: "permute; transpose if a batch larger than 1 moves", options: "`order`")

  static func batchAxis(_ layer: LayerCall, _ batch: OmittedBatch) throws -> Int? {
    try order(layer).firstIndex(of: batch.axis)
  }

  private static func order(_ layer: LayerCall) throws -> [Int] {
    let parameters = layer.parameters("permute_param")
    var order = try parameters.ints("order", atLeast: 0)
    let rank = layer.input.shape.count
    // Axes that are not listed follow in ascending order.
    order += (0..<rank).filter { !order.contains($0) }
    try parameters.require(
      order.sorted() == Array(0..<rank), "order",
      "\(order) is not a permutation of the \(rank) axes")
    return order
  }

  static func convert(_ layer: LayerCall, _ network: inout CaffeWriter) throws -> [CaffeTensor] {
    let input = network.five(try layer.onlyInput, for: layer.name)
    let order = try order(layer)
    let rank = order.count
    var permuted = input
    permuted.shape = order.map { input.shape[$0] }
    permuted.axes = order.map { input.axes[$0] }
    permuted.constant = nil
    var target = CaffeTensor.standardAxes(rank)
    // The batch axis gets no axis longer than 1; an axis on the sequence axis may stay there.
    if let batch = target.firstIndex(of: Placement.batch), permuted.shape[batch] != 1,
      permuted.axes[batch] != Placement.batch
    {
      target = CaffeWriter.orderedAxes(permuted.shape)
    }
    return [network.placed(permuted, axes: target, for: layer.name)]
  }
}
