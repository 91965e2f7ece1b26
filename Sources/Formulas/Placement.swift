import TensorCore

/// The positions of a source framework's axes in Core ML's `[Seq, Batch, C, H, W]`.
package struct Placement: Sendable, Equatable {
  /// Sizes along the source's axes, including the batch; nil for unknown sizes.
  package var shape: [Int?]
  /// The Core ML axis for each of the source's axes; nil for an axis of size 1 that has none.
  package var places: [Int?]

  package static let rank = 5
  package static let sequence = 0
  package static let batch = 1
  package static let channel = 2
  package static let height = 3
  package static let width = 4

  /// - Precondition: there are as many places as sizes.
  package init(_ shape: [Int?], _ places: [Int?]) {
    self.shape = shape
    self.places = places
  }

  /// Sizes along Core ML's axes.
  package var blobShape: [Int?] {
    var sizes = [Int?](repeating: 1, count: Self.rank)
    for (size, place) in zip(shape, places) { if let place { sizes[place] = size } }
    return sizes
  }

  /// The Core ML axes. Source axes without one get the first free axes in `order`, the last axis
  /// first; nil if there are too few.
  package func filled(_ order: [Int]) -> [Int]? {
    var places = places
    for index in places.indices.reversed() where places[index] == nil {
      guard let free = order.first(where: { !places.contains($0) }) else { return nil }
      places[index] = free
    }
    return places.compactMap { $0 }
  }

  /// The permutation (axis `i` of the result is axis `permutation[i]` of the source) of `rank` axes
  /// that moves the axes in `from` to `to`. Axes in neither list stay in place if they can.
  package static func permutation(_ rank: Int = rank, from: [Int], to: [Int]) -> [Int] {
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

  /// The placement of a constant of `shape`, aligned at the last axes.
  package func last(_ shape: [Int]) throws -> Placement {
    try require(
      shape.count <= places.count || shape.dropLast(places.count).allSatisfy({ $0 == 1 }),
      .mismatch,
      "a weight of the shape \(Expression.text(shape)) for a tensor \(Expression.text(self.shape))")
    let count = min(shape.count, places.count)
    let kept = Array(shape.suffix(count))
    return Placement(
      kept,
      zip(kept, places.suffix(count)).map { size, place in
        place == Self.batch && size == 1 ? nil : place
      })
  }

  /// The values of a constant with this placement, along Core ML's axes.
  package func placed(_ array: FormulaArray) -> FormulaArray {
    let array = array.shaped(array.shape.suffix(shape.count).map { $0 })
    let order = array.shape.indices.sorted { (places[$0] ?? -1) < (places[$1] ?? -1) }
    return array.transposed(order).shaped(blobShape.map { $0 ?? 1 })
  }
}

extension Expression {
  /// The same formula for Core ML's blobs: every slice has five items, every reduction keeps its
  /// axes, and the axes of broadcast operands are at the same positions.
  ///
  /// - Parameter names: the placements of inputs and weights.
  /// - Throws: `ModelError` if a formula needs its axes at other positions, or mixes the images of
  ///   a batch.
  package func placed(
    _ names: [String: Placement]
  ) throws -> (expression: Expression, placement: Placement) {
    switch node {
    case .number: return (self, Placement([], []))
    case .name(let name):
      return (self, try names.value(named: name))
    case .apply(let function, let operands):
      let placed = try operands.map { try $0.placed(names) }
      return (
        try .apply(function, placed.map(\.expression)), try Self.joined(placed.map(\.placement))
      )
    case .reduce(let reduction, let operand, let axes, let keepsAxes):
      let (input, placement) = try operand.placed(names)
      let gone = try Self.axes(axes, rank: placement.shape.count)
      let places = gone.compactMap { placement.places[$0] }.sorted()
      try require(
        !places.contains(Placement.batch), .unsupported,
        "\(reduction.rawValue) over the batch is not supported",
        hint: "name the axes: the batch is axis 0")
      var result = placement
      for axis in gone { result.shape[axis] = 1 }
      if !keepsAxes {
        let kept = placement.shape.indices.filter { !gone.contains($0) }
        result = Placement(kept.map { placement.shape[$0] }, kept.map { placement.places[$0] })
      }
      if places.isEmpty { return (input, result) }
      return (try Expression(.reduce(reduction, input, axes: places, keepsAxes: true)), result)
    case .slice(let operand, let items):
      let (input, placement) = try operand.placed(names)
      return try Self.sliced(input, placement, items)
    }
  }

  private static func joined(_ operands: [Placement]) throws -> Placement {
    let shape = try broadcast(operands.map(\.shape))
    var places = [Int?](repeating: nil, count: shape.count)
    for isLong in [true, false] {
      for axis in shape.indices {
        for operand in operands {
          let own = axis - (shape.count - operand.shape.count)
          guard own >= 0, let place = operand.places[own], (operand.shape[own] != 1) == isLong
          else { continue }
          if places[axis] == nil, isLong || !places.contains(place) { places[axis] = place }
          try require(
            !isLong || places[axis] == place, .unsupported,
            "the axes of " + operands.map { text($0.shape) }.joined(separator: " and ")
              + " are laid out differently")
        }
      }
    }
    let used = places.compactMap { $0 }
    try require(
      Set(used).count == used.count, .unsupported,
      "the axes of " + operands.map { text($0.shape) }.joined(separator: " and ")
        + " are laid out differently")
    return Placement(shape, places)
  }

  private static func sliced(
    _ input: Expression, _ placement: Placement, _ items: [SliceItem]
  ) throws -> (expression: Expression, placement: Placement) {
    var blobItems = [SliceItem](repeating: .all, count: Placement.rank)
    var result = Placement([], [])
    var axis = 0
    for item in try Self.items(items, rank: placement.shape.count) {
      if item == .newAxis {
        result.shape.append(1)
        result.places.append(nil)
        continue
      }
      let (size, place) = (placement.shape[axis], placement.places[axis])
      axis += 1
      let part = try Self.part(item, length: size)
      var isIndex = false
      var blobItem = item
      if case .index(let index) = item {
        isIndex = true
        blobItem = .range(start: index, end: index == -1 ? nil : index + 1, step: 1)
      }
      let isWhole = item == .all || size == 1
      if let place, !isWhole {
        try require(place != Placement.batch, .unsupported, "slicing the batch is not supported")
        blobItems[place] = blobItem
      } else if place == Placement.batch, isIndex {
        throw ModelError(.unsupported, "slicing the batch is not supported")
      }
      guard !isIndex else { continue }
      result.shape.append(part.count)
      result.places.append(place)
    }
    try require(result.shape.count <= Limits.rank, .limitExceeded, "more than \(Limits.rank) axes")
    if blobItems.allSatisfy({ $0 == .all }) { return (input, result) }
    return (try Expression(.slice(input, blobItems)), result)
  }
}
