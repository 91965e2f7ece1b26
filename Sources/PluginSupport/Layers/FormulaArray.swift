import Accelerate
import CoreML
import Foundation

/// An array for the operations of a formula, each rounded to single precision: arrays broadcast as
/// in NumPy, and conditions are 1 and 0.
struct FormulaArray {
  /// The items between the brackets of a slice, one per axis.
  enum Item {
    case index(Int)
    case range(Int?, Int?, Int)
    case ellipsis
    case newAxis
  }

  enum Reduction { case sum, mean, max, min, product }

  let shape: [Int]
  let elements: [Float]

  init(_ shape: [Int], _ elements: [Float]) {
    self.shape = shape
    self.elements = elements
  }

  init(_ number: Float) { self.init([], [number]) }

  init(_ shape: [Int], weight: [Float]) throws {
    guard shape.reduce(1, *) == weight.count else { throw LayerFault.shape([shape]) }
    self.init(shape, weight)
  }

  init(_ array: MLMultiArray) throws {
    let source = UnsafeBufferPointer(start: try array.floats(), count: array.count)
    self.init(array.sizes, Array(source))
  }

  func write(to array: MLMultiArray) throws {
    guard array.count == elements.count else { throw LayerFault.shape([shape]) }
    try array.floats().update(from: elements, count: elements.count)
  }

  // MARK: Stretching

  private static func broadcast(_ shapes: [[Int]]) throws -> [Int] {
    var result = [Int](repeating: 1, count: shapes.map { $0.count }.max() ?? 0)
    for shape in shapes {
      for (axis, size) in zip(result.indices.suffix(shape.count), shape) where size != 1 {
        guard result[axis] == 1 || result[axis] == size else { throw LayerFault.shape([shape]) }
        result[axis] = size
      }
    }
    return result
  }

  /// The elements at `offset` and steps along the axes of `shape`.
  private func gathered(_ shape: [Int], _ steps: [Int], from offset: Int = 0) -> [Float] {
    let count = shape.reduce(1, *)
    guard count > 0 else { return [] }
    var result: [Float] = []
    result.reserveCapacity(count)
    var position = [Int](repeating: 0, count: shape.count)
    var source = offset
    for _ in 0..<count {
      result.append(elements[source])
      for axis in shape.indices.reversed() {
        position[axis] += 1
        source += steps[axis]
        if position[axis] < shape[axis] { break }
        source -= steps[axis] * shape[axis]
        position[axis] = 0
      }
    }
    return result
  }

  private var steps: [Int] {
    var steps = [Int](repeating: 1, count: shape.count)
    for axis in shape.indices.dropLast().reversed() {
      steps[axis] = steps[axis + 1] * shape[axis + 1]
    }
    return steps
  }

  private func broadcast(to target: [Int]) -> [Float] {
    if shape == target { return elements }
    let own = zip(shape, steps).map { $0 == 1 ? 0 : $1 }
    return gathered(target, [Int](repeating: 0, count: target.count - own.count) + own)
  }

  // MARK: Each element

  private func map(_ body: (Float) -> Float) -> FormulaArray {
    FormulaArray(shape, elements.map(body))
  }

  /// A function of vForce.
  private func vector(
    _ body: (UnsafeMutablePointer<Float>, UnsafePointer<Float>, UnsafePointer<Int32>) -> Void
  ) -> FormulaArray {
    var result = [Float](repeating: 0, count: elements.count)
    var count = Int32(elements.count)
    body(&result, elements, &count)
    return FormulaArray(shape, result)
  }

  /// A function of vDSP.
  private static func pair(
    _ x: FormulaArray, _ y: FormulaArray,
    _ body: (
      UnsafePointer<Float>, vDSP_Stride, UnsafePointer<Float>, vDSP_Stride,
      UnsafeMutablePointer<Float>, vDSP_Stride, vDSP_Length
    ) -> Void
  ) throws -> FormulaArray {
    let shape = try broadcast([x.shape, y.shape])
    let (a, b) = (x.broadcast(to: shape), y.broadcast(to: shape))
    var result = [Float](repeating: 0, count: a.count)
    body(a, 1, b, 1, &result, 1, vDSP_Length(a.count))
    return FormulaArray(shape, result)
  }

  private static func each(
    _ x: FormulaArray, _ y: FormulaArray, _ body: (Float, Float) -> Float
  ) throws -> FormulaArray {
    let shape = try broadcast([x.shape, y.shape])
    return FormulaArray(
      shape, zip(x.broadcast(to: shape), y.broadcast(to: shape)).map { body($0, $1) })
  }

  static func add(_ x: Self, _ y: Self) throws -> Self { try pair(x, y, vDSP_vadd) }
  // Differences and quotients take the right operand first.
  static func subtract(_ x: Self, _ y: Self) throws -> Self { try pair(y, x, vDSP_vsub) }
  static func multiply(_ x: Self, _ y: Self) throws -> Self { try pair(x, y, vDSP_vmul) }
  static func divide(_ x: Self, _ y: Self) throws -> Self { try pair(y, x, vDSP_vdiv) }
  static func floorDivide(_ x: Self, _ y: Self) throws -> Self {
    try each(x, y) { Float((Double($0) / Double($1)).rounded(.down)) }
  }
  static func modulo(_ x: Self, _ y: Self) throws -> Self {
    try each(x, y) {
      let rest = $0.truncatingRemainder(dividingBy: $1)
      return rest != 0 && (rest < 0) != ($1 < 0) ? rest + $1 : rest
    }
  }
  static func power(_ x: Self, _ y: Self) throws -> Self {
    if y.shape.isEmpty {
      var exponent = y.elements[0]
      return x.vector { vvpowsf($0, &exponent, $1, $2) }
    }
    let shape = try broadcast([x.shape, y.shape])
    let exponents = y.broadcast(to: shape)
    return FormulaArray(shape, x.broadcast(to: shape)).vector { vvpowf($0, exponents, $1, $2) }
  }
  static func minimum(_ x: Self, _ y: Self) throws -> Self {
    try each(x, y) { $0.isNaN || $1.isNaN ? .nan : Swift.min($0, $1) }
  }
  static func maximum(_ x: Self, _ y: Self) throws -> Self {
    try each(x, y) { $0.isNaN || $1.isNaN ? .nan : Swift.max($0, $1) }
  }
  static func less(_ x: Self, _ y: Self) throws -> Self { try each(x, y) { $0 < $1 ? 1 : 0 } }
  static func lessEqual(_ x: Self, _ y: Self) throws -> Self { try each(x, y) { $0 <= $1 ? 1 : 0 } }
  static func greater(_ x: Self, _ y: Self) throws -> Self { try each(x, y) { $0 > $1 ? 1 : 0 } }
  static func greaterEqual(_ x: Self, _ y: Self) throws -> Self {
    try each(x, y) { $0 >= $1 ? 1 : 0 }
  }
  static func equal(_ x: Self, _ y: Self) throws -> Self { try each(x, y) { $0 == $1 ? 1 : 0 } }
  static func notEqual(_ x: Self, _ y: Self) throws -> Self { try each(x, y) { $0 != $1 ? 1 : 0 } }
  static func logicalAnd(_ x: Self, _ y: Self) throws -> Self {
    try each(x, y) { $0 != 0 && $1 != 0 ? 1 : 0 }
  }
  static func logicalOr(_ x: Self, _ y: Self) throws -> Self {
    try each(x, y) { $0 != 0 || $1 != 0 ? 1 : 0 }
  }
  static func negative(_ x: Self) throws -> Self { x.map { -$0 } }
  static func logicalNot(_ x: Self) throws -> Self { x.map { $0 == 0 ? 1 : 0 } }
  static func abs(_ x: Self) throws -> Self { x.vector(vvfabsf) }
  static func sign(_ x: Self) throws -> Self { x.map { $0 > 0 ? 1 : $0 < 0 ? -1 : $0 } }
  static func floor(_ x: Self) throws -> Self { x.vector(vvfloorf) }
  static func ceil(_ x: Self) throws -> Self { x.vector(vvceilf) }
  static func round(_ x: Self) throws -> Self { x.vector(vvnintf) }
  static func sqrt(_ x: Self) throws -> Self { x.vector(vvsqrtf) }
  static func rsqrt(_ x: Self) throws -> Self { x.vector(vvrsqrtf) }
  static func square(_ x: Self) throws -> Self { try multiply(x, x) }
  static func reciprocal(_ x: Self) throws -> Self { x.vector(vvrecf) }
  static func exp(_ x: Self) throws -> Self { x.vector(vvexpf) }
  static func expm1(_ x: Self) throws -> Self { x.vector(vvexpm1f) }
  static func log(_ x: Self) throws -> Self { x.vector(vvlogf) }
  static func log1p(_ x: Self) throws -> Self { x.vector(vvlog1pf) }
  static func sin(_ x: Self) throws -> Self { x.vector(vvsinf) }
  static func cos(_ x: Self) throws -> Self { x.vector(vvcosf) }
  static func tan(_ x: Self) throws -> Self { x.vector(vvtanf) }
  static func asin(_ x: Self) throws -> Self { x.vector(vvasinf) }
  static func acos(_ x: Self) throws -> Self { x.vector(vvacosf) }
  static func atan(_ x: Self) throws -> Self { x.vector(vvatanf) }
  static func sinh(_ x: Self) throws -> Self { x.vector(vvsinhf) }
  static func cosh(_ x: Self) throws -> Self { x.vector(vvcoshf) }
  static func tanh(_ x: Self) throws -> Self { x.vector(vvtanhf) }
  // Accelerate lacks it; computed in double precision, so that the result is rounded once.
  static func erf(_ x: Self) throws -> Self { x.map { Float(errorFunction(Double($0))) } }
  /// With exp(−|x|), which is never infinite.
  static func sigmoid(_ x: Self) throws -> Self {
    let e = x.map { -$0.magnitude }.vector(vvexpf)
    return try each(x, e) { ($0 < 0 ? $1 : 1) / (1 + $1) }
  }
  static func relu(_ x: Self) throws -> Self { try maximum(x, FormulaArray(0)) }
  static func softplus(_ x: Self) throws -> Self { x.map { Float(smoothRectifier(Double($0))) } }
  static func softsign(_ x: Self) throws -> Self { x.map { $0 / (1 + $0.magnitude) } }
  static func swish(_ x: Self) throws -> Self {
    try divide(x, add(FormulaArray(1), x.map { -$0 }.vector(vvexpf)))
  }
  static func mish(_ x: Self) throws -> Self {
    x.map {
      let e = exponential(Swift.min(Double($0), 40))
      return Float(Double($0) * (e * (e + 2) / (e * (e + 2) + 2)))
    }
  }
  static func gelu(_ x: Self) throws -> Self {
    x.map { Float(Double($0) / 2 * complement(-Double($0) / 2.0.squareRoot())) }
  }
  static func tanhGelu(_ x: Self) throws -> Self {
    x.map {
      let x = Double($0)
      return Float(x / (1 + exponential(-1.5957691216057308 * (x + 0.044715 * x * x * x))))
    }
  }
  static func elu(_ x: Self, _ alpha: Self) throws -> Self {
    try choose(greater(x, FormulaArray(0)), x, multiply(alpha, expm1(minimum(x, FormulaArray(0)))))
  }
  static func clip(_ x: Self, _ low: Self, _ high: Self) throws -> Self {
    try minimum(maximum(x, low), high)
  }
  static func choose(_ condition: Self, _ x: Self, _ y: Self) throws -> Self {
    let shape = try broadcast([condition.shape, x.shape, y.shape])
    let (a, b) = (x.broadcast(to: shape), y.broadcast(to: shape))
    return FormulaArray(
      shape, condition.broadcast(to: shape).enumerated().map { $1 != 0 ? a[$0] : b[$0] })
  }

  // MARK: Reductions and parts

  func reduced(_ reduction: Reduction, _ axes: [Int]?, keepsAxes: Bool) throws -> FormulaArray {
    let rank = shape.count
    let inner = Set((axes ?? Array(0..<rank)).map { $0 < 0 ? $0 + rank : $0 })
    guard inner.allSatisfy({ (0..<rank).contains($0) }) else { throw LayerFault.shape([shape]) }
    let outerAxes = shape.indices.filter { !inner.contains($0) }
    let innerAxes = shape.indices.filter { inner.contains($0) }
    let order = outerAxes + innerAxes
    let moved = gathered(order.map { shape[$0] }, order.map { steps[$0] })
    let length = innerAxes.reduce(1) { $0 * shape[$1] }
    let count = outerAxes.reduce(1) { $0 * shape[$1] }
    let values = (0..<count).map { index -> Float in
      let row = moved[index * length..<(index + 1) * length]
      switch reduction {
      // Sums are accumulated in double precision.
      case .sum: return Float(row.reduce(0) { $0 + Double($1) })
      case .mean: return Float(row.reduce(0) { $0 + Double($1) } / Double(length))
      case .product: return Float(row.reduce(1) { $0 * Double($1) })
      case .max: return row.reduce(-.infinity) { $0.isNaN || $1 <= $0 ? $0 : $1 }
      case .min: return row.reduce(.infinity) { $0.isNaN || $1 >= $0 ? $0 : $1 }
      }
    }
    let kept =
      keepsAxes
      ? shape.enumerated().map { inner.contains($0) ? 1 : $1 } : outerAxes.map { shape[$0] }
    return FormulaArray(kept, values)
  }

  func part(_ items: [Item]) throws -> FormulaArray {
    var named = 0
    for item in items {
      switch item {
      case .index, .range: named += 1
      case .ellipsis, .newAxis: break
      }
    }
    guard named <= shape.count else { throw LayerFault.shape([shape]) }
    let rest = [Item](repeating: .range(nil, nil, 1), count: shape.count - named)
    var all: [Item] = []
    var hasEllipsis = false
    for item in items {
      if case .ellipsis = item {
        all += rest
        hasEllipsis = true
      } else {
        all.append(item)
      }
    }
    if !hasEllipsis { all += rest }
    var (axis, offset) = (0, 0)
    var (sizes, strides): ([Int], [Int]) = ([], [])
    for item in all {
      switch item {
      case .newAxis:
        sizes.append(1)
        strides.append(0)
        continue
      case .index(let index):
        let position = index < 0 ? index + shape[axis] : index
        guard (0..<shape[axis]).contains(position) else { throw LayerFault.shape([shape]) }
        offset += position * steps[axis]
      case .range(let start, let end, let step):
        let length = shape[axis]
        let bounds = step > 0 ? 0...length : -1...length - 1
        func position(_ value: Int) -> Int {
          Swift.min(
            Swift.max(value < 0 ? value + length : value, bounds.lowerBound), bounds.upperBound)
        }
        let first = start.map(position) ?? (step > 0 ? 0 : length - 1)
        let last = end.map(position) ?? (step > 0 ? length : -1)
        let distance = step > 0 ? last - first : first - last
        guard distance > 0 else { throw LayerFault.shape([shape]) }
        offset += first * steps[axis]
        sizes.append((distance - 1) / Swift.abs(step) + 1)
        strides.append(step * steps[axis])
      case .ellipsis: break
      }
      axis += 1
    }
    return FormulaArray(sizes, gathered(sizes, strides, from: offset))
  }
}

// Inside the structure, unqualified names refer to its own functions.
private func errorFunction(_ x: Double) -> Double { erf(x) }
private func exponential(_ x: Double) -> Double { exp(x) }
private func complement(_ x: Double) -> Double { erfc(x) }
private func smoothRectifier(_ x: Double) -> Double { max(x, 0) + log1p(exp(-abs(x))) }
