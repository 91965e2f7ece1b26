import CoreMLModel
import Kernels
import TensorCore

/// Concatenates the inputs along the channels.
struct ConcatOperation: NodeOperation {
  var kind: String { "concat" }
  var joinsChannels: Bool { true }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutPreferences {
    // If nothing is blocked yet, row-major pieces are simply copied one after the other.
    if !shapes.producedBlocks.contains(.blocked) { return shapes.followingFirstInput() }
    return LayoutPreferences(inputs: shapes.inputs.map { _ in .blocked }, outputs: [.blocked])
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let output = context.outputs[0]
    let to = output.layout
    var pieces: [(input: Operand, plane: Int, channel: Int)] = []
    var channel = 0
    for input in context.inputs {
      // Parts that were written in place are complete.
      if !input.isPart(of: output, channel: channel) {
        for plane in 0..<input.layout.channelBlocks {
          pieces.append((input, plane, channel + plane * input.layout.block))
        }
      }
      channel += input.layout.shape.channels
    }
    // Threads may share the pieces if none ends within a block.
    let isAligned = pieces.allSatisfy { $0.channel % to.block == 0 }
    let count = pieces.count
    let work = pieces
    if work.isEmpty { return { _ in } }
    return { run in
      let target = run.pointer(output)
      func copy(_ image: Int, _ piece: (input: Operand, plane: Int, channel: Int)) {
        let from = piece.input.layout
        let used = min(from.block, from.shape.channels - piece.plane * from.block)
        to.copyLanes(
          piece.channel..<piece.channel + used,
          of: UnsafePointer(run.pointer(piece.input))
            + from.planeOffset(image * from.channelBlocks + piece.plane), from,
          to: target, image: image)
      }
      if isAligned {
        run.parallel(to.shape.images * count, writing: output) {
          copy($0 / count, work[$0 % count])
        }
      } else {
        run.parallel(to.shape.images, writing: output) { image in
          for piece in work { copy(image, piece) }
        }
      }
      if to.hasEmptyLanes {
        for image in 1...to.shape.images {
          to.clearEmptyLanes(ofPlane: image * to.channelBlocks - 1, in: target)
        }
      }
    }
  }
}

extension Operand {
  fileprivate func isPart(of whole: Operand, channel: Int) -> Bool {
    guard case .arena(let offset) = location, case .arena(let start) = whole.location,
      channel % whole.layout.block == 0
    else { return false }
    return layout == BlobLayout(layout.shape, in: whole.layout)
      && offset == start + channel / whole.layout.block * whole.layout.planeStride
  }
}

extension BlobLayout {
  /// Copies the first `count` lanes of a plane to the channels from `channel` on, across blocks if
  /// necessary.
  fileprivate func copyLanes(
    _ channels: Range<Int>, of source: UnsafePointer<Float>, _ sourceLayout: BlobLayout,
    to target: UnsafeMutablePointer<Float>, image: Int
  ) {
    let (channel, count) = (channels.lowerBound, channels.count)
    if channel % block == 0 {
      let plane = image * channelBlocks + channel / block
      return copyPlane(from: source, sourceLayout, to: target + planeOffset(plane))
    }
    var lane = 0
    while lane < count {
      let first = (channel + lane) % block
      let run = min(count - lane, block - first)
      let plane = target + planeOffset(image * channelBlocks + (channel + lane) / block) + first
      for row in 0..<shape.height {
        let to = plane + row * rowStride
        let from = source + row * sourceLayout.rowStride + lane
        for pixel in 0..<shape.width {
          for index in 0..<run { to[pixel &* block &+ index] = from[pixel &* block &+ index] }
        }
      }
      lane += run
    }
  }
}

extension Concat: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let output = try layer.outputShape()
    let inputs = layer.inputShapes
    if sequenceConcat {
      try require(
        inputs.reduce(0) { $0 + $1.sequence } == output.sequence
          && inputs.allSatisfy { $0.batch == output.batch && $0.itemCount == output.itemCount },
        "the inputs' shapes do not match", field: "input")
    } else {
      try require(
        inputs.reduce(0) { $0 + $1.channels } == output.channels
          && inputs.allSatisfy {
            $0.images == output.images && $0.height == output.height && $0.width == output.width
          }, "the inputs' shapes do not match", field: "input")
    }
    if inputs.count == 1 { return layer.inputs }
    let operation: any NodeOperation =
      sequenceConcat
      ? JoinOperation(kind: "sequence concat", count: 1, lengths: inputs.map(\.count))
      : ConcatOperation()
    return [layer.add(operation, layer.inputs, output)]
  }
}
