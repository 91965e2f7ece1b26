/// An axis on which a tensor has one item in the interface, but several in the file.
struct OmittedBatch: Equatable, Sendable {
  var axis: Int
  var size: Int

  /// The batch axis after a reshape that keeps the order of elements; nil if it does not keep items
  /// separate.
  func axis(reshaping shape: [Int], to target: [Int]) -> Int? {
    let items = shape[..<axis].reduce(1, *)
    return target.indices.first { target[$0] == size && target[..<$0].reduce(1, *) == items }
  }
}

extension LayerCall {
  /// Whether all bottoms have the same omitted batch.
  var sharesBatch: Bool { inputs.allSatisfy { $0.batch == inputs[0].batch } }

  /// The tops' omitted batch; nil if there is none, or if the layer needs the whole one.
  func topBatch(_ type: CaffeLayerType?, isCustom: Bool) throws -> OmittedBatch? {
    guard let batch = inputs.lazy.compactMap(\.batch).first else { return nil }
    guard !isCustom, let type else { return batch }
    return try type.batchAxis(self, batch).map { OmittedBatch(axis: $0, size: batch.size) }
  }
}
