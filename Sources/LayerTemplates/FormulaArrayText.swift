/// The Swift file with what the classes of formulas compute with, for the package and for an app alike.
enum FormulaArrayText {
  static let text = """
    import Accelerate
    import CoreML
    import Foundation

    /// An array to which the operations of a formula apply: arrays stretch to one another as numpy's
    /// do, and conditions are 1 and 0.
    struct FormulaArray {
      enum Fault: Error { case shape([Int]) }

      /// What stands between the brackets of a part, one for an axis.
      enum Item {
        case index(Int)
        case range(Int?, Int?, Int)
        case ellipsis
        case newAxis
      }

      enum Reduction { case sum, mean, max, min, product }

      let shape: [Int]
      let elements: [Double]

      init(_ shape: [Int], _ elements: [Double]) {
        self.shape = shape
        self.elements = elements
      }

      init(_ number: Double) { self.init([], [number]) }

      init(_ shape: [Int], floats: [Float]) throws {
        guard shape.reduce(1, *) == floats.count else { throw Fault.shape(shape) }
        self.init(shape, floats.map { Double($0) })
      }

      init(_ array: MLMultiArray) {
        let source = array.dataPointer.assumingMemoryBound(to: Float.self)
        self.init(array.shape.map { $0.intValue }, (0..<array.count).map { Double(source[$0]) })
      }

      /// Rounded to single precision.
      var single: FormulaArray { map { Double(Float($0)) } }

      func write(to array: MLMultiArray) throws {
        guard array.count == elements.count else { throw Fault.shape(shape) }
        let target = array.dataPointer.assumingMemoryBound(to: Float.self)
        for (index, element) in elements.enumerated() { target[index] = Float(element) }
      }

      // MARK: Stretching

      private static func stretched(_ shapes: [[Int]]) throws -> [Int] {
        var result = [Int](repeating: 1, count: shapes.map { $0.count }.max() ?? 0)
        for shape in shapes {
          for (axis, size) in zip(result.indices.suffix(shape.count), shape) where size != 1 {
            guard result[axis] == 1 || result[axis] == size else { throw Fault.shape(shape) }
            result[axis] = size
          }
        }
        return result
      }

      /// The elements at `offset` and steps along the axes of `shape`.
      private func gathered(_ shape: [Int], _ steps: [Int], from offset: Int = 0) -> [Double] {
        let count = shape.reduce(1, *)
        guard count > 0 else { return [] }
        var result: [Double] = []
        result.reserveCapacity(count)
        var place = [Int](repeating: 0, count: shape.count)
        var source = offset
        for _ in 0..<count {
          result.append(elements[source])
          for axis in shape.indices.reversed() {
            place[axis] += 1
            source += steps[axis]
            if place[axis] < shape[axis] { break }
            source -= steps[axis] * shape[axis]
            place[axis] = 0
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

      private func stretched(to target: [Int]) -> [Double] {
        if shape == target { return elements }
        let own = zip(shape, steps).map { $0 == 1 ? 0 : $1 }
        return gathered(target, [Int](repeating: 0, count: target.count - own.count) + own)
      }

      // MARK: Each element

      typealias VectorFunction = (
        UnsafeMutablePointer<Double>, UnsafePointer<Double>, UnsafePointer<Int32>
      ) -> Void
      typealias VectorPair = (
        UnsafePointer<Double>, vDSP_Stride, UnsafePointer<Double>, vDSP_Stride,
        UnsafeMutablePointer<Double>, vDSP_Stride, vDSP_Length
      ) -> Void

      private func map(_ body: (Double) -> Double) -> FormulaArray {
        FormulaArray(shape, elements.map(body))
      }

      private func vector(_ body: VectorFunction) -> FormulaArray {
        var result = [Double](repeating: 0, count: elements.count)
        var count = Int32(elements.count)
        body(&result, elements, &count)
        return FormulaArray(shape, result)
      }

      private func floats(
        _ body: (UnsafeMutablePointer<Float>, UnsafePointer<Float>, UnsafePointer<Int32>) -> Void
      ) -> FormulaArray {
        var result = [Float](repeating: 0, count: elements.count)
        var count = Int32(elements.count)
        body(&result, elements.map { Float($0) }, &count)
        return FormulaArray(shape, result.map { Double($0) })
      }

      private static func pair(
        _ x: FormulaArray, _ y: FormulaArray, _ body: VectorPair
      ) throws -> FormulaArray {
        let shape = try stretched([x.shape, y.shape])
        let (a, b) = (x.stretched(to: shape), y.stretched(to: shape))
        var result = [Double](repeating: 0, count: a.count)
        body(a, 1, b, 1, &result, 1, vDSP_Length(a.count))
        return FormulaArray(shape, result)
      }

      private static func each(
        _ x: FormulaArray, _ y: FormulaArray, _ body: (Double, Double) -> Double
      ) throws -> FormulaArray {
        let shape = try stretched([x.shape, y.shape])
        return FormulaArray(
          shape, zip(x.stretched(to: shape), y.stretched(to: shape)).map { body($0, $1) })
      }

      static func add(_ x: Self, _ y: Self) throws -> Self { try pair(x, y, vDSP_vaddD) }
      // A difference and a quotient take the right operand first.
      static func subtract(_ x: Self, _ y: Self) throws -> Self { try pair(y, x, vDSP_vsubD) }
      static func multiply(_ x: Self, _ y: Self) throws -> Self { try pair(x, y, vDSP_vmulD) }
      static func divide(_ x: Self, _ y: Self) throws -> Self { try pair(y, x, vDSP_vdivD) }
      static func floorDivide(_ x: Self, _ y: Self) throws -> Self {
        try divide(x, y).single.vector(vvfloor)
      }
      static func modulo(_ x: Self, _ y: Self) throws -> Self {
        try each(x, y) { $0 - $1 * ($0 / $1).rounded(.down) }
      }
      static func power(_ x: Self, _ y: Self) throws -> Self {
        let shape = try stretched([x.shape, y.shape])
        let (bases, exponents) = (x.stretched(to: shape), y.stretched(to: shape))
        var result = [Double](repeating: 0, count: bases.count)
        var count = Int32(bases.count)
        vvpow(&result, exponents, bases, &count)
        return FormulaArray(shape, result)
      }
      static func minimum(_ x: Self, _ y: Self) throws -> Self {
        try each(x, y) { $0.isNaN || $1.isNaN ? .nan : Swift.min($0, $1) }
      }
      static func maximum(_ x: Self, _ y: Self) throws -> Self {
        try each(x, y) { $0.isNaN || $1.isNaN ? .nan : Swift.max($0, $1) }
      }
      static func less(_ x: Self, _ y: Self) throws -> Self { try each(x, y) { $0 < $1 ? 1 : 0 } }
      static func lessEqual(_ x: Self, _ y: Self) throws -> Self {
        try each(x, y) { $0 <= $1 ? 1 : 0 }
      }
      static func greater(_ x: Self, _ y: Self) throws -> Self {
        try each(x, y) { $0 > $1 ? 1 : 0 }
      }
      static func greaterEqual(_ x: Self, _ y: Self) throws -> Self {
        try each(x, y) { $0 >= $1 ? 1 : 0 }
      }
      static func equal(_ x: Self, _ y: Self) throws -> Self { try each(x, y) { $0 == $1 ? 1 : 0 } }
      static func notEqual(_ x: Self, _ y: Self) throws -> Self {
        try each(x, y) { $0 != $1 ? 1 : 0 }
      }
      static func logicalAnd(_ x: Self, _ y: Self) throws -> Self {
        try each(x, y) { $0 != 0 && $1 != 0 ? 1 : 0 }
      }
      static func logicalOr(_ x: Self, _ y: Self) throws -> Self {
        try each(x, y) { $0 != 0 || $1 != 0 ? 1 : 0 }
      }
      static func negative(_ x: Self) throws -> Self { x.map { -$0 } }
      static func logicalNot(_ x: Self) throws -> Self { x.map { $0 == 0 ? 1 : 0 } }
      static func abs(_ x: Self) throws -> Self { x.vector(vvfabs) }
      static func sign(_ x: Self) throws -> Self { x.map { $0 > 0 ? 1 : $0 < 0 ? -1 : $0 } }
      static func floor(_ x: Self) throws -> Self { x.vector(vvfloor) }
      static func ceil(_ x: Self) throws -> Self { x.vector(vvceil) }
      static func round(_ x: Self) throws -> Self { x.vector(vvnint) }
      static func sqrt(_ x: Self) throws -> Self { x.vector(vvsqrt) }
      static func rsqrt(_ x: Self) throws -> Self { x.vector(vvrsqrt) }
      static func square(_ x: Self) throws -> Self { try multiply(x, x) }
      static func reciprocal(_ x: Self) throws -> Self { x.vector(vvrec) }
      static func exp(_ x: Self) throws -> Self { x.vector(vvexp) }
      static func expm1(_ x: Self) throws -> Self { x.vector(vvexpm1) }
      static func log(_ x: Self) throws -> Self { x.vector(vvlog) }
      static func log1p(_ x: Self) throws -> Self { x.vector(vvlog1p) }
      static func sin(_ x: Self) throws -> Self { x.vector(vvsin) }
      static func cos(_ x: Self) throws -> Self { x.vector(vvcos) }
      static func tan(_ x: Self) throws -> Self { x.vector(vvtan) }
      static func asin(_ x: Self) throws -> Self { x.vector(vvasin) }
      static func acos(_ x: Self) throws -> Self { x.vector(vvacos) }
      static func atan(_ x: Self) throws -> Self { x.vector(vvatan) }
      static func sinh(_ x: Self) throws -> Self { x.vector(vvsinh) }
      static func cosh(_ x: Self) throws -> Self { x.vector(vvcosh) }
      static func tanh(_ x: Self) throws -> Self { x.vector(vvtanh) }
      // On operands of single precision, where the functions for floats are those of assay's own layers.
      static func expf(_ x: Self) throws -> Self { x.floats(vvexpf) }
      static func logf(_ x: Self) throws -> Self { x.floats(vvlogf) }
      static func tanhf(_ x: Self) throws -> Self { x.floats(vvtanhf) }
      static func sqrtf(_ x: Self) throws -> Self { x.floats(vvsqrtf) }
      // Accelerate has none.
      static func erf(_ x: Self) throws -> Self { x.map(errorFunction) }
      static func sigmoid(_ x: Self) throws -> Self {
        x.map { -$0 }.vector(vvexp).map { 1 + $0 }.vector(vvrec)
      }
      static func relu(_ x: Self) throws -> Self { try maximum(x, FormulaArray(0)) }
      static func softplus(_ x: Self) throws -> Self {
        let rest = x.map { -$0.magnitude }.vector(vvexp).vector(vvlog1p)
        return try add(relu(x), rest)
      }
      static func softsign(_ x: Self) throws -> Self { x.map { $0 / (1 + $0.magnitude) } }
      static func elu(_ x: Self, _ alpha: Self) throws -> Self {
        try choose(greater(x, FormulaArray(0)), x, multiply(alpha, expm1(x)))
      }
      static func clip(_ x: Self, _ low: Self, _ high: Self) throws -> Self {
        try minimum(maximum(x, low), high)
      }
      static func choose(_ condition: Self, _ x: Self, _ y: Self) throws -> Self {
        let shape = try stretched([condition.shape, x.shape, y.shape])
        let (a, b) = (x.stretched(to: shape), y.stretched(to: shape))
        return FormulaArray(
          shape,
          condition.stretched(to: shape).enumerated().map { $1 != 0 ? a[$0] : b[$0] })
      }

      // MARK: Reductions and parts

      func reduced(
        _ reduction: Reduction, _ axes: [Int]?, keepsAxes: Bool
      ) throws -> FormulaArray {
        let rank = shape.count
        let inner = Set((axes ?? Array(0..<rank)).map { $0 < 0 ? $0 + rank : $0 })
        guard inner.allSatisfy({ (0..<rank).contains($0) }) else { throw Fault.shape(shape) }
        let outerAxes = shape.indices.filter { !inner.contains($0) }
        let innerAxes = shape.indices.filter { inner.contains($0) }
        let order = outerAxes + innerAxes
        let moved = gathered(order.map { shape[$0] }, order.map { steps[$0] })
        let length = innerAxes.reduce(1) { $0 * shape[$1] }
        let count = outerAxes.reduce(1) { $0 * shape[$1] }
        let values = (0..<count).map { index -> Double in
          let row = Array(moved[index * length..<(index + 1) * length])
          var value = 0.0
          switch reduction {
          case .sum: vDSP_sveD(row, 1, &value, vDSP_Length(length))
          case .mean: vDSP_meanvD(row, 1, &value, vDSP_Length(length))
          case .product: value = row.reduce(1, *)
          case .max: value = row.reduce(-.infinity) { $0.isNaN || $1 <= $0 ? $0 : $1 }
          case .min: value = row.reduce(.infinity) { $0.isNaN || $1 >= $0 ? $0 : $1 }
          }
          return value
        }
        let kept = keepsAxes
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
        guard named <= shape.count else { throw Fault.shape(shape) }
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
            let place = index < 0 ? index + shape[axis] : index
            guard (0..<shape[axis]).contains(place) else { throw Fault.shape(shape) }
            offset += place * steps[axis]
          case .range(let start, let end, let step):
            let length = shape[axis]
            let bounds = step > 0 ? 0...length : -1...length - 1
            func place(_ value: Int) -> Int {
              Swift.min(
                Swift.max(value < 0 ? value + length : value, bounds.lowerBound), bounds.upperBound)
            }
            let first = start.map(place) ?? (step > 0 ? 0 : length - 1)
            let last = end.map(place) ?? (step > 0 ? length : -1)
            let distance = step > 0 ? last - first : first - last
            guard distance > 0 else { throw Fault.shape(shape) }
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

    // Inside of the structure the bare name means its own function.
    private func errorFunction(_ x: Double) -> Double { erf(x) }

    """
}
