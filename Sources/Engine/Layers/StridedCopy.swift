import Kernels
import TensorCore

/// Reorders the elements of a row-major blob: the output is written in row-major order of `sizes`,
/// and the input's index advances by `strides`.
struct StridedCopyOperation: NodeOperation {
  var kind: String
  var sizes: [Int]
  var strides: [Int]
  var offset = 0

  var borrowableInputs: Int { 1 }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let input = context.inputs[0]
    let output = context.outputs[0]
    // The last axis is the inner loop; the others share one counter.
    let length = sizes.last ?? 1
    let step = strides.last ?? 1
    let outerSizes = Array(sizes.dropLast())
    let outerStrides = Array(strides.dropLast())
    let count = outerSizes.reduce(1, *)
    guard count * length == output.layout.shape.count else {
      throw context.error("\(sizes) elements do not fill \(output.layout.shape.dimensions)")
    }
    let pieces = min(count, max(1, context.threadCount * 4))
    let offset = offset
    return { run in
      let source = UnsafePointer(run.pointer(input)) + offset
      let target = run.pointer(output)
      run.pool.forEach(pieces) { piece in
        for row in ThreadPool.share(of: count, piece, pieces) {
          var rest = row
          var from = source
          for axis in outerSizes.indices.reversed() {
            from += rest % outerSizes[axis] * outerStrides[axis]
            rest /= outerSizes[axis]
          }
          let to = target + row * length
          if step == 1 {
            to.update(from: from, count: length)
          } else {
            for index in 0..<length { to[index] = from[index &* step] }
          }
        }
      }
    }
  }
}

extension StridedCopyOperation {
  /// A copy with as few axes as possible.
  static func merged(
    _ kind: String, sizes: [Int], strides: [Int], offset: Int = 0
  ) -> StridedCopyOperation {
    let walk = ArrayStrides.merged(sizes, [strides])
    return StridedCopyOperation(
      kind: kind, sizes: walk.sizes, strides: walk.operands[0], offset: offset)
  }

  /// Whether every element of the input is copied once.
  var isPermutation: Bool {
    let axes = zip(sizes, strides).filter { $0.0 > 1 }.sorted { $0.1 > $1.1 }
    return offset == 0 && axes.map(\.1) == Tensor.strides(axes.map(\.0))
  }

  /// Whether the copy restores the order that another one changed.
  func reverts(_ other: StridedCopyOperation) -> Bool {
    guard isPermutation, other.isPermutation else { return false }
    let steps = Tensor.strides(other.sizes)
    let axes = zip(sizes, strides).filter { $0.0 > 1 }
    let origins = axes.map { size, stride in
      steps.indices.first { steps[$0] == stride && other.sizes[$0] == size }.map {
        other.strides[$0]
      }
    }
    return origins == Tensor.strides(axes.map(\.0))
  }

  /// Whether the order of the elements is unchanged.
  var keepsOrder: Bool { offset == 0 && sizes.count == 1 && (strides == [1] || sizes == [1]) }
}

extension LayerLowering {
  /// The value with its axes in another order.
  mutating func transposed(_ value: Graph.ValueID, _ axes: [Int]) throws -> Graph.ValueID {
    let shape = graph.shape(value).dimensions
    let strides = Tensor.strides(shape)
    let operation = StridedCopyOperation.merged(
      "transpose", sizes: axes.map { shape[$0] }, strides: axes.map { strides[$0] })
    let result = try Shape(axes.map { shape[$0] })
    return operation.keepsOrder ? try view(value, result) : add(operation, [value], result)
  }
}
