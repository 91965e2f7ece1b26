import CoreMLModel

/// Which steps of a sequence count, as `Masking` and `Embedding(mask_zero)` tell the layers after
/// them. Core ML has no masks: the layers that use one compute with it.
indirect enum StepMask: Sendable {
  /// Steps whose index is not 0.
  case nonzero(KerasTensor)
  /// Steps in which any element differs from a value.
  case differs(KerasTensor, from: Float)
  /// Steps at which a tensor that the model's author made is not 0.
  case given(KerasTensor)
  case all([StepMask])
  case any([StepMask])
  /// One after the other; nil if all the steps of a tensor count.
  case joined([(mask: StepMask?, of: KerasTensor)])

  /// The same for the same mask.
  fileprivate var key: String {
    switch self {
    case .nonzero(let tensor): "0 " + tensor.blob
    case .differs(let tensor, let value): "\(value) " + tensor.blob
    case .given(let tensor): "given " + tensor.blob
    case .all(let masks): "all\n" + masks.map(\.key).joined(separator: "\n")
    case .any(let masks): "any\n" + masks.map(\.key).joined(separator: "\n")
    case .joined(let parts):
      "joined\n" + parts.map { $0.mask?.key ?? "all of " + $0.of.blob }.joined(separator: "\n")
    }
  }

  /// The mask of a layer with several inputs: the steps that count in all of them.
  static func common(_ masks: [StepMask]) -> StepMask? {
    let different = different(masks)
    return different.count > 1 ? .all(different) : different.first
  }

  /// The mask of a sum, a product and similar: since Keras 3.4 the steps that count in any input,
  /// and all where one has no mask.
  static func merged(_ inputs: [KerasTensor], _ version: KerasVersion) -> StepMask? {
    let masks = inputs.compactMap(\.mask)
    guard version.isAtLeast(3, 4) else { return common(masks) }
    guard masks.count == inputs.count else { return nil }
    let different = different(masks)
    return different.count > 1 ? .any(different) : different.first
  }

  private static func different(_ masks: [StepMask]) -> [StepMask] {
    var keys: Set<String> = []
    return masks.filter { keys.insert($0.key).inserted }
  }
}

/// What becomes of the mask of a layer's inputs.
enum MaskPolicy {
  /// The outputs have none.
  case drops
  /// The outputs have that of the inputs.
  case passes
  /// The output has that which several inputs make together.
  case merges
  /// The layer says for each output.
  case decides
}

extension NetworkWriter {
  /// A sequence of one channel: 1 where a step counts, 0 where not.
  mutating func steps(of mask: StepMask) -> KerasTensor {
    if let known = masks[mask.key] { return known }
    maskCount += 1
    let name = "mask_\(maskCount)"
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
    case .given(let tensor):
      result = tensor
      if tensor.rank == 2 { result = relaid(tensor, to: .indices, for: name) }
      result.blob = counting(result.blob, name)
    case .all(let masks):
      let parts = masks.map { steps(of: $0) }
      result = parts[0]
      result.blob = add(name, Min(), parts.map(\.blob))
    case .any(let masks):
      let parts = masks.map { steps(of: $0) }
      result = parts[0]
      result.blob = add(name, Max(), parts.map(\.blob))
    case .joined(let parts):
      let blobs = parts.enumerated().map { index, part in
        if let mask = part.mask { return steps(of: mask).blob }
        let first = slice(part.of.blob, 0..<1, "\(name)__first_\(index)__")
        return affine(first, 0, 1, "\(name)__ones_\(index)__")
      }
      result = parts[0].of
      result.blob = joined(blobs, alongSequence: true, name)
      result.shape[1] = parts.reduce(0) { sum, part in
        sum.flatMap { sum in part.of.shape[1].map { sum + $0 } }
      }
    }
    result.shape = [result.shape[0], result.shape[1], 1]
    result.layout = .sequence
    result.mask = nil
    masks[mask.key] = result
    return result
  }
}
