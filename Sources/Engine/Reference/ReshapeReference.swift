import CoreMLModel
import TensorCore

extension Reshape: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    return [
      mode == .channelFirst
        ? reordered(inputs[0], shape, \.rowMajorIndex, \.rowMajorIndex)
        : reordered(inputs[0], shape, \.channelLastIndex, \.channelLastIndex)
    ]
  }
}

extension Flatten: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    return [
      mode == .channelFirst
        ? reordered(inputs[0], shape, \.rowMajorIndex, \.rowMajorIndex)
        : reordered(inputs[0], shape, \.channelLastIndex, \.rowMajorIndex)
    ]
  }
}

extension Permute: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let input = inputs[0]
    let axes = axis.isEmpty ? [0, 1, 2, 3] : axis
    return try planeOutput(inputs) { p in
      let position = [p.sequence, p.channel, p.y, p.x]
      var source = [0, 0, 0, 0]
      for index in 0..<4 { source[axes[index]] = position[index] }
      return input[source[0], p.batch, source[1], source[2], source[3]]
    }
  }
}

/// The position of an element in the flattened `[Seq, C, H, W]` or `[Seq, H, W, C]` of its batch
/// item.
private struct FlatIndices {
  var rowMajorIndex: Int
  var channelLastIndex: Int

  init(_ p: ReferenceTensor.Position, _ shape: [Int]) {
    let (channels, height, width) = (shape[2], shape[3], shape[4])
    rowMajorIndex = ((p.sequence * channels + p.channel) * height + p.y) * width + p.x
    channelLastIndex = ((p.sequence * height + p.y) * width + p.x) * channels + p.channel
  }
}

/// The elements of each batch item, read in one order and written in another.
private func reordered(
  _ input: ReferenceTensor, _ shape: [Int], _ from: KeyPath<FlatIndices, Int>,
  _ to: KeyPath<FlatIndices, Int>
) -> ReferenceTensor {
  let itemSize = input.elements.count / max(input.batch, 1)
  var flat = [Double](repeating: 0, count: input.elements.count)
  _ = ReferenceTensor(shape: input.shape) { p in
    flat[p.batch * itemSize + FlatIndices(p, input.shape)[keyPath: from]] = input[p]
    return 0
  }
  return ReferenceTensor(shape: shape) { p in
    flat[p.batch * itemSize + FlatIndices(p, shape)[keyPath: to]]
  }
}
