import CoreMLModel
import Formulas
import TensorCore

/// Slices and reductions.
extension FormulaLowering {
  mutating func sliced(_ value: Value, _ items: [Expression.SliceItem]) throws -> Value {
    guard case .line(let line) = value, items.count == Placement.rank else {
      throw ModelError(.internal, "slicing a constant is not supported")
    }
    var blob = line.blob
    var borders = BorderAmounts(top: 0, bottom: 0, left: 0, right: 0)
    var isCropped = false
    var shape = shapes[blob]
    for (place, item) in items.enumerated() where item != .all {
      let part = try Expression.part(item, length: shape[place])
      guard case .range(let start, let end, let step) = item, step > 0 else {
        throw ModelError(.unsupported, "reversing an axis is not supported")
      }
      if place >= 3, step == 1 {
        var amounts: (Int, Int)?
        if let length = shape[place], let count = part.count {
          amounts = (part.start, length - part.start - count)
        } else if start ?? 0 >= 0, end ?? -1 < 0 {
          amounts = (start ?? 0, end.map { -$0 } ?? 0)
        }
        if let (first, last) = amounts {
          borders =
            place == 3
            ? BorderAmounts(top: first, bottom: last, left: borders.left, right: borders.right)
            : BorderAmounts(top: borders.top, bottom: borders.bottom, left: first, right: last)
          isCropped = true
          shape[place] = part.count
          continue
        }
      }
      if place >= 2, let count = part.count, let length = shape[place] {
        var slice = Slice()
        slice.axis = [.channel, .height, .width][place - 2]
        slice.startIndex = part.start
        slice.endIndex = min(length, part.start + (count - 1) * step + 1)
        slice.stride = step
        shape[place] = count
        var own = shapes[blob]
        own[place] = count
        blob = add("slice", slice, [blob], own)
        continue
      }
      let slice = SliceStatic(rank: Placement.rank, axis: place, from: start, to: end, by: step)
      shape[place] = part.count
      var own = shapes[blob]
      own[place] = part.count
      blob = add("slice", slice, [blob], own)
    }
    if isCropped { blob = add("crop", Crop().with(\.cropAmounts, borders), [blob], shape) }
    return .line(Line(blob: blob, scale: line.scale, shift: line.shift))
  }

  mutating func reduced(
    _ reduction: Expression.Reduction, _ value: Value, _ axes: [Int]
  ) throws -> Value {
    guard case .line(let line) = value else {
      throw ModelError(.internal, "reducing a constant is not supported")
    }
    var blob = settled(line)
    var places = Set(axes)
    try require(
      places.isSubset(of: [0, 2, 3, 4]), .unsupported,
      "\(reduction.rawValue) over the batch is not supported")
    // The sequence cannot be reduced, so another axis takes its place.
    var moved: Int?
    if places.contains(0) {
      guard
        let free = [4, 3, 2].first(where: { !places.contains($0) && shapes[blob][$0] == 1 })
          ?? [4, 3, 2].first(where: { !places.contains($0) })
      else {
        throw ModelError(.unsupported, "\(reduction.rawValue) over all axes is not supported")
      }
      moved = free
      places.remove(0)
      places.insert(free)
      blob = exchanged(blob, free)
    }
    let mode: Reduce.Operation =
      switch reduction {
      case .sum: .sum
      case .mean: .avg
      case .product: .prod
      case .max: .max
      case .min: .min
      }
    for (axis, gone) in Reduce.Axis.steps(over: places) {
      var shape = shapes[blob]
      for place in gone { shape[place] = 1 }
      blob = add(reduction.rawValue, Reduce().with(\.mode, mode).with(\.axis, axis), [blob], shape)
    }
    if let moved, shapes[blob][0] != 1 { blob = exchanged(blob, moved) }
    return .line(Line(blob: blob))
  }

  /// The blob with its sequence and another axis exchanged.
  private mutating func exchanged(_ blob: Int, _ place: Int) -> Int {
    var permute = Permute()
    permute.axis = [0, 1, 2, 3]
    permute.axis.swapAt(0, place - 1)
    var shape = shapes[blob]
    shape.swapAt(0, place)
    return add("permute", permute, [blob], shape)
  }
}
