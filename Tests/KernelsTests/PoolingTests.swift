import TensorCore
import TestSupport
import Testing

@testable import Kernels

@Suite struct PoolingTests {
  struct Pool {
    var rows = 9
    var width = 11
    var size = 3
    var stride = 2
    var padding = 1
    var countsPadding = false

    func windows(_ extent: Int) -> [Range<Int>] {
      (0...(extent + 2 * padding - size) / stride).map {
        max($0 * stride - padding, 0)..<min($0 * stride - padding + size, extent)
      }
    }

    func compute(_ kernels: any KernelTable.Type, _ function: PoolingFunction, _ planar: [Float])
      -> [Float]
    {
      let block = kernels.channelBlock
      let source = BlockedPlanes(channels: block, rows: rows, width: width, halo: 0, block: block)
      let (y, x) = (windows(rows), windows(width))
      let target = BlockedPlanes(
        channels: block, rows: y.count, width: x.count, halo: 0, block: block)
      let input = GuardedBuffer(source.blocked(planar), at: .end)
      let output = GuardedBuffer(count: target.count, at: .end)
      let lists = [
        y.map(\.lowerBound), y.map(\.upperBound), x.map(\.lowerBound), x.map(\.upperBound),
        [Int](repeating: size, count: 64),
      ]
      .map { list in
        let pointer = UnsafeMutablePointer<Int32>.allocate(capacity: list.count)
        for (index, value) in list.enumerated() { (pointer + index).initialize(to: Int32(value)) }
        return UnsafePointer(pointer)
      }
      defer { for list in lists { list.deallocate() } }
      let counts = countsPadding ? lists[4] : nil
      kernels.pool(
        PoolingArguments(
          function: function,
          rows: PoolingWindows(count: y.count, starts: lists[0], ends: lists[1], counts: counts),
          columns: PoolingWindows(count: x.count, starts: lists[2], ends: lists[3], counts: counts),
          input: InputView(input.constant, Strides(row: source.rowStride)),
          output: OutputView(output.pointer, Strides(row: target.rowStride))))
      return target.planar(output.values)
    }

    func plain(_ function: PoolingFunction, _ planar: [Float], channels: Int) -> [Double] {
      var result: [Double] = []
      for c in 0..<channels {
        for y in windows(rows) {
          for x in windows(width) {
            let values = y.flatMap { y in
              x.map { x in Double(planar[(c * rows + y) * width + x]) }
            }
            let divisor = Double(countsPadding ? size * size : max(values.count, 1))
            switch function {
            case .maximum: result.append(values.max() ?? 0)
            case .average: result.append(values.reduce(0, +) / divisor)
            case .l2: result.append(values.map { $0 * $0 }.reduce(0, +).squareRoot())
            }
          }
        }
      }
      return result
    }
  }

  @Test(arguments: availableSets) func windowsOfEveryKind(_ set: InstructionSet) {
    let block = set.kernels.channelBlock
    var generator = SplitMix64(seed: 1)
    for size in [1, 2, 3, 5] {
      for stride in [1, 2, 3] {
        for padding in [0, size / 2] {
          for countsPadding in [false, true] {
            let pool = Pool(
              size: size, stride: stride, padding: padding, countsPadding: countsPadding)
            // All values are negative, so that padding must not be the maximum.
            let x = generator.values(block * pool.rows * pool.width, in: -2 ... -1)
            for function in [PoolingFunction.maximum, .average, .l2] {
              let found = pool.compute(set.kernels, function, x)
              let exact = pool.plain(function, x, channels: block)
              #expect(found.count == exact.count)
              for (y, exact) in zip(found, exact) {
                #expect(abs(Double(y) - exact) <= 1e-6 * abs(exact), "\(set) \(function) \(pool)")
              }
            }
          }
        }
      }
    }
  }

  @Test(arguments: availableSets) func emptyWindowsGiveZero(_ set: InstructionSet) {
    let block = set.kernels.channelBlock
    let pool = Pool(rows: 2, width: 2, size: 1, stride: 1, padding: 1)
    let x = [Float](repeating: -1, count: block * 4)
    for function in [PoolingFunction.maximum, .average, .l2] {
      let found = pool.compute(set.kernels, function, x)
      #expect(found[0] == 0 && found[5].magnitude == 1, "\(set) \(function)")
    }
  }
}
