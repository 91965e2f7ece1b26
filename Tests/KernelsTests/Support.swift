import Kernels
import TensorCore
import TestSupport

/// Every instruction set that this machine can run.
let availableSets = InstructionSet.allCases.filter(\.isAvailable)

/// Values `[channel][row][column]` in channel blocks with a border of `halo` pixels of `padding`.
struct BlockedPlanes {
  let channels: Int
  let rows: Int
  let width: Int
  let halo: Int
  let block: Int
  var blocks: Int { (channels + block - 1) / block }
  var rowStride: Int { (width + 2 * halo) * block }
  var blockStride: Int { (rows + 2 * halo) * rowStride }
  var count: Int { blocks * blockStride }
  var strides: Strides {
    Strides(pixel: block, row: rowStride, block: blockStride, image: count)
  }
  var extent: Extent { Extent(blocks: blocks, rows: rows, width: width) }
  /// Offset of pixel (0, 0), inside the border.
  var origin: Int { halo * rowStride + halo * block }

  func index(_ channel: Int, _ row: Int, _ column: Int) -> Int {
    origin + channel / block * blockStride + row * rowStride + column * block + channel % block
  }

  func blocked(_ planar: [Float], padding: Float = 0) -> [Float] {
    var result = [Float](repeating: padding, count: count)
    for c in 0..<channels {
      for y in 0..<rows {
        for x in 0..<width { result[index(c, y, x)] = planar[(c * rows + y) * width + x] }
      }
    }
    return result
  }

  func planar(_ blocked: [Float]) -> [Float] {
    var result = [Float]()
    for c in 0..<channels {
      for y in 0..<rows { for x in 0..<width { result.append(blocked[index(c, y, x)]) } }
    }
    return result
  }
}

extension WeightFormat {
  var isSingle: Bool { if case .float32 = self { true } else { false } }
}
