import TensorCore

/// An array of numbers in row-major order.
package struct FormulaArray: Sendable, Equatable {
  package let shape: [Int]
  package let elements: [Double]

  /// - Precondition: the number of elements matches the shape.
  package init(_ shape: [Int], _ elements: [Double]) {
    self.shape = shape
    self.elements = elements
  }

  package init(_ number: Double) { self.init([], [number]) }

  /// The same numbers with another shape of equal size.
  package func shaped(_ shape: [Int]) -> FormulaArray { FormulaArray(shape, elements) }

  /// Axis `i` of the result is axis `axes[i]`.
  package func transposed(_ axes: [Int]) -> FormulaArray {
    var view = ArrayView(shape)
    view.strides = axes.map { view.strides[$0] }
    view.shape = axes.map { shape[$0] }
    return gathered(view)
  }

  fileprivate func gathered(_ view: ArrayView) -> FormulaArray {
    let (shape, strides) = (view.shape, view.strides)
    var result: [Double] = []
    let count = shape.reduce(1, *)
    result.reserveCapacity(count)
    var index = [Int](repeating: 0, count: shape.count)
    var position = view.offset
    for _ in 0..<count {
      result.append(elements[position])
      for axis in shape.indices.reversed() {
        index[axis] += 1
        position += strides[axis]
        if index[axis] < shape[axis] { break }
        position -= strides[axis] * shape[axis]
        index[axis] = 0
      }
    }
    return FormulaArray(shape, result)
  }
}

/// The location of an array or a part of it; a stride of 0 repeats an axis.
struct ArrayView {
  var array = 0
  var offset = 0
  var shape: [Int]
  var strides: [Int]

  /// A whole array.
  init(_ shape: [Int], array: Int = 0) {
    (self.array, self.shape, strides) = (array, shape, Tensor.strides(shape))
  }

  func part(_ items: [Expression.SliceItem]) throws -> ArrayView {
    var result = self
    (result.shape, result.strides) = ([], [])
    var axis = 0
    for item in try Expression.items(items, rank: shape.count) {
      if item == .newAxis {
        result.shape.append(1)
        result.strides.append(0)
        continue
      }
      let part = try Expression.part(item, length: shape[axis])
      result.offset += part.start * strides[axis]
      if case .index = item {
      } else {
        result.shape.append(part.count ?? 1)
        result.strides.append(part.step * strides[axis])
      }
      axis += 1
    }
    return result
  }

  func broadcast(to target: [Int]) -> ArrayView {
    var result = self
    result.strides =
      [Int](repeating: 0, count: target.count - shape.count)
      + zip(shape, strides).map { $0 == 1 ? 0 : $1 }
    result.shape = target
    return result
  }
}

extension Expression {
  /// The value in double precision, computed element by element. Tests compare all other
  /// implementations with it.
  package func value(_ names: [String: FormulaArray]) throws -> FormulaArray {
    switch node {
    case .number(let number): return FormulaArray(number)
    case .name(let name):
      return try names.value(named: name)
    default: break
    }
    let operands = try self.operands.map { try $0.value(names) }
    let shape = try resultShape(operands.map(\.shape)).compactMap { $0 }
    switch node {
    case .number, .name: return operands[0]
    case .apply(let function, _):
      let broadcast = operands.map { $0.broadcast(to: shape) }
      let row = function.row
      return FormulaArray(
        shape,
        (0..<shape.reduce(1, *)).map { index in
          row.value(broadcast.map { $0.elements[index] })
        })
    case .reduce(let reduction, _, let axes, _):
      let gone = try Self.axes(axes, rank: operands[0].shape.count)
      return operands[0].reduced(reduction, gone).shaped(shape)
    case .slice(_, let items):
      return operands[0].gathered(try ArrayView(operands[0].shape).part(items))
    }
  }
}

extension FormulaArray {
  fileprivate func broadcast(to target: [Int]) -> FormulaArray {
    target == shape ? self : gathered(ArrayView(shape).broadcast(to: target))
  }

  fileprivate func reduced(_ reduction: Expression.Reduction, _ axes: [Int]) -> FormulaArray {
    let kept = shape.indices.filter { !axes.contains($0) }
    let ordered = transposed(kept + axes)
    let length = axes.reduce(1) { $0 * shape[$1] }
    let count = kept.reduce(1) { $0 * shape[$1] }
    let values = (0..<count).map { index in
      reduction.value(ordered.elements[index * length..<(index + 1) * length])
    }
    return FormulaArray(kept.map { shape[$0] }, values)
  }
}

extension Expression.Reduction {
  fileprivate func value(_ elements: ArraySlice<Double>) -> Double {
    switch self {
    case .sum: elements.reduce(0, +)
    case .mean: elements.reduce(0, +) / Double(elements.count)
    case .product: elements.reduce(1, *)
    case .max: elements.reduce(-.infinity) { ElementFunction.maximum.value([$0, $1]) }
    case .min: elements.reduce(.infinity) { ElementFunction.minimum.value([$0, $1]) }
    }
  }
}
