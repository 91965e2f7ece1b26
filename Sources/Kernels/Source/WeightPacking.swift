import CVector
import KernelInterface

extension Table {
  @inline(never)
  package static func packConvolutionWeights(
    _ a: PackingArguments, blockChannels: Int, panelBlocks: Int
  ) {
    let taps = a.layout.kernelHeight &* a.layout.kernelWidth
    let inputBlocks = (a.layout.inputChannels &+ blockChannels &- 1) / blockChannels
    let outputBlocks = (a.layout.outputChannels &+ channelBlock &- 1) / channelBlock
    let panels = (outputBlocks &+ panelBlocks &- 1) / panelBlocks
    let fullPanel = panelBlocks &* channelBlock &* inputBlocks &* taps &* blockChannels
    let isContiguous =
      a.layout.columnStride == 1 && a.layout.rowStride == a.layout.kernelWidth
      && a.layout.inputStride == taps && blockChannels % lanes == 0
    let isRowMajor = a.layout.outputStride == 1 && taps == 1
    var panel = a.panels.lowerBound
    while panel < min(panels, a.panels.upperBound) {
      let firstBlock = panel &* panelBlocks
      let width = min(panelBlocks, outputBlocks &- firstBlock) &* channelBlock
      let target = a.packed + panel &* fullPanel
      // As many columns at a time as can be transposed in registers, each read sequentially.
      var column = 0
      while column < width {
        let columns = column..<column &+ lanes
        var block = 0
        while block < inputBlocks {
          let firstInput = block &* blockChannels
          let packed = target + block &* taps &* blockChannels &* width
          let part = PackedBlock(
            channels: blockChannels, firstInput: firstInput,
            firstOutput: firstBlock &* channelBlock, columns: columns, width: width, target: packed)
          let isWhole =
            firstBlock &* channelBlock &+ columns.upperBound <= a.layout.outputChannels
            && firstInput &+ blockChannels <= a.layout.inputChannels
          if isContiguous && isWhole {
            transposeBlock(a, part)
          } else if isRowMajor && isWhole {
            let source =
              a.source
              + (firstBlock &* channelBlock &+ columns.lowerBound
                &+ firstInput &* a.layout.inputStride) &* 4
            for c in 0..<blockChannels {
              store(
                (source + c &* a.layout.inputStride &* 4).loadUnaligned(as: Vector.self),
                packed + (c &* width &+ columns.lowerBound))
            }
          } else {
            packBlock(a, part)
          }
          block &+= 1
        }
        column &+= lanes
      }
      panel &+= 1
    }
  }
}

#if KERNELS_AVX512
  private typealias SquareOfLanes = InlineArray<16, Vector>
#elseif KERNELS_AVX2
  private typealias SquareOfLanes = InlineArray<8, Vector>
#else
  private typealias SquareOfLanes = InlineArray<4, Vector>
#endif

/// Some columns of a panel, which has `width`, for one block of input channels.
private struct PackedBlock {
  let channels: Int
  let firstInput: Int
  /// The panel's first output channel.
  let firstOutput: Int
  let columns: Range<Int>
  let width: Int
  let target: UnsafeMutablePointer<Float>
}

/// `target[tap][c][column]` for `lanes` columns, if the weights of each output are contiguous.
@inline(__always)
private func transposeBlock(_ a: PackingArguments, _ block: PackedBlock) {
  let taps = a.layout.kernelHeight &* a.layout.kernelWidth
  let first = block.columns.lowerBound
  let source =
    a.source
    + ((block.firstOutput &+ first) &* a.layout.outputStride &+ block.firstInput &* taps) &* 4
  let rowBytes = a.layout.outputStride &* 4
  // Element `position` of an output's block is tap `tap` of channel `c`.
  var c = 0
  var tap = 0
  var position = 0
  while position < block.channels &* taps {
    var rows = SquareOfLanes(repeating: .zero)
    for r in 0..<lanes {
      rows[r] = (source + (r &* rowBytes &+ position &* 4)).loadUnaligned(as: Vector.self)
    }
    withUnsafeMutablePointer(to: &rows) {
      vector_transpose(UnsafeMutableRawPointer($0).assumingMemoryBound(to: Float.self))
    }
    for r in 0..<lanes {
      store(rows[r], block.target + ((tap &* block.channels &+ c) &* block.width &+ first))
      tap &+= 1
      if tap == taps {
        tap = 0
        c &+= 1
      }
    }
    position &+= lanes
  }
}

/// `target[tap][c][column]`
@inline(__always)
private func packBlock(_ a: PackingArguments, _ block: PackedBlock) {
  let tapStride = block.channels &* block.width
  var column = block.columns.lowerBound
  while column < block.columns.upperBound {
    let output = block.firstOutput &+ column
    var c = 0
    while c < block.channels {
      let input = block.firstInput &+ c
      var t = block.target + (c &* block.width &+ column)
      if output < a.layout.outputChannels && input < a.layout.inputChannels {
        let source =
          a.source + (output &* a.layout.outputStride &+ input &* a.layout.inputStride) &* 4
        var ky = 0
        while ky < a.layout.kernelHeight {
          var s = source + ky &* a.layout.rowStride &* 4
          var kx = 0
          while kx < a.layout.kernelWidth {
            t.pointee = s.loadUnaligned(as: Float.self)
            s += a.layout.columnStride &* 4
            t += tapStride
            kx &+= 1
          }
          ky &+= 1
        }
      } else {
        var tap = 0
        while tap < a.layout.kernelHeight &* a.layout.kernelWidth {
          t.pointee = 0
          t += tapStride
          tap &+= 1
        }
      }
      c &+= 1
    }
    column &+= 1
  }
}
