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
      // As many columns at a time as can be transposed in registers, each read from start to end.
      var column = 0
      while column < width {
        let columns = column..<column &+ lanes
        var block = 0
        while block < inputBlocks {
          let firstInput = block &* blockChannels
          let packed = target + block &* taps &* blockChannels &* width
          if isContiguous
            && firstBlock &* channelBlock &+ columns.upperBound <= a.layout.outputChannels
            && firstInput &+ blockChannels <= a.layout.inputChannels
          {
            transposeBlock(
              a, blockChannels: blockChannels, firstOutput: firstBlock &* channelBlock,
              columns: columns, width: width, firstInput: firstInput, taps: taps, target: packed)
          } else if isRowMajor
            && firstBlock &* channelBlock &+ columns.upperBound <= a.layout.outputChannels
            && firstInput &+ blockChannels <= a.layout.inputChannels
          {
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
            packBlock(
              a, blockChannels: blockChannels, firstOutput: firstBlock &* channelBlock,
              columns: columns, width: width, firstInput: firstInput, target: packed)
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

/// `target[tap][c][column]` for one input block and `lanes` columns, if the weights of each output
/// are contiguous.
@inline(__always)
private func transposeBlock(
  _ a: PackingArguments, blockChannels: Int, firstOutput: Int, columns: Range<Int>, width: Int,
  firstInput: Int,
  taps: Int, target: UnsafeMutablePointer<Float>
) {
  let source =
    a.source
    + ((firstOutput &+ columns.lowerBound) &* a.layout.outputStride &+ firstInput &* taps) &* 4
  let rowBytes = a.layout.outputStride &* 4
  // Element `position` of an output's block is tap `tap` of channel `c`.
  var c = 0
  var tap = 0
  var position = 0
  while position < blockChannels &* taps {
    var rows = SquareOfLanes(repeating: .zero)
    for r in 0..<lanes {
      rows[r] = (source + (r &* rowBytes &+ position &* 4)).loadUnaligned(as: Vector.self)
    }
    withUnsafeMutablePointer(to: &rows) {
      vector_transpose(UnsafeMutableRawPointer($0).assumingMemoryBound(to: Float.self))
    }
    for r in 0..<lanes {
      store(rows[r], target + ((tap &* blockChannels &+ c) &* width &+ columns.lowerBound))
      tap &+= 1
      if tap == taps {
        tap = 0
        c &+= 1
      }
    }
    position &+= lanes
  }
}

/// `target[tap][c][column]` for one input block.
@inline(__always)
private func packBlock(
  _ a: PackingArguments, blockChannels: Int, firstOutput: Int, columns: Range<Int>, width: Int,
  firstInput: Int,
  target: UnsafeMutablePointer<Float>
) {
  let tapStride = blockChannels &* width
  var column = columns.lowerBound
  while column < columns.upperBound {
    let output = firstOutput &+ column
    var c = 0
    while c < blockChannels {
      let input = firstInput &+ c
      var t = target + (c &* width &+ column)
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
