import Formulas
import TensorCore

/// Functions that rearrange known arrays.
extension PythonMachine {
  func rearranged(
    _ path: String, _ arguments: [PythonSymbol], _ keywords: Keywords
  ) throws -> PythonSymbol? {
    let name = path.split(separator: ".").last.map(String.init) ?? path
    func argument(_ index: Int, _ names: String...) -> PythonSymbol? {
      index < arguments.count ? arguments[index] : keywords.first { names.contains($0.name) }?.value
    }
    func axis(_ index: Int, _ array: FormulaArray) -> Int? {
      self.axis(argument(index, "axis") ?? .int(0), array)
    }
    let first = argument(0, "value", "x", "input", "tensor", "a", "m", "params")
    switch name {
    case "split", "unstack":
      if name == "unstack", let elements = first?.elements, elements.allSatisfy({ $0.size != nil })
      {
        return .list(PythonList(elements))
      }
      guard let array = first?.array, let axis = axis(2, array) else { return nil }
      let size = array.shape[axis]
      var parts = [Int](repeating: 1, count: name == "split" ? 0 : size)
      if name == "split" {
        guard let given = argument(1, "num_or_size_splits", "indices_or_sections") else {
          return nil
        }
        parts = (given.elements ?? []).compactMap(\.int)
        if let count = given.int, count > 0, size % count == 0 {
          parts = [Int](repeating: size / count, count: count)
        }
        guard path.hasPrefix("tf.") || given.int != nil, parts.allSatisfy({ $0 >= 0 }),
          parts.reduce(0, { $0 + $1 }) == size
        else { return nil }
      }
      var start = 0
      return .list(
        PythonList(
          try parts.map { count in
            defer { start += count }
            return try name == "split"
              ? rows(of: array, at: .range(start, count), axis: axis)
              : rows(of: array, at: FormulaArray(Double(start)), axis: axis)
          }))
    case "gather", "take", "embedding_lookup":
      guard let table = first?.array, let indices = argument(1, "indices", "ids")?.array,
        name != "take" || table.shape.count == 1 || argument(2, "axis") != nil,
        keywords.allSatisfy({ $0.name != "batch_dims" }), let axis = axis(2, table)
      else { return nil }
      return try rows(of: table, at: indices, axis: axis)
    case "repeat", "repeat_elements", "flip", "reverse":
      guard var array = first?.array, !array.shape.isEmpty, path != "keras.backend.repeat" else {
        return nil
      }
      let isRepeat = name.hasPrefix("r") && name != "reverse"
      let given = argument(isRepeat ? 2 : 1, "axis")
      if isRepeat, given == nil { array = array.shaped([array.elements.count]) }
      let times = isRepeat ? argument(1, "repeats", "rep")?.int : 1
      let axes = given.map { ($0.elements ?? [$0]).compactMap(\.int) } ?? Array(array.shape.indices)
      guard let times, (1...Self.listLimit).contains(times), !isRepeat || axes.count == 1 else {
        return nil
      }
      return try axes.reduce(.array(array)) { value, axis in
        guard let array = value.array, let axis = self.axis(.int(axis), array) else { return value }
        let places = (0..<array.shape[axis]).flatMap {
          [Double](repeating: Double($0), count: times)
        }
        return try rows(
          of: array,
          at: FormulaArray([places.count], isRepeat ? places : places.reversed()), axis: axis)
      }
    case "norm":
      guard let array = first?.array, !array.shape.isEmpty,
        argument(1, "ord").map({ $0.isNone || $0.string == "euclidean" }) ?? true,
        keywords.allSatisfy({ ["axis", "keepdims", "ord"].contains($0.name) })
      else { return nil }
      let square = try call(.library("tf.square"), [.array(array)], [])
      let sum = try call(
        .library("tf.reduce_sum"), [square] + arguments.dropFirst(2),
        keywords.filter { $0.name != "ord" })
      return try call(.library("tf.sqrt"), [sum], [])
    case "squeeze", "flatten", "ravel":
      guard let array = first?.array, !array.shape.isEmpty else { return nil }
      let given = argument(1, "axis").map { ($0.elements ?? [$0]).map { self.axis($0, array) } }
      let kept = array.shape.enumerated().filter { place, size in
        size != 1 || given.map { !$0.contains(place) } ?? false
      }
      return .array(array.shaped(name == "squeeze" ? kept.map(\.element) : [array.elements.count]))
    case "swapaxes":
      guard let array = first?.array, let one = argument(1, "axis1"),
        let other = argument(2, "axis2"), let a = self.axis(one, array),
        let b = self.axis(other, array)
      else { return nil }
      var axes = Array(array.shape.indices)
      axes.swapAt(a, b)
      return .array(array.transposed(axes))
    default: return nil
    }
  }

  private func axis(_ symbol: PythonSymbol, _ array: FormulaArray) -> Int? {
    symbol.int.map { $0 < 0 ? $0 + array.shape.count : $0 }.flatMap {
      array.shape.indices.contains($0) ? $0 : nil
    }
  }

  /// The slices of a table at indices along an axis.
  func rows(
    of table: FormulaArray, at indices: FormulaArray, axis: Int = 0
  ) throws -> PythonSymbol {
    if axis > 0 {
      let others = table.shape.indices.filter { $0 != axis }
      let transposed = try rows(of: table.transposed([axis] + others), at: indices).array
      let count = indices.shape.count
      guard let transposed, transposed.shape.count <= Limits.rank else { throw Self.malformed }
      return .array(
        transposed.transposed(
          (0..<axis).map { $0 + count } + (0..<count) + (axis..<others.count).map { $0 + count }))
    }
    guard let count = table.shape.first, count > 0,
      indices.elements.allSatisfy({ 0..<count ~= Int(exactly: $0) ?? -1 })
    else { throw Self.unsupported("it reads rows that the table does not have") }
    let size = table.elements.count / count
    let shape = indices.shape + table.shape.dropFirst()
    try take(steps: checkedProduct(shape, limit: max(arrayLimit, 1 << 22)) / 256)
    let elements = indices.elements.flatMap {
      table.elements[Int($0) * size..<(Int($0) + 1) * size]
    }
    return shape.isEmpty ? .double(elements[0]) : .array(FormulaArray(shape, elements))
  }
}

extension FormulaArray {
  /// `count` consecutive integers.
  fileprivate static func range(_ start: Int, _ count: Int) -> FormulaArray {
    FormulaArray([count], (start..<start + count).map { Double($0) })
  }
}
