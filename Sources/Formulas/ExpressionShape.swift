import TensorCore

extension Expression {
  /// Elements `start`, `start + step`, … of an axis; the count is nil if the axis's length is
  /// unknown.
  package struct AxisPart: Sendable, Equatable {
    package var start: Int
    package var step: Int
    package var count: Int?
  }

  /// The common shape after broadcasting as in numpy: aligned at the last axes, with lengths that
  /// are equal or 1. Nil means an unknown length.
  package static func broadcast(_ shapes: [[Int?]]) throws -> [Int?] {
    var result: [Int?] = []
    for shape in shapes {
      if shape.count > result.count {
        result = [Int?](repeating: 1, count: shape.count - result.count) + result
      }
      for (axis, size) in zip(result.indices.suffix(shape.count), shape) where size != 1 {
        if result[axis] == 1 || result[axis] == nil { result[axis] = size ?? result[axis] }
        try require(
          size == nil || result[axis] == size, .mismatch,
          "the shapes " + shapes.map(Self.text).joined(separator: " and ")
            + " cannot be broadcast together")
        if size == nil, result[axis] == 1 { result[axis] = nil }
      }
    }
    return result
  }

  package static func text(_ shape: [Int?]) -> String {
    "(" + shape.map { $0.map(String.init) ?? "?" }.joined(separator: ", ") + ")"
  }

  /// Axes counted from 0, in ascending order; nil means all.
  package static func axes(_ axes: [Int]?, rank: Int) throws -> [Int] {
    guard let axes else { return Array(0..<rank) }
    var result: Set<Int> = []
    for axis in axes {
      try require(
        (-rank..<rank).contains(axis) && result.insert(axis < 0 ? axis + rank : axis).inserted,
        .mismatch, "axis \(axis) does not exist in rank \(rank), or is repeated")
    }
    return result.sorted()
  }

  /// The items without an ellipsis: one per axis, with new axes between them.
  package static func items(_ items: [SliceItem], rank: Int) throws -> [SliceItem] {
    let named = items.count { $0 != .ellipsis && $0 != .newAxis }
    guard named <= rank, items.count(where: { $0 == .ellipsis }) <= 1 else {
      throw ModelError(.mismatch, "\(named) indices for \(rank) axes")
    }
    let rest = [SliceItem](repeating: .all, count: rank - named)
    guard let ellipsis = items.firstIndex(of: .ellipsis) else { return items + rest }
    var all = items
    all.replaceSubrange(ellipsis...ellipsis, with: rest)
    return all
  }

  /// The elements that an item selects from an axis of `length`.
  package static func part(_ item: SliceItem, length: Int?) throws -> AxisPart {
    switch item {
    case .ellipsis, .newAxis: throw ModelError(.internal, "no item of an axis")
    case .index(let index):
      guard let length else { return AxisPart(start: index, step: 1, count: 1) }
      guard (-length..<length).contains(index) else {
        throw ModelError(.mismatch, "index \(index) is out of range for length \(length)")
      }
      return AxisPart(start: index < 0 ? index + length : index, step: 1, count: 1)
    case .range(nil, nil, 1): return AxisPart(start: 0, step: 1, count: length)
    case .range(let start, let end, let step):
      try require(step != 0 && step.magnitude <= Limits.dimension, .mismatch, "a step of \(step)")
      guard let length else { return AxisPart(start: start ?? 0, step: step, count: nil) }
      let bounds = step > 0 ? 0...length : -1...length - 1
      func position(_ value: Int) -> Int {
        min(max(value < 0 ? value + length : value, bounds.lowerBound), bounds.upperBound)
      }
      let first = start.map(position) ?? (step > 0 ? 0 : length - 1)
      let last = end.map(position) ?? (step > 0 ? length : -1)
      let distance = step > 0 ? last - first : first - last
      try require(distance > 0, .mismatch, "an axis of length \(length) becomes empty")
      return AxisPart(start: first, step: step, count: (distance - 1) / abs(step) + 1)
    }
  }

  /// The shape of this operation's result for operands of the given shapes.
  func resultShape(_ operands: [[Int?]]) throws -> [Int?] {
    switch node {
    case .number, .name: return []
    case .apply:
      let shape = try Self.broadcast(operands)
      try require(shape.count <= Limits.rank, .limitExceeded, "more than \(Limits.rank) axes")
      _ = try checkedProduct(shape.map { $0 ?? 1 }, limit: Limits.tensorElements)
      return shape
    case .reduce(_, _, let axes, let keepsAxes):
      let gone = try Self.axes(axes, rank: operands[0].count)
      return operands[0].enumerated().compactMap { axis, size in
        gone.contains(axis) ? (keepsAxes ? .some(1) : nil) : .some(size)
      }
    case .slice(_, let items):
      var axis = 0
      var shape: [Int?] = []
      for item in try Self.items(items, rank: operands[0].count) {
        if item == .newAxis {
          shape.append(1)
          continue
        }
        let part = try Self.part(item, length: operands[0][axis])
        if case .index = item {} else { shape.append(part.count) }
        axis += 1
      }
      try require(shape.count <= Limits.rank, .limitExceeded, "more than \(Limits.rank) axes")
      return shape
    }
  }

  /// The shape of the whole expression, given the shapes of the names.
  package func shape(_ names: [String: [Int?]]) throws -> [Int?] {
    if case .name(let name) = node { return try names.value(named: name) }
    return try resultShape(operands.map { try $0.shape(names) })
  }
}

extension Dictionary where Key == String {
  /// The value of a name in a formula.
  func value(named name: String) throws -> Value {
    guard let value = self[name] else { throw ModelError(.mismatch, "unknown name '\(name)'") }
    return value
  }
}
