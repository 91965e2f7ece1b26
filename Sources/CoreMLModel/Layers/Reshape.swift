import TensorCore

/// The same elements in another shape.
package struct Reshape: LayerParameters {
  package enum Order: Int, Sendable, CaseIterable {
    /// Reshapes in C, H, W order.
    case channelFirst = 0
    /// Transposes to H, W, C, reshapes, and transposes back.
    case channelLast = 1
  }

  /// `[C, H, W]` or `[Seq, C, H, W]`; one size may be −1, which is computed from the others.
  package var targetShape: [Int] = []
  package var mode = Order.channelFirst

  package init() {}

  package static let fields: Fields = [.ints("targetShape", \.targetShape), .value("mode", \.mode)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try input(inputs)
    try require(
      [3, 4].contains(targetShape.count),
      "\(targetShape) is invalid; three or four sizes are needed", field: "targetShape")
    var sizes = (targetShape.count == 3 ? [shape.sequence] : []) + targetShape
    let count = try checkedProduct([shape.sequence, shape.itemCount], limit: Limits.tensorElements)
    if let open = sizes.firstIndex(of: -1) {
      sizes[open] = 1
      let others = try checkedProduct(sizes, limit: Limits.tensorElements)
      if others > 0, count % others == 0 { sizes[open] = count / others }
    }
    try require(
      checkedProduct(sizes, limit: Limits.tensorElements) == count,
      "\(targetShape) does not match the input's \(shape.channels) × \(shape.height) × "
        + "\(shape.width)", field: "targetShape")
    return [try BlobShape([sizes[0], shape.batch] + sizes.dropFirst()).checked]
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.require(
      [3, 4].contains(targetShape.count), "targetShape",
      "\(targetShape) is invalid; three or four sizes are needed")
  }
}

/// Flattens to `[C·H·W, 1, 1]`.
package struct Flatten: LayerParameters {
  package typealias Order = Reshape.Order

  package var mode = Order.channelFirst

  package init() {}

  package static let fields: Fields = [.value("mode", \.mode)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try input(inputs)
    return [try BlobShape([shape.sequence, shape.batch, try shape.itemCount, 1, 1]).checked]
  }
}

/// Axis `i` of `[Seq, C, H, W]` of the output is axis `axis[i]` of the input.
package struct Permute: LayerParameters {
  package var axis: [Int] = []

  package init() {}

  package static let fields: Fields = [.ints("axis", \.axis)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try input(inputs)
    guard !axis.isEmpty else { return [try shape.checked] }
    try require(
      axis.sorted() == [0, 1, 2, 3], "\(axis) is not a permutation of the axes 0 to 3",
      field: "axis")
    let sizes = [shape.sequence, shape.channels, shape.height, shape.width]
    let moved = axis.map { sizes[$0] }
    return [try BlobShape([moved[0], shape.batch] + moved.dropFirst()).checked]
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.require(
      axis.sorted() == [0, 1, 2, 3], "axis", "\(axis) is not a permutation of the axes 0 to 3")
  }
}
