import LibC
import TensorCore
import TestSupport
import Testing

@testable import Kernels

private func plain(_ function: Reduction, _ values: [Float]) -> Double {
  let values = values.map(Double.init)
  return switch function {
  case .sum: values.reduce(0, +)
  case .sumOfSquares: values.reduce(0) { $0 + $1 * $1 }
  case .sumOfMagnitudes: values.reduce(0) { $0 + abs($1) }
  case .product: values.reduce(1, *)
  case .maximum: values.max() ?? -.infinity
  case .minimum: values.min() ?? .infinity
  }
}

@Suite struct ReductionTests {
  @Test(arguments: availableSets) func vectors(_ set: InstructionSet) {
    var generator = SplitMix64(seed: 2)
    for count in Array(0...70) + [1000, 4099] {
      let x = generator.values(count, in: -1.2...1.2)
      let buffer = GuardedBuffer(x, at: .end)
      for function in Reduction.allCases {
        let y = set.kernels.reduce(function, buffer.constant, count: count)
        let exact = plain(function, x)
        #expect(
          exact.isInfinite
            ? Double(y) == exact : abs(Double(y) - exact) <= 1e-6 * Double(count + 1),
          "\(set) \(function) \(count): \(y)")
      }
    }
  }

  @Test(arguments: availableSets) func notANumberWins(_ set: InstructionSet) {
    for count in 1...70 {
      for position in 0..<count {
        var x = [Float](repeating: 1, count: count)
        x[position] = .nan
        for function in [Reduction.maximum, .minimum, .sum] {
          let y = set.kernels.reduce(function, x, count: count)
          #expect(y.isNaN, "\(set) \(function) \(position) of \(count)")
        }
      }
    }
  }

  @Test(arguments: availableSets) func blocks(_ set: InstructionSet) {
    let block = set.kernels.channelBlock
    var generator = SplitMix64(seed: 3)
    for pixels in [1, 2, 7, 13, 30, 240] {
      let x = generator.values(block * pixels, in: -1.1...1.1)
      let input = GuardedBuffer(x, at: .end)
      for function in Reduction.allCases {
        let output = GuardedBuffer(count: block, at: .end)
        set.kernels.reduceBlock(function, input.constant, pixels: pixels, to: output.pointer)
        for (channel, y) in output.values.enumerated() {
          let exact = plain(function, (0..<pixels).map { x[$0 * block + channel] })
          #expect(
            abs(Double(y) - exact) <= 1e-6 * Double(pixels + 1), "\(set) \(function) \(channel)")
        }
      }
    }
  }

  static func softmax(_ x: [Float]) -> [Double] {
    let peak = Double(x.max() ?? 0)
    let values = x.map { exp(Double($0) - peak) }
    let sum = values.reduce(0, +)
    return values.map { $0 / sum }
  }

  @Test(arguments: availableSets) func softmaxOfVectors(_ set: InstructionSet) {
    var generator = SplitMix64(seed: 4)
    for count in Array(1...40) + [1000] {
      for range in [Float(-3)...3, -90...90, 500...1000] {
        let x = generator.values(count, in: range)
        let buffer = GuardedBuffer(x, at: .end)
        set.kernels.softmax(buffer.constant, to: buffer.pointer, count: count)
        for (y, exact) in zip(buffer.values, Self.softmax(x)) {
          #expect(abs(Double(y) - exact) <= 1e-6 * exact + 1e-44, "\(set) \(count)")
        }
      }
    }
  }

  /// Rows with gaps between them; without factors and masks, and with one per element, row or column.
  @Test(arguments: availableSets) func softmaxOfRows(_ set: InstructionSet) {
    var generator = SplitMix64(seed: 6)
    let rows = 3
    for count in Array(1...40) + [197] {
      for strides in [nil, (count, 1), (1, 0), (0, 1)] as [(row: Int, column: Int)?] {
        let (maskRow, maskColumn) = strides ?? (0, 0)
        let stride = count + 2
        let x = generator.values((rows - 1) * stride + count, in: -90...90)
        let mask = generator.values(rows * count, in: -30...0)
        let factor = generator.values(rows * count)
        let operands = [factor, mask].map { values in
          GuardedBuffer(
            Array(values.prefix((rows - 1) * maskRow + (count - 1) * maskColumn + 1)), at: .end)
        }
        let views = operands.map { operand in
          strides == nil
            ? nil : InputView(operand.constant, Strides(pixel: maskColumn, row: maskRow))
        }
        let buffer = GuardedBuffer(x, at: .end)
        set.kernels.softmaxRows(
          SoftmaxRows(
            scores: OutputView(buffer.pointer, Strides(row: stride)), rows: rows, count: count,
            factor: views[0], mask: views[1]))
        let found = buffer.values
        for row in 0..<rows {
          let sums = (0..<count).map { index in
            let position = row * maskRow + index * maskColumn
            let score = x[row * stride + index]
            return strides == nil ? score : score * factor[position] + mask[position]
          }
          let largest = sums.max() ?? 0
          for (index, exact) in Self.softmax(sums).enumerated() {
            let value = found[row * stride + index]
            let distance = largest - sums[index]
            if distance > 87.3 {
              #expect(value == 0, "\(set) \(count)")
              continue
            }
            // The distance is rounded.
            let rounding = 0x1p-24 * Double(distance)
            let error = abs(Double(value) - exact)
            #expect(error <= (1e-6 + rounding) * exact + 1e-44, "\(set) \(count)")
          }
          if row + 1 < rows {
            let gap = row * stride + count..<(row + 1) * stride
            #expect(Array(found[gap]) == Array(x[gap]))
          }
        }
      }
    }
  }

  @Test(arguments: availableSets) func softmaxOfChannels(_ set: InstructionSet) {
    let block = set.kernels.channelBlock
    var generator = SplitMix64(seed: 5)
    for channels in Array(1...40) + [101] {
      let pixels = 3
      let planes = BlockedPlanes(channels: channels, rows: 1, width: pixels, halo: 0, block: block)
      let x = generator.values(channels * pixels, in: -120 ... -100)
      let buffer = GuardedBuffer(planes.blocked(x, padding: 7), at: .end)
      set.kernels.blockedSoftmax(
        BlockedPixels(
          input: InputView(buffer.constant, Strides(block: planes.blockStride)),
          output: OutputView(buffer.pointer, Strides(block: planes.blockStride)), pixels: pixels,
          channels: channels))
      let y = planes.planar(buffer.values)
      for pixel in 0..<pixels {
        let exact = Self.softmax((0..<channels).map { x[$0 * pixels + pixel] })
        for channel in 0..<channels {
          let found = Double(y[channel * pixels + pixel])
          #expect(abs(found - exact[channel]) <= 1e-6 * exact[channel], "\(set) \(channels)")
        }
        for channel in channels..<planes.blocks * block {
          #expect(buffer.values[planes.index(channel, 0, pixel)] == 0)
        }
      }
    }
  }

  @Test(arguments: availableSets) func normalizationOfChannels(_ set: InstructionSet) {
    let block = set.kernels.channelBlock
    var generator = SplitMix64(seed: 6)
    for channels in Array(1...40) + [101, 768] {
      let pixels = 3
      let planes = BlockedPlanes(channels: channels, rows: 1, width: pixels, halo: 0, block: block)
      let x = generator.values(channels * pixels, in: -3...5)
      let (gamma, beta) = (generator.values(channels), generator.values(channels))
      let padding = [Float](repeating: 0, count: planes.blocks * block - channels)
      let buffer = GuardedBuffer(planes.blocked(x, padding: .nan), at: .end)
      let scale = GuardedBuffer(gamma + padding, at: .end)
      let bias = GuardedBuffer(beta + padding, at: .end)
      let views = BlockedPixels(
        input: InputView(buffer.constant, Strides(block: planes.blockStride)),
        output: OutputView(buffer.pointer, Strides(block: planes.blockStride)), pixels: pixels,
        channels: channels)
      set.kernels.blockedNormalization(
        BlockedNormalization(views, epsilon: 0.25, scale: scale.constant, bias: bias.constant))
      let y = planes.planar(buffer.values)
      for pixel in 0..<pixels {
        let own = (0..<channels).map { Double(x[$0 * pixels + pixel]) }
        let mean = own.reduce(0, +) / Double(channels)
        let variance = own.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(channels)
        for channel in 0..<channels {
          let normal = (own[channel] - mean) / (variance + 0.25).squareRoot()
          let exact = Double(gamma[channel]) * normal + Double(beta[channel])
          let found = Double(y[channel * pixels + pixel])
          #expect(abs(found - exact) <= 2e-6, "\(set) \(channels)")
        }
        for channel in channels..<planes.blocks * block {
          #expect(buffer.values[planes.index(channel, 0, pixel)] == 0)
        }
      }
    }
  }
}
