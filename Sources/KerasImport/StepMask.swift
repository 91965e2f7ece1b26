import CoreMLModel

/// The unmasked steps of a sequence, as determined by `Masking` and `Embedding(mask_zero)` for
/// later layers. Core ML has no masks, so layers that use one compute with it. The mask of a
/// sequence of sequences has a number for each step of each inner sequence.
indirect enum StepMask: Sendable {
  /// Steps with a nonzero index.
  case nonzero(KerasTensor)
  /// Steps in which any element differs from a value.
  case differs(KerasTensor, from: Float)
  /// Steps at which a tensor computed by the model is nonzero.
  case given(KerasTensor)
  case all([StepMask])
  case any([StepMask])
  /// Concatenated masks; nil means that all steps of the tensor are unmasked.
  case joined([(mask: StepMask?, of: KerasTensor)])
  /// One step of a sequence of sequences.
  case step(StepMask, Int)
  /// Steps of a sequence of sequences in which any inner step is unmasked.
  case some(StepMask)

  /// Whether it is the mask of a sequence of sequences.
  var isNested: Bool {
    switch self {
    case .nonzero(let tensor): tensor.rank == 3
    case .differs(let tensor, _): tensor.rank == 4
    case .all(let masks), .any(let masks): masks[0].isNested
    case .given, .joined, .step, .some: false
    }
  }

  /// A key that is equal for equal masks.
  fileprivate var key: String {
    switch self {
    case .nonzero(let tensor): "0 " + tensor.blob
    case .differs(let tensor, let value): "\(value) " + tensor.blob
    case .given(let tensor): "given " + tensor.blob
    case .step(let mask, let index): "step \(index)\n" + mask.key
    case .some(let mask): "some\n" + mask.key
    case .all(let masks): "all\n" + masks.map(\.key).joined(separator: "\n")
    case .any(let masks): "any\n" + masks.map(\.key).joined(separator: "\n")
    case .joined(let parts):
      "joined\n" + parts.map { $0.mask?.key ?? "all of " + $0.of.blob }.joined(separator: "\n")
    }
  }

  /// The mask of a layer with several inputs: the steps that are unmasked in all of them.
  static func common(_ masks: [StepMask]) -> StepMask? {
    let different = different(masks)
    return different.count > 1 ? .all(different) : different.first
  }

  /// The mask of a sum, a product or similar: since Keras 3.4, the steps that are unmasked in any
  /// input, or no mask if an input has none.
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

/// How a layer treats the mask of its inputs.
enum MaskPolicy {
  /// The outputs have no mask.
  case drops
  /// The outputs have the mask of the inputs.
  case passes
  /// The outputs have the combined mask of all inputs.
  case merges
  /// The layer determines the mask of each output.
  case decides

  /// The outputs of a layer with these inputs, including their masks.
  func applied(
    to outputs: [KerasTensor], of inputs: [KerasTensor], _ version: KerasVersion
  ) -> [KerasTensor] {
    let mask: StepMask?
    switch self {
    case .decides: return outputs
    case .drops: mask = nil
    case .passes: mask = StepMask.common(inputs.compactMap(\.mask))
    case .merges: mask = StepMask.merged(inputs, version)
    }
    return outputs.map { output in
      var output = output
      output.mask = mask
      return output
    }
  }
}

extension KerasWriter {
  /// A sequence with one channel, which is 1 for unmasked steps and 0 for masked ones.
  mutating func steps(of mask: StepMask) -> KerasTensor {
    if let known = masks[mask.key] { return known }
    maskCount += 1
    let name = "mask_\(maskCount)"
    var result: KerasTensor
    switch mask {
    case .nonzero(let indices):
      result = relaid(indices, to: mask.isNested ? .nestedIndices : .indices, for: name)
      result.blob = addUpperLimit(1, result.blob, name: name)
    case .differs(let tensor, let value):
      result = relaid(tensor, to: mask.isNested ? .nestedSequence : .sequence, for: name)
      let distance = unary(.abs, result.blob, name + "__distance__", shift: -value)
      let largest = reduced(.max, .c, distance, name + "__max__")
      // Any difference, however small, becomes 1.
      let scaled = affine(largest, 1e30, 0, name + "__scale__")
      result.blob = addUpperLimit(1, scaled, name: name)
    case .given(let tensor):
      result = tensor
      if tensor.rank == 2 { result = relaid(tensor, to: .indices, for: name) }
      result.blob = counting(result.blob, name)
    case .step(let mask, let index):
      result = steps(of: mask)
      result.blob = slice(result.blob, index..<index + 1, of: .height, name)
      result.shape.remove(at: 1)
    case .some(let mask):
      result = relaid(steps(of: mask), to: .image, for: name)
      result.blob = reduced(.max, .w, result.blob, name)
      result.shape.remove(at: 2)
      result.layout = TensorLayout(axes: [.height, .channel])
      result = relaid(result, to: .sequence, for: name)
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
    result.shape = result.shape.prefix(mask.isNested ? 3 : 2) + [1]
    result.layout = mask.isNested ? .nestedSequence : .sequence
    result.mask = nil
    masks[mask.key] = result
    return result
  }
}
