import TensorCore

/// The axis order of a feature of a network with exact mapping, whose arrays can have any rank.
///
/// Importers record it under `assay.layout.FEATURE` as the source framework's axes and the model's.
/// Each axis is one capital letter, the same on both sides: `NDHWC:NCDHW`, `NTC:NTC`. `N` is the
/// batch. An axis that only one side has is of length 1, except for the batch of the source:
/// without it, the model takes one item at a time.
package struct ExactLayout: Sendable, Equatable {
  package let source: [Character]
  package let model: [Character]

  /// Nil if the text does not have that form.
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

  /// Whether only the source has a batch axis.
  var isOfOneItem: Bool { source.contains("N") && !model.contains("N") }
  /// The model's axes, with the batch first if the model lacks it.
  private var batch: [Character] { isOfOneItem ? ["N"] + model : model }
  /// The index of the batch axis in the blob of several items.
  var batchAxis: Int? { batch.firstIndex(of: "N") }

  /// Converts an array from the source's axis order to the model's, after the batch axis if the
  /// model lacks it. The array's batch axis may be omitted.
  func canonical(_ array: Tensor, feature: String) throws -> Tensor {
    var shape = array.shape
    if shape.count == source.count - 1, let batch = source.firstIndex(of: "N") {
      shape.insert(1, at: batch)
    }
    try require(
      shape.count == source.count
        && zip(source, shape).allSatisfy({ batch.contains($0) || $1 == 1 }), .mismatch,
      "an array of shape \(array.shape) does not match the layout \(String(source))",
      field: feature,
      hint:
        "give \(source.count) axes in the order \(String(source)), or use \(setting: "layout") coreml"
    )
    return Self.reordered(array.reshaped(shape), from: source, to: batch)
  }

  /// Converts an item or a batch from the model's axis order to the source's; if it does not fit,
  /// returns it unchanged.
  func source(_ blob: Tensor) -> Tensor {
    let axes = blob.shape.count == model.count ? model : batch
    guard blob.shape.count == axes.count,
      zip(axes, blob.shape).allSatisfy({ source.contains($0) || $1 == 1 })
    else { return blob }
    return Self.reordered(blob, from: axes, to: source)
  }

  private static func reordered(_ array: Tensor, from: [Character], to: [Character]) -> Tensor {
    let shared = from.filter(to.contains)
    let dense = array.reshaped(zip(from, array.shape).filter { to.contains($0.0) }.map(\.1))
    let order = to.compactMap { shared.firstIndex(of: $0) }
    let moved = shared.isEmpty ? dense : dense.transposed(order)
    var sizes = moved.shape.makeIterator()
    return moved.reshaped(to.map { shared.contains($0) ? sizes.next() ?? 1 : 1 })
  }
}
