import CVector
import KernelInterface

/// Terms that are words of four bytes; see `ByteSums`.
enum ByteTerms: TileArithmetic {
  static let unrolled = 4
  typealias Panel = TileForm<2, 4, ByteTerms>

  @inline(__always)
  static func add(_ input: Vector, _ weights: Vector, to sum: Vector) -> Vector {
    float(vector_add_byte_products(bits(sum), bits(weights), bits(input)))
  }

  @inline(__always)
  static func finish<let rows: Int, let columns: Int>(
    _ tile: inout Tile<rows, columns>, _ task: TileTask, _ input: TileInputs<rows>
  ) {
    guard let bytes = task.bytes else { return }
    var totals = InlineArray<rows, Float>(repeating: 0)
    for row in 0..<task.source.rows {
      for tap in 0..<task.source.runsPerRow {
        let word =
          row &* task.source.rowStride &+ tap &* task.source.runStride &+ bytes.totalWord
        for r in 0..<rows { totals[r] += input.value(r, word) }
      }
    }
    for c in 0..<columns {
      let channel = task.channel &+ c &* lanes
      let scale = load(bytes.scale + channel)
      let offset = load(bytes.offset + channel)
      let bias = task.epilogue.bias.map { load($0 + channel) } ?? .zero
      for r in 0..<rows {
        let sum = vector_from_int(bits(tile[r][c]))
        tile[r][c] = multiplyAdd(sum, scale, multiplyAdd(splat(totals[r]), offset, bias))
      }
    }
  }
}

extension Table {
  @inline(never)
  package static func roundToBytes(_ a: ByteRounding) {
    var x = 0
    while x &+ 8 <= a.width {
      round(Count<8>(), a, from: x)
      x &+= 8
    }
    while x < a.width {
      round(Count<1>(), a, from: x)
      x &+= 1
    }
  }
}

/// Rounds adjacent pixels, without fused multiply-adds, so that all instruction sets agree.
@inline(__always)
private func round<let pixels: Int>(_: Count<pixels>, _ a: ByteRounding, from x: Int) {
  // Its last bits are the integer nearest to what is added to it.
  let magic = splat(Float(0x1.8p23) + Float(a.zero))
  let lower = splat(Float(-128 - a.zero))
  let upper = splat(Float(127 - a.zero))
  var sums = InlineArray<pixels, IntegerVector>(repeating: .zero)
  for block in 0..<a.blocks {
    let source = a.input.base + (block &* a.input.strides.block &+ x &* a.input.strides.pixel)
    for p in 0..<pixels {
      for v in 0..<vectorsPerBlock {
        let value = load(source + (p &* a.input.strides.pixel &+ v &* lanes)) * splat(a.inverse)
        let rounded = bits(minimum(maximum(value, lower), upper) + magic)
        sums[p] = sums[p] &+ (rounded &- bits(magic))
        let word = (x &+ p) &* a.output.strides.pixel &+ (block &* channelBlock &+ v &* lanes) / 4
        vector_store_bytes(rounded, a.output.base + word)
      }
    }
  }
  for p in 0..<pixels {
    a.output.base[(x &+ p) &* a.output.strides.pixel &+ a.totalWord] = Float(vector_sum(sums[p]))
  }
}
