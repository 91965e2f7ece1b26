import CoreMLModel
import Formulas
import ImportSupport
import TensorCore

extension CaffeLayerType {
  /// coeff · Σ x, Σ |x|, Σ x² or the mean, over all axes from `axis` on
  static let reduction = CaffeLayerType(
    SourceLayer(
      "Reduction", becomes: "reduce; a linear activation if there is a factor",
      options: "`operation`, `axis`, `coeff`")
  ) { layer, network in
    let input = network.five(try layer.onlyInput, for: layer.name)
    let parameters = layer.parameters("reduction_param")
    let mode: Reduce.Operation = try parameters.choice(
      "operation", of: ["SUM": .sum, "ASUM": .l1, "SUMSQ": .sumsquare, "MEAN": .avg])
    let axis = try parameters.axis(of: input)
    let factor = try parameters.float("coeff")
    let (source, range, outer) = try network.reducible(input, from: axis, layer)
    let top = layer.tops[0]
    var blob = network.reduced(
      mode, range, source.blob, factor == 1 ? layer.name : layer.part("sum"),
      to: factor == 1 ? top : nil)
    if factor != 1 { blob = network.affine(blob, factor, layer.name, to: top) }
    let result = CaffeTensor(
      blob, Array(source.shape[..<outer]), axes: Array(source.axes[..<outer]))
    let shape = Array(input.shape[..<axis])
    if result.shape == shape { return [result] }
    return [try network.reshaped(result, to: shape, layer, name: layer.part("items"))]
  }.withBatchAxis { layer, batch in
    let first = try layer.parameters("reduction_param").axis(of: layer.onlyInput)
    return batch.axis < first ? batch.axis : nil
  }
}

extension CaffeWriter {
  /// The tensor with the axes from `first` on at Core ML axes that one reduction covers.
  fileprivate mutating func reducible(
    _ input: CaffeTensor, from first: Int, _ layer: LayerCall
  ) throws -> (CaffeTensor, Reduce.Axis, outer: Int) {
    let longer = input.shape.indices.filter { input.shape[$0] != 1 }
    let inner = Set(longer.filter { $0 >= first }.map { input.axes[$0] })
    let outer = Set(longer.filter { $0 < first }.map { input.axes[$0] })
    let candidates: [(Reduce.Axis, Set<Int>)] = [
      (.chw, [2, 3, 4]), (.hw, [3, 4]), (.c, [2]), (.h, [3]), (.w, [4]),
    ]
    for (range, positions) in candidates
    where inner.isSubset(of: positions) && outer.isDisjoint(with: positions) {
      return (input, range, first)
    }
    let vectors = try vectors(input, from: first, layer)
    return (vectors, .chw, vectors.shape.count - 1)
  }
}

extension CaffeLayerType {
  /// The indices of the largest elements, their values, or both
  static let argMax = CaffeLayerType(
    SourceLayer(
      "ArgMax", becomes: "reduce argmax and max; topK if `top_k` is more than 1 (specification 4)",
      options: "`axis`, `top_k`, `out_max_val`; for ties Core ML returns the first, Caffe the "
        + "last")
  ) { layer, network in
    let input = network.five(try layer.onlyInput, for: layer.name)
    let parameters = layer.parameters("argmax_param")
    let count = try parameters.int("top_k", atLeast: 1)
    let givesValues = try parameters.bool("out_max_val")
    if parameters.has("axis") {
      let axis = try parameters.axis(of: input)
      try parameters.require(
        count <= input.shape[axis], "top_k",
        "top_k is \(count), but the axis has \(input.shape[axis]) elements")
      let positions = try network.largest(
        input, axis: axis, count, [(givesValues ? .values : .positions, layer.tops[0])], layer)
      return positions
    }
    guard input.shape.count >= 1 else { throw layer.error("its bottom is a scalar") }
    // The maximum is over each whole item; the result is (N, 1 or 2, top_k, 1, …).
    let total = try input.count(1..<input.shape.count)
    try parameters.require(count <= total, "top_k", "\(count) of \(total) elements")
    var shape = [Int](repeating: 1, count: max(3, input.shape.count))
    shape[0] = input.shape[0]
    shape[1] = givesValues ? 2 : 1
    shape[2] = count
    let flat = try network.vectors(input, from: 1, layer)
    let results = try network.largest(
      flat, axis: 1, count,
      givesValues ? [(.positions, nil), (.values, nil)] : [(.positions, layer.tops[0])], layer)
    if results.count == 1 {
      return [try network.reshaped(results[0], to: shape, layer, name: layer.part("shape"))]
    }
    let pair = try network.joined(results, axis: 1, layer, output: layer.tops[0])
    return [try network.reshaped(pair, to: shape, layer, name: layer.part("shape"))]
  }.withBatchAxis { layer, batch in
    let parameters = layer.parameters("argmax_param")
    guard parameters.has("axis") else { return batch.axis == 0 ? 0 : nil }
    let axis = try parameters.axis(of: layer.onlyInput)
    return layer.sharesBatch && batch.axis != axis ? batch.axis : nil
  }
}

private enum Extremum {
  case positions
  case values
}

extension CaffeWriter {
  /// The largest elements along an axis.
  fileprivate mutating func largest(
    _ tensor: CaffeTensor, axis: Int, _ count: Int, _ wanted: [(Extremum, output: String?)],
    _ layer: LayerCall
  ) throws -> [CaffeTensor] {
    var shape = tensor.shape
    shape[axis] = count
    if count > 1 {
      var top = TopK()
      top.axis = tensor.axes[axis]
      top.count = count
      let blobs = add(
        layer.part("top"), top, [tensor.blob],
        outputs: [layer.part("values"), layer.part("places")])
      return wanted.map { tensor.with(blobs[$0.0 == .values ? 0 : 1], shape: shape) }
    }
    var source = tensor
    if tensor.axes[axis] < Placement.channel {
      source = placed(tensor, axis: axis, in: Placement.channel, for: layer.name)
    }
    let range: Reduce.Axis =
      switch source.axes[axis] {
      case Placement.height: .h
      case Placement.width: .w
      default: .c
      }
    return wanted.enumerated().map { index, pair in
      let (extremum, output) = pair
      return source.with(
        reduced(
          extremum == .values ? .max : .argmax, range, source.blob,
          index == 0 ? layer.name : layer.part("values"), to: output), shape: shape)
    }
  }
}
