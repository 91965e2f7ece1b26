import CoreMLModel
import TensorCore

extension Padding: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let input = inputs[0]
    let top = paddingAmounts?.top ?? 0
    let left = paddingAmounts?.left ?? 0
    return try planeOutput(inputs) { p in
      let y = source(p.y - top, size: input.height)
      let x = source(p.x - left, size: input.width)
      guard let y, let x else {
        if case .constant(let value) = kind { return Double(value) }
        return 0
      }
      return input[p.sequence, p.batch, p.channel, y, x]
    }
  }

  /// The input index for output index `index`; nil for the constant.
  private func source(_ index: Int, size: Int) -> Int? {
    if index >= 0 && index < size { return index }
    switch kind {
    case .constant, nil: return nil
    case .replication: return min(max(index, 0), size - 1)
    case .reflection:
      let mirrored = index < 0 ? -index : 2 * (size - 1) - index
      return min(max(mirrored, 0), size - 1)
    }
  }
}
