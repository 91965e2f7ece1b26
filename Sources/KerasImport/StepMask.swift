import CoreMLModel

/// Which steps of a sequence count, as `Masking` and `Embedding(mask_zero)` tell the layers after
/// them. Core ML has no such thing: the layers that heed a mask compute with it.
indirect enum StepMask: Sendable {
  /// Steps whose index is not 0.
  case nonzero(KerasTensor)
  /// Steps in which any element differs from a value.
  case differs(KerasTensor, from: Float)
  case all([StepMask])

  /// The same for the same mask.
  fileprivate var key: String {
    switch self {
    case .nonzero(let tensor): "0 " + tensor.blob
    case .differs(let tensor, let value): "\(value) " + tensor.blob
    case .all(let masks): masks.map(\.key).joined(separator: "\n")
    }
  }

  /// The mask of a layer with several inputs: the steps that count in all of them.
  static func common(_ masks: [StepMask]) -> StepMask? {
    var keys: Set<String> = []
    let different = masks.filter { keys.insert($0.key).inserted }
    return different.count > 1 ? .all(different) : different.first
  }
}

/// What becomes of the mask of a layer's inputs.
enum MaskPolicy {
  /// The outputs have none.
  case drops
  /// The outputs have that of the inputs.
  case passes
  /// The layer says for each output.
  case decides
}

extension NetworkWriter {
  /// A sequence of one channel: 1 where a step counts, 0 where not.
  mutating func steps(of mask: StepMask) -> KerasTensor {
    if let known = masks[mask.key] { return known }
    let number = masks.count + 1
    let name = "mask_\(number)"
    var result: KerasTensor
    switch mask {
    case .nonzero(let indices):
      result = relaid(indices, to: .indices, for: name)
      result.blob = addUpperLimit(1, result.blob, name: name)
    case .differs(let tensor, let value):
      result = relaid(tensor, to: .sequence, for: name)
      let distance = unary(.abs, result.blob, name + "__distance__", shift: -value)
      let largest = reduced(.max, .c, distance, name + "__max__")
      // However small it is, it counts.
      let scaled = affine(largest, 1e30, 0, name + "__scale__")
      result.blob = addUpperLimit(1, scaled, name: name)
    case .all(let masks):
      let blobs = masks.map { steps(of: $0) }
      result = blobs[0]
      result.blob = add(name, Min(), blobs.map(\.blob))
    }
    result.shape = [result.shape[0], result.shape[1], 1]
    result.layout = .sequence
    result.mask = nil
    masks[mask.key] = result
    return result
  }
}
