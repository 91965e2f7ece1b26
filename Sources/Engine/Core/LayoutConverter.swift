import Kernels
import TensorCore

/// Copies a blob from one layout to another, without halos; can scale and shift it.
struct LayoutConverter: Sendable {
  let from: BlobLayout
  let to: BlobLayout
  var scaling: InputScaling?
  let kernels: any KernelTable.Type

  private var wide: BlobLayout { to.block > from.block ? to : from }
  /// Whether the conversion copies a contiguous array, regardless of planes.
  private var isCopy: Bool { from.isDense && to.isDense && scaling == nil }
  /// Floats of an array to copy at a time.
  private static let pieceFloats = 16 << 10

  /// Units for threads to share: channel blocks of the wider layout, or pieces of an array.
  var units: Int {
    isCopy ? (to.floatCount + Self.pieceFloats - 1) / Self.pieceFloats : wide.planes
  }

  func run(_ unit: Int, _ source: UnsafePointer<Float>, _ target: UnsafeMutablePointer<Float>) {
    if isCopy {
      let first = unit * Self.pieceFloats
      let count = min(Self.pieceFloats, to.floatCount - first)
      return (target + first).update(from: source + first, count: count)
    }
    let layout = wide
    let image = unit / layout.channelBlocks
    let channel = unit % layout.channelBlocks * layout.block
    let channels = min(layout.block, layout.shape.channels - channel)
    let rows = layout.shape.height
    let width = layout.shape.width
    let sourceStart =
      source + from.origin + image * from.imageStride + channel / from.block * from.planeStride
    let targetStart =
      target + to.origin + image * to.imageStride + channel / to.block * to.planeStride
    var arguments = LayoutArguments(
      input: InputView(
        sourceStart, Strides(pixel: 1, row: from.rowStride, block: from.planeStride)),
      output: OutputView(targetStart, Strides(pixel: 1, row: to.rowStride, block: to.planeStride)),
      extent: Extent(blocks: channels, rows: rows, width: width))
    if to.block > 1, from.block == 1 {
      arguments.scale = scaling.map { $0.scale.pointer + channel }
      arguments.bias = scaling.map { $0.bias.pointer + channel }
      return kernels.block(arguments)
    }
    if from.block > 1, to.block == 1 { return kernels.unblock(arguments) }
    for row in 0..<rows {
      let line = targetStart + row * to.rowStride
      if let scaling {
        kernels.unary(
          UnaryArguments(
            function: .linear, input: sourceStart + row * from.rowStride, output: line,
            count: width,
            .init(alpha: scaling.scale.pointer[channel], beta: scaling.bias.pointer[channel])))
      } else {
        line.update(from: sourceStart + row * from.rowStride, count: width * to.block)
      }
    }
  }

  /// The same constant in another layout.
  static func converted(
    _ constant: Constant, to layout: BlobLayout, _ kernels: any KernelTable.Type
  ) throws -> Constant {
    if layout.isDense { return constant }
    let buffer = try AlignedBuffer(checkedByteCount: layout.floatCount * 4)
    let target = buffer.pointer.assumingMemoryBound(to: Float.self)
    target.update(repeating: 0, count: layout.floatCount)
    let converter = LayoutConverter(
      from: try BlobLayout(layout.shape, block: 1), to: layout, kernels: kernels)
    for unit in 0..<converter.units { converter.run(unit, constant.pointer, target) }
    return Constant(buffer)
  }
}

/// A scale and a bias per channel.
struct InputScaling: Sendable {
  let scale: Constant
  let bias: Constant
}
