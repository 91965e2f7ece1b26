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
    for (position, item) in items.enumerated() where item != .all {
      let part = try Expression.part(item, length: shape[position])
      guard case .range(let start, let end, let step) = item, step > 0 else {
        throw ModelError(.unsupported, "reversing an axis is not supported")
      }
      if position >= 3, step == 1 {
        var amounts: (Int, Int)?
        if let length = shape[position], let count = part.count {
          amounts = (part.start, length - part.start - count)
        } else if start ?? 0 >= 0, end ?? -1 < 0 {
          amounts = (start ?? 0, end.map { -$0 } ?? 0)
        }
        if let (first, last) = amounts {
          borders =
            position == 3
            ? BorderAmounts(top: first, bottom: last, left: borders.left, right: borders.right)
            : BorderAmounts(top: borders.top, bottom: borders.bottom, left: first, right: last)
          isCropped = true
          shape[position] = part.count
          continue
        }
      }
      if position >= 2, let count = part.count, let length = shape[position] {
        var slice = Slice()
        slice.axis = [.channel, .height, .width][position - 2]
        slice.startIndex = part.start
        slice.endIndex = min(length, part.start + (count - 1) * step + 1)
        slice.stride = step
        shape[position] = count
        var own = shapes[blob]
        own[position] = count
        blob = add("slice", slice, [blob], own)
        continue
      }
      let slice = SliceStatic(rank: Placement.rank, axis: position, from: start, to: end, by: step)
      shape[position] = part.count
      var own = shapes[blob]
      own[position] = part.count
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
    var positions = Set(axes)
    try require(
      positions.isSubset(of: [0, 2, 3, 4]), .unsupported,
      "\(reduction.rawValue) over the batch is not supported")
    // Core ML cannot reduce the sequence axis, so it is swapped with another axis.
    var moved: Int?
    if positions.contains(0) {
      guard
        let free = [4, 3, 2].first(where: { !positions.contains($0) && shapes[blob][$0] == 1 })
          ?? [4, 3, 2].first(where: { !positions.contains($0) })
      else {
        throw ModelError(.unsupported, "\(reduction.rawValue) over all axes is not supported")
      }
      moved = free
      positions.remove(0)
      positions.insert(free)
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
    for (axis, gone) in Reduce.Axis.steps(over: positions) {
      var shape = shapes[blob]
      for position in gone { shape[position] = 1 }
      blob = add(reduction.rawValue, Reduce().with(\.mode, mode).with(\.axis, axis), [blob], shape)
    }
    if let moved, shapes[blob][0] != 1 { blob = exchanged(blob, moved) }
    return .line(Line(blob: blob))
  }

  /// The blob with its sequence and another axis exchanged.
  private mutating func exchanged(_ blob: Int, _ position: Int) -> Int {
    var permute = Permute()
    permute.axis = [0, 1, 2, 3]
    permute.axis.swapAt(0, position - 1)
    var shape = shapes[blob]
    shape.swapAt(0, position)
    return add("permute", permute, [blob], shape)
  }
}
