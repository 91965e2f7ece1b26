import TensorCore

/// A shape `[Seq, Batch, C, H, W]` with names for its axes.
struct BlobShape {
  var sequence: Int
  var batch: Int
  var channels: Int
  var height: Int
  var width: Int

  init(_ shape: [Int]) throws {
    try require(
      shape.count == 5, "an input has the shape \(shape); the rank must be 5", field: "input")
    sequence = shape[0]
    batch = shape[1]
    channels = shape[2]
    height = shape[3]
    width = shape[4]
  }

  var array: [Int] { [sequence, batch, channels, height, width] }

  /// C · H · W
  var itemCount: Int {
    get throws { try checkedProduct([channels, height, width], limit: Limits.tensorElements) }
  }

  /// The shape, after checking that it is valid for a result.
  var checked: [Int] { get throws { try checkedShape(array) } }

  func resized(_ height: Int, _ width: Int) -> Self {
    var result = self
    (result.height, result.width) = (height, width)
    return result
  }

  /// Throws if the input's channels differ from the parameters.
  func requireChannels(_ expected: Int, _ field: String) throws {
    try require(
      channels == expected, "the input has \(channels) channels, not \(expected)", field: field)
  }
}

/// `shape`, after checking that it is valid for a result.
func checkedShape(_ shape: [Int]) throws -> [Int] {
  try require(
    shape.allSatisfy({ $0 > 0 && $0 <= Limits.dimension }),
    shape.contains { $0 > Limits.dimension } ? .limitExceeded : .malformed,
    "the output would have the shape \(shape)")
  _ = try checkedProduct(shape, limit: Limits.tensorElements)
  return shape
}

extension LayerParameters {
  /// The only input, or the first one.
  func input(_ inputs: [[Int]]) throws -> BlobShape {
    try requireInputs(inputs)
    return try BlobShape(inputs.first ?? [])
  }

  func requireInputs(_ inputs: [[Int]], atLeast count: Int = 1) throws {
    let range = Self.inputCount
    guard range.contains(inputs.count), inputs.count >= count else {
      let needed =
        range.upperBound == .max
        ? "\(max(count, range.lowerBound)) or more"
        : range.lowerBound == range.upperBound
          ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
      throw ModelError(
        .malformed, "the layer has \(counted(inputs.count, "input")); it needs \(needed)",
        field: "input")
    }
  }
}

/// A pair of sizes for H and W, with the specification's defaults.
///
/// - Throws: `ModelError` unless there are two positive sizes.
func sizePair(_ values: [Int], _ standard: Int, _ field: String) throws -> [Int] {
  if values.isEmpty { return [standard, standard] }
  try require(
    values.count == 2 && values.allSatisfy({ $0 > 0 && $0 <= Limits.dimension }),
    "\(values) is invalid; two positive sizes are needed", field: field)
  return values
}

extension BorderAmounts {
  /// The amounts after a check; all 0 if none are set.
  func resolved(_ field: String) throws -> ExplicitPadding {
    let amounts = [top, bottom, left, right]
    try require(
      [0, 2].contains(borderAmounts.count)
        && amounts.allSatisfy({ $0 >= 0 && $0 <= Limits.dimension }),
      "\(borderAmounts.count) pairs of amounts \(amounts); two are needed", field: field)
    return ExplicitPadding(top: top, bottom: bottom, left: left, right: right)
  }
}

/// Rows and columns added around an image.
package struct ExplicitPadding: Sendable, Equatable {
  package var top = 0
  package var bottom = 0
  package var left = 0
  package var right = 0
}

extension SamePadding {
  /// Splits the totals for H and W; `asymmetryMode` selects the side that gets an odd one.
  func split(height: Int, width: Int) -> ExplicitPadding {
    func parts(_ total: Int) -> (Int, Int) {
      let start = asymmetryMode == .bottomRightHeavy ? total / 2 : total - total / 2
      return (start, total - start)
    }
    let (top, bottom) = parts(max(0, height))
    let (left, right) = parts(max(0, width))
    return ExplicitPadding(top: top, bottom: bottom, left: left, right: right)
  }
}
