import CoreMLModel
import TensorCore

/// The points at which an interval is sampled, with the names that operations use.
enum SamplingGrid: String {
  case strictAlignCorners = "STRICT_ALIGN_CORNERS"
  case alignCorners = "ALIGN_CORNERS"
  case `default` = "DEFAULT"
  case offsetCorners = "OFFSET_CORNERS"
  case unalignCorners = "UNALIGN_CORNERS"

  /// The equivalent in layers; nil if they do not support it.
  var method: SamplingMethod? { SamplingMethod.allCases.first { $0.operationName == rawValue } }

  /// Point i of `count` in an interval of length e is at offset[i] + slope[i] · e, clamped to the
  /// interval; for `offsetCorners`, e is at least 1 in this formula.
  func points(_ count: Int) -> (offset: [Double], slope: [Double]) {
    let (n, steps) = (Double(count), (0..<count).map { Double($0) })
    let zeros = [Double](repeating: 0, count: count)
    switch self {
    case .strictAlignCorners: return (zeros, steps.map { count == 1 ? 0 : $0 / (n - 1) })
    case .alignCorners: return (zeros, steps.map { count == 1 ? 0.5 : $0 / (n - 1) })
    case .default: return (steps.map { $0 / n }, steps.map { $0 / n })
    case .offsetCorners: return (zeros, steps.map { ($0 + 0.5) / n })
    case .unalignCorners:
      return (steps.map { ($0 + 0.5) / n - 0.5 }, steps.map { ($0 + 0.5) / n })
    }
  }

  /// `count` points of the interval from 0 to `length` − 1.
  func points(_ count: Int, of length: Int) -> [Double] {
    let end = Double(length - 1)
    let (offset, slope) = points(count)
    let extent = self == .offsetCorners ? max(1, end) : end
    return zip(offset, slope).map { min(max($0 + $1 * extent, 0), end) }
  }
}

extension OperationCall {
  func samplingGrid() throws -> SamplingGrid {
    let name = try string("sampling_mode", "DEFAULT")
    return try SamplingGrid(rawValue: name).orThrow(
      ModelError(.unsupported, "mode '\(name)' is not supported", field: "sampling_mode"))
  }

  /// The elements at constant positions along an axis.
  func taken(_ x: ProgramValue, _ positions: [Int], axis: Int) throws -> ProgramValue {
    if positions == Array(0..<x.shape[axis]) { return x }
    let indices = ProgramValue(MILElements(positions, [positions.count]))
    return try add(Gather().with(\.axis, axis), x, indices)
  }

  /// Interpolates between the elements of an axis.
  private func interpolated(
    _ x: ProgramValue, at points: [Double], axis: Int
  ) throws -> ProgramValue {
    let lower = points.map { Int($0) }
    let first = try taken(x, lower, axis: axis)
    let fractions = points.map { Float($0 - $0.rounded(.down)) }
    if fractions.allSatisfy({ $0 == 0 }) { return first }
    let second = try taken(x, lower.map { min($0 + 1, x.shape[axis] - 1) }, axis: axis)
    var shape = [Int](repeating: 1, count: x.rank)
    shape[axis] = points.count
    return try plus(first, times(minus(second, first), constant(fractions, shape, x.type)))
  }

  /// Resizes the last axes.
  func resized(_ x: ProgramValue, _ sizes: [Int], _ grid: SamplingGrid) throws -> ProgramValue {
    try requireSizes(sizes, x)
    if x.rank >= 3, sizes.count == 2, let method = grid.method {
      return try add(ResizeBilinear().with(\.targetSize, sizes).with(\.mode, method), x)
    }
    return try resized(x, sizes) {
      try interpolated($0, at: grid.points($1, of: $0.shape[$2]), axis: $2)
    }
  }

  /// Resizes the last axes with the element that `position` returns for (i, size, old size).
  func resizedToNearest(
    _ x: ProgramValue, _ sizes: [Int], position: (Int, Int, Int) -> Int
  ) throws -> ProgramValue {
    try requireSizes(sizes, x)
    return try resized(x, sizes) { value, size, axis in
      try taken(value, (0..<size).map { position($0, size, value.shape[axis]) }, axis: axis)
    }
  }

  private func resized(
    _ x: ProgramValue, _ sizes: [Int],
    _ body: (ProgramValue, _ size: Int, _ axis: Int) throws -> ProgramValue
  ) throws -> ProgramValue {
    var result = x
    for (position, size) in sizes.enumerated() {
      let axis = x.rank - sizes.count + position
      if x.shape[axis] != size { result = try body(result, size, axis) }
    }
    return result
  }

  private func requireSizes(_ sizes: [Int], _ x: ProgramValue) throws {
    try require(
      sizes.count <= x.rank && sizes.allSatisfy { $0 > 0 && $0 <= Limits.dimension },
      "\(sizes) for an input of shape \(x.shape)")
  }
}
