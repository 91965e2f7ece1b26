import Kernels
import TensorCore

/// The pieces of 3 × 3 taps that cover a kernel.
struct PieceGrid: Sendable {
  let kernel: [Int]
  let down: Int
  let across: Int

  init(_ kernel: [Int]) {
    self.kernel = kernel
    down = (kernel[0] + 2) / 3
    across = (kernel[1] + 2) / 3
  }

  var count: Int { down * across }

  /// Tiles per output image.
  func tiles(_ output: Shape) -> Int { (output.height + 2) / 3 * ((output.width + 2) / 3) }
}

/// The weights of a split convolution; see `Pieces`.
enum PieceWeights {
  private static let transform: [[Double]] = [
    [1 / 2, 0, 0], [-1 / 2, -1 / 2, -1 / 2], [-1 / 6, 1 / 6, -1 / 6], [1 / 6, 1 / 3, 2 / 3],
    [0, 0, 1],
  ]

  /// `G g Gᵀ`, with points as groups, as `[point][piece][output][input]`, computed in double precision and rounded once.
  /// Each point ends with `padding` outputs of zero.
  static func transformed(
    _ view: WeightView, scale: [Float]?, grid: PieceGrid, padding: Int = 0
  ) -> WeightView {
    let (outputs, inputs) = (view.outputChannels, view.inputChannels)
    let pieceStride = outputs * inputs
    let pointStride = (grid.count * outputs + padding) * inputs
    var values = [Float](repeating: 0, count: Pieces.points * pointStride)
    view.bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      for piece in 0..<grid.count {
        let (top, left) = (piece / grid.across * 3, piece % grid.across * 3)
        let rows = min(3, view.kernelHeight - top)
        let columns = min(3, view.kernelWidth - left)
        for output in 0..<outputs {
          let factor = scale.map { Double($0[output]) } ?? 1
          for input in 0..<inputs {
            // G g, five rows of three.
            var half = InlineArray<15, Double>(repeating: 0)
            for y in 0..<rows {
              for x in 0..<columns {
                let weight = Double(view.value(base, output, input, top + y, left + x)) * factor
                for p in 0..<5 { half[3 * p + x] += transform[p][y] * weight }
              }
            }
            let target = piece * pieceStride + output * inputs + input
            for p in 0..<5 {
              for q in 0..<5 {
                var value = 0.0
                for x in 0..<3 { value += half[3 * p + x] * transform[q][x] }
                values[(5 * p + q) * pointStride + target] = Float(value)
              }
            }
          }
        }
      }
    }
    var layout = WeightLayout(
      outputChannels: outputs, inputChannels: inputs, kernelHeight: grid.down,
      kernelWidth: grid.across)
    (layout.outputStride, layout.inputStride) = (inputs, 1)
    (layout.rowStride, layout.columnStride) = (grid.across * pieceStride, pieceStride)
    return WeightView(bytes: Bytes(values), layout: layout, groupStride: pointStride)
  }
}
