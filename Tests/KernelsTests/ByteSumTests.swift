import TensorCore
import TestSupport
import Testing

@testable import Kernels

/// Convolutions of bytes against sums of integers by definition, with all buffers beside guard pages.
@Suite struct ByteSumTests {
  private static let sets = availableSets.filter(\.multipliesBytes)

  private struct Trial {
    var plain: PlainConvolution
    /// What all codes and inputs are; nil draws them at random.
    var extremes: (code: UInt8, input: Int8)?
    /// With a scale, an offset, a bias, a residual and an activation, sums are rounded.
    var hasEpilogue = false
  }

  private func check(_ set: InstructionSet, _ trial: Trial, _ edge: GuardedBuffer.Edge) {
    let (plain, kernels) = (trial.plain, set.kernels)
    let block = kernels.channelBlock
    let words = (plain.inputChannels + 15) / 16 * 4
    let taps = plain.window.taps
    var random = SplitMix64(seed: 3)
    func byte() -> UInt8 { UInt8(truncatingIfNeeded: random.next() >> 32) }
    let pixels = plain.rows * plain.width
    let q = (0..<pixels * words * 4).map { _ in
      trial.extremes?.input ?? Int8(bitPattern: byte())
    }
    let c = (0..<plain.outputChannels * taps * words * 4).map { _ in
      trial.extremes?.code ?? byte()
    }
    let totals = (0..<pixels).map { _ in Float(byte()) - 128 }
    func word(_ bytes: ArraySlice<UInt8>) -> Float {
      Float(bitPattern: bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) })
    }
    var input: [Float] = []
    for pixel in 0..<pixels {
      for w in 0..<words {
        let first = (pixel * words + w) * 4
        input.append(word(q[first..<first + 4].map { UInt8(bitPattern: $0) }[...]))
      }
      input += [totals[pixel], 0, 0, 0]
    }
    // `[output][word][tap]`, as words of a file; `c` is `[output][tap][word][byte]`.
    let unpacked = (0..<plain.outputChannels * words * taps).map { index in
      let (row, tap) = index.quotientAndRemainder(dividingBy: taps)
      let first = (row / words * taps + tap) * words + row % words
      return word(c[first * 4..<first * 4 + 4])
    }
    var ofWords = plain
    ofWords.inputChannels = words
    let run = ConvolutionTests.Run(kernels: kernels, plain: ofWords, edge: edge)
    let weights = run.pack(unpacked, blockChannels: words)
    let target = BlockedPlanes(
      channels: plain.outputChannels, rows: plain.outputRows, width: plain.outputWidth, halo: 0,
      block: block)
    func perChannel(_ value: (Int) -> Float) -> [Float] {
      (0..<target.blocks * block).map { $0 < plain.outputChannels ? value($0) : 0 }
    }
    let starts = perChannel { Float($0 * 1000 - 7000) }
    let scale = perChannel { trial.hasEpilogue ? Float($0 + 1) / 1024 : 1 }
    let offset = perChannel { trial.hasEpilogue ? Float($0) / 64 - 0.2 : 0 }
    let bias = perChannel { trial.hasEpilogue ? Float($0) - 3 : 0 }
    let residual = random.values(plain.outputChannels * plain.outputRows * plain.outputWidth)
    func guarded(_ values: [Float]) -> UnsafePointer<Float> {
      GuardedBuffer(values, at: edge).constant
    }
    let output = GuardedBuffer(count: target.count, at: edge)
    var epilogue = Epilogue(bias: guarded(bias))
    if trial.hasEpilogue {
      epilogue.activation = .relu
      epilogue.residual = guarded(target.blocked(residual))
      epilogue.residualStrides = target.strides
    }
    var arguments = ConvolutionArguments(
      input: InputView(
        guarded(input),
        Strides(pixel: words + 4, row: plain.width * (words + 4), image: input.count)),
      blockChannels: words, weights: weights.constant, window: plain.window,
      output: OutputView(output.pointer, target.strides), extent: target.extent,
      epilogue: epilogue)
    arguments.bytes = ByteSums(
      start: guarded(starts.map { Float(bitPattern: UInt32(bitPattern: Int32($0))) }),
      scale: guarded(scale), offset: guarded(offset), totalWord: words)
    kernels.convolution(arguments)
    let found = target.planar(output.values)
    var index = 0
    for o in 0..<plain.outputChannels {
      for y in 0..<plain.outputRows {
        for x in 0..<plain.outputWidth {
          var (sum, total) = (Int(starts[o]), 0)
          for tap in 0..<taps {
            let row = y * plain.stride.y + tap / plain.kernel.width * plain.dilation.y
            let column = x * plain.stride.x + tap % plain.kernel.width * plain.dilation.x
            let pixel = row * plain.width + column
            total += Int(totals[pixel])
            for k in 0..<words * 4 {
              sum += Int(q[pixel * words * 4 + k]) * Int(c[(o * taps + tap) * words * 4 + k])
            }
          }
          if trial.hasEpilogue {
            let terms = [
              Double(sum) * Double(scale[o]), Double(total) * Double(offset[o]), Double(bias[o]),
              Double(residual[index]),
            ]
            let size = terms.reduce(0) { $0 + abs($1) }
            let expected = max(0, terms.reduce(0, +))
            #expect(abs(Double(found[index]) - expected) <= 4e-7 * size, "\(set) \(plain)")
          } else {
            #expect(found[index] == Float(sum), "\(set) \(plain)")
          }
          index += 1
        }
      }
    }
  }

  @Test(arguments: sets) func sumsAreExact(_ set: InstructionSet) {
    var shapes: [PlainConvolution] = []
    for (width, outputs) in [(1, 1), (13, 16), (14, 17), (15, 32), (29, 49)] {
      shapes.append(
        PlainConvolution(
          inputChannels: 16 * (width % 3 + 1), outputChannels: outputs, rows: 2, width: width,
          kernel: (1, 1), padding: 0))
      shapes.append(
        PlainConvolution(
          inputChannels: 33, outputChannels: outputs, rows: 5, width: width + 4, kernel: (3, 3),
          stride: (width % 2 + 1, 1), dilation: (1, width % 2 + 1), padding: 0))
    }
    for plain in shapes {
      for edge in GuardedBuffer.Edge.allCases {
        check(set, Trial(plain: plain), edge)
        check(set, Trial(plain: plain, hasEpilogue: true), edge)
      }
    }
  }

  /// The longest sums of the largest products, beyond what intermediate sums of 16 bits could keep.
  @Test(arguments: sets) func largestSums(_ set: InstructionSet) {
    for (code, input) in [(UInt8(255), Int8(-128)), (255, 127), (1, -1)] {
      let plain = PlainConvolution(
        inputChannels: 33_008, outputChannels: 3, rows: 1, width: 2, kernel: (1, 1), padding: 0)
      check(set, Trial(plain: plain, extremes: (code, input)), .end)
    }
  }

  /// Codes and totals by definition. A value halfway between two codes becomes the even one.
  @Test(arguments: sets) func rounding(_ set: InstructionSet) {
    let (kernels, block) = (set.kernels, set.kernels.channelBlock)
    for (width, blocks, step) in [(1, 1, 1), (7, 3, 1), (8, 2, 2), (19, 4, 2)] {
      for zero in [-128, -3, 0, 127] {
        for edge in GuardedBuffer.Edge.allCases {
          let source = BlockedPlanes(
            channels: blocks * block, rows: 1, width: (width - 1) * step + 1, halo: 0, block: block)
          var random = SplitMix64(seed: 5)
          let halves = random.values(source.count).map { ($0 * 300).rounded() / 2 }
          let inverse: Float = 1.25
          let totalWord = (blocks * block + 15) / 16 * 4
          let output = GuardedBuffer(count: width * (totalWord + 4) - 3, at: edge)
          var strides = source.strides
          strides.pixel *= step
          var rounding = ByteRounding(
            input: InputView(GuardedBuffer(source.blocked(halves), at: edge).constant, strides),
            blocks: blocks, width: width,
            output: OutputView(output.pointer, Strides(pixel: totalWord + 4)))
          (rounding.inverse, rounding.zero) = (inverse, Int32(zero))
          kernels.roundToBytes(rounding)
          for x in 0..<width {
            let pixel = output.pointer + x * (totalWord + 4)
            let codes = UnsafeRawPointer(pixel).assumingMemoryBound(to: Int8.self)
            var total = 0
            for channel in 0..<blocks * block {
              let value = halves[channel * source.width + x * step]
              let code = (Double(value * inverse) + Double(zero)).rounded(.toNearestOrEven)
              let expected = Int(min(max(code, -128), 127))
              #expect(Int(codes[channel]) == expected, "\(set) \(value) \(zero)")
              total += expected - zero
            }
            #expect(pixel[totalWord] == Float(total), "\(set)")
          }
        }
      }
    }
  }
}
