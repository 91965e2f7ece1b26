import TensorCore

/// The order of axes of a feature of a network with exact mapping, whose arrays have any rank.
///
/// Importers record it under `assay.layout.FEATURE` as the source framework's axes and the model's,
/// one capital letter each, the same letter for the same axis: `NDHWC:NCDHW`, `NTC:NTC`. `N` is the
/// batch. An axis that only one of the two has is of length 1.
package struct ExactLayout: Sendable, Equatable {
  package let source: [Character]
  package let model: [Character]

  /// Nil if the text is not of that form.
  package init?(_ text: String) {
    let halves = text.split(separator: ":", omittingEmptySubsequences: false).map { Array($0) }
    guard halves.count == 2,
      halves.allSatisfy({ half in
        !half.isEmpty && Set(half).count == half.count
          && half.allSatisfy { ("A"..."Z").contains($0) }
      })
    else { return nil }
    source = halves[0]
    model = halves[1]
  }

  /// The axis of the model's arrays that counts items.
  var batchAxis: Int? { model.firstIndex(of: "N") }

  /// The model's array of one in the source's order; the batch axis may be left out.
  func canonical(_ array: Tensor, feature: String) throws -> Tensor {
    var shape = array.shape
    if shape.count == source.count - 1, let batch = source.firstIndex(of: "N") {
      shape.insert(1, at: batch)
    }
    try require(
      shape.count == source.count
        && zip(source, shape).allSatisfy({ model.contains($0) || $1 == 1 }), .mismatch,
      "an array of shape \(array.shape) does not match the layout \(String(source))",
      field: feature,
      hint: "give \(source.count) axes in the order \(String(source)), or use --layout coreml")
    return Self.reordered(array.reshaped(shape), from: source, to: model)
  }

  /// The array in the source's order of one of the model's; where it does not fit, the array itself.
  func source(_ blob: Tensor) -> Tensor {
    guard blob.shape.count == model.count,
      zip(model, blob.shape).allSatisfy({ source.contains($0) || $1 == 1 })
    else { return blob }
    return Self.reordered(blob, from: model, to: source)
  }

  private static func reordered(
    _ array: Tensor, from: [Character], to: [Character]
  ) -> Tensor {
    let shared = from.filter(to.contains)
    let dense = array.reshaped(zip(from, array.shape).filter { to.contains($0.0) }.map(\.1))
    let order = to.compactMap { shared.firstIndex(of: $0) }
    let moved = shared.isEmpty ? dense : dense.transposed(order)
    var sizes = moved.shape.makeIterator()
    return moved.reshaped(to.map { shared.contains($0) ? sizes.next() ?? 1 : 1 })
  }
}
