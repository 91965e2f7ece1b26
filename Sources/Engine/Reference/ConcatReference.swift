import CoreMLModel
import TensorCore

extension Concat: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    try planeOutput(inputs) { p in
      var position = p
      for input in inputs {
        if sequenceConcat {
          if position.sequence < input.sequence { return input[position] }
          position.sequence -= input.sequence
        } else {
          if position.channel < input.channels { return input[position] }
          position.channel -= input.channels
        }
      }
      return .nan
    }
  }
}

extension Split: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    try outputShapes(inputs.map(\.shape)).enumerated().map { index, shape in
      ReferenceTensor(shape: shape) { p in
        inputs[0][p.sequence, p.batch, index * shape[2] + p.channel, p.y, p.x]
      }
    }
  }
}

extension SequenceRepeat: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let input = inputs[0]
    return try planeOutput(inputs) { p in
      input[p.sequence % input.sequence, p.batch, p.channel, p.y, p.x]
    }
  }
}

extension ReorganizeData: ReferenceFormula {
  /// Orders channels as TensorFlow's `space_to_depth` and `depth_to_space`, with the block position
  /// before the channel, (i · r + j) · C + c; `pixelShuffle` as in PyTorch, (c · r + i) · r + j.
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let input = inputs[0]
    let r = blockSize
    return try planeOutput(inputs) { p in
      switch mode {
      case .spaceToDepth:
        let (block, channel) = p.channel.quotientAndRemainder(dividingBy: input.channels)
        return input[p.sequence, p.batch, channel, p.y * r + block / r, p.x * r + block % r]
      case .depthToSpace:
        let block = p.y % r * r + p.x % r
        return input[p.sequence, p.batch, block * shape[2] + p.channel, p.y / r, p.x / r]
      case .pixelShuffle:
        let channel = (p.channel * r + p.y % r) * r + p.x % r
        return input[p.sequence, p.batch, channel, p.y / r, p.x / r]
      }
    }
  }
}

extension Slice: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let input = inputs[0]
    let size = [input.channels, input.height, input.width][axis.rawValue]
    let start = startIndex < 0 ? startIndex + size : startIndex
    let step = effectiveStride
    return try planeOutput(inputs) { p in
      var position = p
      switch axis {
      case .channel: position.channel = start + p.channel * step
      case .height: position.y = start + p.y * step
      case .width: position.x = start + p.x * step
      }
      return input[position]
    }
  }
}
