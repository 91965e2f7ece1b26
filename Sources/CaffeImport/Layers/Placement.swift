import CoreMLModel
import Formulas
import TensorCore

extension CaffeTensor {
  /// The sizes of the Core ML blob.
  var blobShape: [Int] {
    var sizes = [Int](repeating: 1, count: rank)
    for (axis, size) in zip(axes, shape) { sizes[axis] = size }
    return sizes
  }

  /// Whether the blob has Caffe's row-major order.
  var isInOrder: Bool {
    let positions = axes.indices.filter { shape[$0] != 1 }.map { axes[$0] }
    return zip(positions, positions.dropFirst()).allSatisfy { $0 < $1 }
  }

  /// The axes with Caffe's axis `index` moved to `position`. An axis already there moves to a free
  /// place, the batch last, so that data move through it only if necessary.
  func axes(moving index: Int, to position: Int) -> [Int] {
    var result = axes
    guard result[index] != position else { return result }
    if let other = result.firstIndex(of: position) {
      let own = result[index]
      let free = [own, 3, 4, 0, 2, 1].filter {
        $0 != position && ($0 == own || !result.contains($0))
      }
      result[other] = free.first { $0 != 1 || shape[other] == 1 } ?? own
    }
    result[index] = position
    return result
  }
}

extension CaffeWriter {
  /// The tensor as `[Seq, Batch, C, H, W]`, with its axes in any order.
  mutating func five(_ tensor: CaffeTensor, for name: String) -> CaffeTensor {
    tensor.rank == 5 ? tensor : placed(tensor, for: name)
  }

  /// The blob of the tensor with its axes on the given Core ML axes.
  mutating func blob(of tensor: CaffeTensor, axes: [Int], _ layer: LayerCall) -> String {
    placed(five(tensor, for: layer.name), axes: axes, for: layer.name).blob
  }

  /// The tensor with one of Caffe's axes in `position`.
  mutating func placed(
    _ tensor: CaffeTensor, axis: Int, in position: Int, for name: String
  ) -> CaffeTensor {
    let tensor = five(tensor, for: name)
    return placed(tensor, axes: tensor.axes(moving: axis, to: position), for: name)
  }

  /// The tensor with the axes from `first` on in `positions`, and the axes before, which count items,
  /// in Seq and Batch. Nil if more than two of those have more than one element.
  mutating func items(
    _ tensor: CaffeTensor, before first: Int, inner positions: [Int], for name: String
  ) -> CaffeTensor? {
    let tensor = five(tensor, for: name)
    var axes = [Int?](repeating: nil, count: tensor.shape.count)
    for (axis, position) in zip(first..., positions) { axes[axis] = position }
    let outer = (0..<first).filter { tensor.shape[$0] != 1 }
    var rows = [Placement.sequence, Placement.batch]
    guard outer.count <= rows.count else { return nil }
    for axis in outer where rows.contains(tensor.axes[axis]) {
      axes[axis] = tensor.axes[axis]
      rows.removeAll { $0 == tensor.axes[axis] }
    }
    for axis in outer where axes[axis] == nil { axes[axis] = rows.removeFirst() }
    var free = Array(rows.reversed()) + [2, 3, 4].filter { !positions.contains($0) }
    for axis in axes.indices where axes[axis] == nil {
      guard !free.isEmpty else { return nil }
      axes[axis] = free.removeFirst()
    }
    return placed(tensor, axes: axes.compactMap { $0 }, for: name)
  }

  /// The same elements in Caffe's order, with another shape.
  ///
  /// - Parameter output: the blob's name if a layer is added.
  /// - Throws: `ModelError` if Core ML's blobs have too few axes.
  mutating func reshaped(
    _ tensor: CaffeTensor, to shape: [Int], _ layer: LayerCall, name: String? = nil,
    output: String? = nil
  ) throws -> CaffeTensor {
    let name = name ?? layer.name
    try layer.require(
      shape.count <= 5,
      unsupported: "\(shape) has more than five axes, the most that Core ML's blobs have")
    var source = five(tensor, for: name)
    if !source.isInOrder {
      source = placed(source, axes: Self.orderedAxes(source.shape), for: name)
    }
    let sizes = source.blobShape
    var target = CaffeTensor(source.blob, shape, axes: Self.orderedAxes(shape))
    target.readers = tensor.readers
    // A batch axis longer than 1 stays where it is if possible.
    if sizes[Placement.batch] != 1, let first = shape.first(where: { $0 != 1 }),
      sizes[Placement.batch] == first, sizes[Placement.sequence] == 1
    {
      target.axes = CaffeTensor.standardAxes(shape.count)
      if target.blobShape[Placement.batch] != first {
        target.axes = Self.batchAxes(shape) ?? target.axes
      }
    }
    if target.blobShape == sizes {
      target.constant = tensor.constant?.shaped(shape)
      return target
    }
    if target.blobShape[Placement.batch] == sizes[Placement.batch] {
      var reshape = Reshape()
      let blobShape = target.blobShape
      reshape.targetShape = Array(blobShape.dropFirst(2))
      if blobShape[0] != 1 || sizes[0] != 1 { reshape.targetShape.insert(blobShape[0], at: 0) }
      target.blob = add(name, reshape, [source.blob], to: output)
    } else {
      target.blob = add(
        name, ReshapeStatic().with(\.targetShape, target.blobShape), [source.blob], to: output)
    }
    target.constant = tensor.constant?.shaped(shape)
    return target
  }

  /// Ascending Core ML axes, with the batch on axis 1 if possible.
  static func orderedAxes(_ shape: [Int]) -> [Int] {
    let standard = CaffeTensor.standardAxes(shape.count)
    guard let batch = standard.firstIndex(of: Placement.batch), shape[batch] != 1 else {
      return standard
    }
    switch shape.count {
    case 2: return [0, 2]
    case 4: return [0, 2, 3, 4]
    case 5 where shape[0] == 1: return [1, 0, 2, 3, 4]
    default: return standard
    }
  }

  /// Core ML axes with the first axis longer than 1 on the batch axis.
  private static func batchAxes(_ shape: [Int]) -> [Int]? {
    switch shape.count {
    case 1: [1]
    case 3 where shape[0] != 1: [1, 2, 3]
    default: nil
    }
  }

  /// A copy of the tensor, named after the layer's top.
  mutating func copied(_ tensor: CaffeTensor, _ layer: LayerCall) -> CaffeTensor {
    tensor.with(
      add(layer.name, Activation(.linear(alpha: 1, beta: 0)), [tensor.blob], to: layer.tops.first))
  }
}

extension Limits {
  /// Maximum number of elements that a conversion computes, in addition to the file's weights.
  static let computedElements = 1 << 26
  /// Maximum number of Core ML layers for one unrolled Caffe layer.
  static let writtenOutSteps = 2048
}

extension LayerCall {
  /// The only bottom.
  var onlyInput: CaffeTensor {
    get throws {
      try requireBottoms(1...1)
      return inputs[0]
    }
  }

  /// A weight with `count` values along one axis; in forks, it has further axes of length 1.
  func vector(_ index: Int, _ name: String, count: Int) throws -> FloatValues {
    let values = try weight(index, name, randomShape: [count])
    guard values.count == count, values.shape.filter({ $0 != 1 }).count <= 1 else {
      throw error(
        "its \(name) has the shape \(values.shape) in the weights file; \(counted(count, "value")) needed"
      )
    }
    return values.shaped([count])
  }

  /// The name of a layer that is part of this one.
  func part(_ suffix: String) -> String { "\(name)_\(suffix)" }
}
