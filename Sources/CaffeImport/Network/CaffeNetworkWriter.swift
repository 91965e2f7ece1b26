import CoreMLModel
import ImportSupport
import TensorCore

/// Collects the Core ML layers that Caffe layers become.
struct CaffeNetworkWriter: LayerWriting {
  var writer: LayerWriter
  /// How unknown layers, and those that Core ML cannot express, become custom layers.
  let rules: CustomLayerRules
  /// The first size of an input in the file, where the interface leaves it out; Caffe's own sizes may
  /// name it.
  var declaredBatch: Int?
  private var moves: [Move: CaffeTensor] = [:]

  private struct Move: Hashable {
    var blob: String
    var axes: [Int]
    var target: [Int]
    var rank: Int
  }

  init(rules: CustomLayerRules, onVisit: (@Sendable (String) -> Void)?) {
    self.rules = rules
    writer = LayerWriter(onVisit: onVisit)
  }

  /// Forgets the layers of an attempt that failed, and what refers to them.
  mutating func forget() {
    abandon()
    moves = [:]
  }

  /// Hands the layer that made `blob` to `body`, so that a later layer can become part of it; returns
  /// what `body` does, or false where there is no such layer.
  mutating func edit(
    producerOf blob: String, _ body: (inout NeuralNetworkLayer) -> Bool
  ) -> Bool { writer.edit(producerOf: blob, body) }

  /// The tensor as `[Seq, Batch, C, H, W]` with Caffe's axes in the given places, by default the
  /// standard ones. Where data have to move, a permute layer moves them, or, where the batch is among
  /// them or the blob is of exact rank, layers of specification 4.
  ///
  /// - Parameter name: the layer for which it is done; it names what is added.
  mutating func placed(
    _ tensor: CaffeTensor, axes target: [Int]? = nil, for name: String
  ) -> CaffeTensor {
    let target = target ?? CaffeTensor.standardAxes(tensor.shape.count)
    if tensor.rank == 5, tensor.axes == target { return tensor }
    let move = Move(blob: tensor.blob, axes: tensor.axes, target: target, rank: 5)
    if let known = moves[move] { return known }
    var result = tensor
    result.axes = target
    if tensor.rank == 5 {
      let isUnmoved = zip(tensor.axes, target).enumerated().allSatisfy {
        tensor.shape[$0] == 1 || $1.0 == $1.1
      }
      if isUnmoved { return result }
      // Where an axis of length 1 goes makes no difference.
      let moved = tensor.axes.indices.filter { tensor.shape[$0] != 1 }
      let order = Self.permutation(
        5, from: moved.map { tensor.axes[$0] }, to: moved.map { target[$0] })
      if order[1] == 1 {
        var permute = Permute()
        permute.axis = [0, 2, 3, 4].map { order[$0] == 0 ? 0 : order[$0] - 1 }
        result.blob = add("\(name)_permute", permute, [tensor.blob], to: "\(tensor.blob)_permuted")
      } else {
        result.blob = transposed(tensor.blob, order, name)
      }
    } else {
      // Caffe's axes in the order of their places, then the axes of length 1 between them.
      let order = tensor.axes.indices.sorted { target[$0] < target[$1] }
      let exact = self.exact(tensor, for: name)
      var blob = exact.blob
      if order != Array(order.indices) { blob = transposed(blob, order, name) }
      let missing = (0..<5).filter { !target.contains($0) }
      if !missing.isEmpty {
        var expand = ExpandDims()
        expand.axes = missing
        blob = add("\(name)_expand", expand, [blob], to: "\(tensor.blob)_expanded")
      }
      result.blob = blob
      result.rank = 5
    }
    moves[move] = result
    return result
  }

  /// The tensor with Caffe's own axes, which takes layers of specification 4.
  mutating func exact(_ tensor: CaffeTensor, for name: String) -> CaffeTensor {
    if tensor.isExact { return tensor }
    let move = Move(
      blob: tensor.blob, axes: tensor.axes, target: Array(tensor.shape.indices),
      rank: tensor.shape.count)
    if let known = moves[move] { return known }
    var result = tensor
    result.axes = Array(tensor.shape.indices)
    result.rank = tensor.shape.count
    let unused = (0..<tensor.rank).filter { !tensor.axes.contains($0) }
    if !unused.isEmpty {
      var squeeze = Squeeze()
      squeeze.axes = unused
      result.blob = add("\(name)_squeeze", squeeze, [result.blob], to: "\(tensor.blob)_squeezed")
    }
    let kept = tensor.axes.sorted()
    let order = tensor.axes.compactMap { kept.firstIndex(of: $0) }
    if order != Array(order.indices) { result.blob = transposed(result.blob, order, name) }
    moves[move] = result
    return result
  }

  private mutating func transposed(_ blob: String, _ order: [Int], _ name: String) -> String {
    var transpose = Transpose()
    transpose.axes = order
    return add("\(name)_transpose", transpose, [blob], to: "\(blob)_transposed")
  }

  /// Axis `i` of the result is axis `permutation[i]` of the source.
  private static func permutation(_ rank: Int, from: [Int], to: [Int]) -> [Int] {
    var source = [Int?](repeating: nil, count: rank)
    for (from, to) in zip(from, to) { source[to] = from }
    var free = Set(0..<rank).subtracting(source.compactMap { $0 })
    for axis in 0..<rank where source[axis] == nil && free.contains(axis) {
      source[axis] = axis
      free.remove(axis)
    }
    var rest = free.sorted()
    return source.map { $0 ?? rest.removeFirst() }
  }
}
