import Testing

@testable import Kernels

@Suite struct WinogradTests {
  private typealias Derivation = WinogradDerivation

  /// The identity that everything rests on, without any rounding.
  @Test func derivedMatricesGiveTheCorrelation() {
    let derivation = Derivation.used
    var generator = Generator(state: 1)
    func matrix(_ size: Int) -> [[Fraction]] {
      (0..<size).map { _ in
        (0..<size).map { _ in Fraction(Int.random(in: -20...20, using: &generator)) }
      }
    }
    for _ in 0..<20 {
      let d = matrix(6)
      let g = matrix(3)
      let input = Derivation.sandwich(derivation.inputTransform, d)
      let weights = Derivation.sandwich(derivation.weightTransform, g)
      let products = (0..<6).map { y in (0..<6).map { x in input[y][x] * weights[y][x] } }
      let found = Derivation.sandwich(derivation.outputTransform, products)
      for y in 0..<4 {
        for x in 0..<4 {
          var sum = Fraction(0)
          for ky in 0..<3 { for kx in 0..<3 { sum = sum + g[ky][kx] * d[y + ky][x + kx] } }
          #expect(found[y][x] == sum)
        }
      }
    }
  }

  /// Small integers are transformed without rounding, so the kernel must give just what the derived
  /// matrix gives.
  @Test(arguments: availableSets) func inputTransformIsExact(_ set: InstructionSet) {
    let block = set.kernels.channelBlock
    var generator = Generator(state: 2)
    let values = (0..<36 * block).map { _ in Float(Int.random(in: -64...64, using: &generator)) }
    let input = GuardedBuffer(values, at: .end)
    let output = GuardedBuffer(count: 36 * block, at: .begin)
    set.kernels.winogradInput(
      WinogradInputArguments(
        tiles: WinogradTiles(rows: 4, width: 4, first: 0, count: 1), input: input.constant,
        inputRowStride: 6 * block, inputBlockStride: 0, inputImageStride: 0, blocks: 1,
        transformed: output.pointer, tileStride: block, pointStride: block))
    for lane in 0..<block {
      let d = (0..<6).map { y in
        (0..<6).map { x in Fraction(Int(values[(y * 6 + x) * block + lane])) }
      }
      let exact = Derivation.sandwich(Derivation.used.inputTransform, d).flatMap { $0 }
      #expect((0..<36).allSatisfy { Double(output.values[$0 * block + lane]) == exact[$0].double })
    }
  }

  /// Integers again: what is packed is the exact value, rounded once, but for what double precision
  /// loses.
  @Test(arguments: availableSets) func weightsAreRoundedOnce(_ set: InstructionSet) {
    let block = set.kernels.channelBlock
    let (inputs, outputs) = (block + 3, 3 * block - 5)
    var generator = Generator(state: 3)
    let values = (0..<inputs * outputs * 9).map { _ in
      Float(Int.random(in: -50...50, using: &generator))
    }
    let scales = (0..<outputs).map { _ in Float(Int.random(in: 1...9, using: &generator)) }
    let packed = pack(
      values, inputs: inputs, outputs: outputs, scale: GuardedBuffer(scales, at: .end), set.kernels)
    let channels = 2 * block
    let panelWidth = set.kernels.panelBlocks * block
    // Some operations with numbers below 50 · 9 · 9.
    let roundingInDouble = 4050 * Double.ulpOfOne * 4
    for o in 0..<3 * block {
      let panel = o / panelWidth
      let width = min(panelWidth, 3 * block - panel * panelWidth)
      for c in 0..<channels {
        var g = [[Fraction]](repeating: [Fraction](repeating: Fraction(0), count: 3), count: 3)
        if o < outputs && c < inputs {
          for tap in 0..<9 {
            g[tap / 3][tap % 3] = Fraction(Int(values[(o * inputs + c) * 9 + tap] * scales[o]))
          }
        }
        let exact = Derivation.sandwich(Derivation.used.weightTransform, g).flatMap { $0 }
        for point in 0..<36 {
          let value =
            packed[
              panel * 36 * channels * panelWidth + (point * channels + c) * width + o % panelWidth]
          let expected = exact[point].double
          if abs(Double(value) - expected) > 0.51 * Double(Float(expected).ulp) + roundingInDouble {
            Issue.record("\(set) \(o) \(c) \(point): \(value) for \(exact[point])")
            return
          }
        }
      }
    }
  }

  private func pack(
    _ weights: [Float], inputs: Int, outputs: Int, scale: GuardedBuffer? = nil,
    _ kernels: KernelTable
  ) -> [Float] {
    let block = kernels.channelBlock
    let blocks = (outputs + block - 1) / block
    let source = GuardedBuffer(weights, at: .end)
    let packed = GuardedBuffer(
      count: 36 * blocks * block * ((inputs + block - 1) / block) * block, at: .end)
    let panels = (blocks + kernels.panelBlocks - 1) / kernels.panelBlocks
    for panel in 0..<panels {
      kernels.packWinogradWeights(
        WinogradPackingArguments(
          source: source.pointer, outputStride: inputs * 9, inputStride: 9, rowStride: 3,
          columnStride: 1, outputChannels: outputs, inputChannels: inputs,
          scale: scale?.constant, firstPanel: panel, panelCount: 1, packed: packed.pointer))
    }
    return packed.values
  }

  struct Run {
    var plain: PlainConvolution
    var edge: GuardedBuffer.Edge
    var epilogue = Epilogue()
    var images = 1
    /// Tiles a call.
    var tiles = Int.max
    var panelsAtOnce = 1
  }

  /// A convolution with blocked input and output, images one after the other.
  private func compute(
    _ run: Run, _ input: [Float], _ weights: [Float], _ bias: [Float], _ kernels: KernelTable
  ) -> [Float] {
    let block = kernels.channelBlock
    let plain = run.plain
    let source = BlockedPlanes(
      channels: plain.inputChannels, rows: plain.rows, width: plain.width, halo: plain.padding,
      block: block)
    let target = BlockedPlanes(
      channels: plain.outputChannels, rows: plain.outputRows, width: plain.outputWidth, halo: 0,
      block: block)
    let imageFloats = plain.inputChannels * plain.rows * plain.width
    let x = GuardedBuffer(
      (0..<run.images).flatMap {
        source.blocked(Array(input[$0 * imageFloats..<($0 + 1) * imageFloats]))
      }, at: run.edge)
    let w = GuardedBuffer(
      pack(weights, inputs: plain.inputChannels, outputs: plain.outputChannels, kernels),
      at: run.edge)
    let b = GuardedBuffer(
      bias + [Float](repeating: 0, count: target.blocks * block - bias.count), at: run.edge)
    let y = GuardedBuffer(count: target.count * run.images, at: run.edge)
    let all =
      WinogradTiles.perImage(rows: plain.outputRows, width: plain.outputWidth) * run.images
    let channels = source.blocks * block
    let panels = (target.blocks + kernels.panelBlocks - 1) / kernels.panelBlocks
    var first = 0
    while first < all {
      let count = min(run.tiles, all - first)
      let tiles = WinogradTiles(
        rows: plain.outputRows, width: plain.outputWidth, first: first, count: count)
      let transformed = GuardedBuffer(count: 36 * count * channels, at: run.edge)
      for block in 0..<source.blocks {
        kernels.winogradInput(
          WinogradInputArguments(
            tiles: tiles, input: x.constant, inputRowStride: source.rowStride,
            inputBlockStride: source.blockStride, inputImageStride: source.count,
            firstBlock: block, blocks: 1, transformed: transformed.pointer, tileStride: channels,
            pointStride: count * channels))
      }
      let stride = count * run.panelsAtOnce * kernels.panelBlocks * block
      let products = GuardedBuffer(count: 36 * stride, at: run.edge)
      kernels.winogradOutput(
        WinogradOutputArguments(
          tiles: tiles, transformed: transformed.constant, tileStride: channels,
          pointStride: count * channels, channels: channels, weights: w.constant,
          panelCount: panels, panelsAtOnce: run.panelsAtOnce, products: products.pointer,
          productStride: stride, output: y.pointer, outputRowStride: target.rowStride,
          outputBlockStride: target.blockStride, outputImageStride: target.count,
          outputBlocks: target.blocks, bias: b.constant, epilogue: run.epilogue,
          residualImageStride: target.count))
      first += count
    }
    return (0..<run.images).flatMap {
      target.planar(Array(y.values[$0 * target.count..<($0 + 1) * target.count]))
    }
  }

  /// Winograd's rounding errors grow with the sums that it forms, not with the result.
  private func expectClose(
    _ found: [Float], _ exact: [(Double, Double)], within bound: Double, _ comment: Comment
  ) {
    #expect(found.count == exact.count, comment)
    let largest = exact.reduce(0) { max($0, abs($1.0)) }
    let worst = zip(found, exact).reduce(0) { max($0, abs(Double($1.0) - $1.1.0)) }
    #expect(worst <= bound * largest, comment)
  }

  @Test(arguments: availableSets) func everySizeAndChannelCount(_ set: InstructionSet) {
    for size in 1...21 {
      for edge in GuardedBuffer.Edge.allCases {
        for padding in [0, 1] {
          let plain = PlainConvolution(
            inputChannels: 1 + size * 7 % 37, outputChannels: size * 3, rows: 3 + size % 10,
            width: 3 + (25 - size), padding: padding)
          let (x, w, b) = ConvolutionTests.data(plain, seed: UInt64(size))
          var run = Run(plain: plain, edge: edge)
          let found = compute(run, x, w, b, set.kernels)
          expectClose(found, plain.compute(x, w, b), within: 1e-5, "\(set) \(plain)")
          run.tiles = 1 + size % 5
          run.panelsAtOnce = 1 + size % 3
          #expect(compute(run, x, w, b, set.kernels) == found, "\(set) \(plain) divided")
        }
      }
    }
  }

  @Test(arguments: availableSets) func imagesAreIndependent(_ set: InstructionSet) {
    let plain = PlainConvolution(inputChannels: 9, outputChannels: 17, rows: 6, width: 5)
    let two = [1, 2].map { ConvolutionTests.data(plain, seed: $0) }
    let (_, w, b) = two[0]
    let run = Run(plain: plain, edge: .end)
    var both = run
    both.images = 2
    both.tiles = 3
    #expect(
      compute(both, two[0].0 + two[1].0, w, b, set.kernels)
        == compute(run, two[0].0, w, b, set.kernels) + compute(run, two[1].0, w, b, set.kernels))
  }

  @Test(arguments: availableSets) func everyEpilogue(_ set: InstructionSet) {
    let block = set.kernels.channelBlock
    let plain = PlainConvolution(
      inputChannels: 20, outputChannels: 3 * block - 3, rows: 10, width: 15)
    let (x, w, b) = ConvolutionTests.data(plain, seed: 11)
    let target = BlockedPlanes(
      channels: plain.outputChannels, rows: plain.outputRows, width: plain.outputWidth, halo: 0,
      block: block)
    let pixels = plain.outputRows * plain.outputWidth
    var generator = Generator(state: 12)
    let residual = generator.floats(plain.outputChannels * pixels, in: -9...9)
    let slopes = generator.floats(target.blocks * block)
    let addends = GuardedBuffer(target.blocked(residual), at: .end)
    let slopeBuffer = GuardedBuffer(slopes, at: .end)
    let activations: [(Epilogue, (Double, Int) -> Double)] = [
      (Epilogue(), { x, _ in x }),
      (Epilogue(activation: .relu), { x, _ in max(x, 0) }),
      (Epilogue(activation: .clip, lower: -1, upper: 6), { x, _ in min(max(x, -1), 6) }),
      (Epilogue(activation: .leaky, alpha: 0.1), { x, _ in x < 0 ? x * Double(Float(0.1)) : x }),
      (
        Epilogue(activation: .prelu, slopes: slopeBuffer.constant),
        { x, channel in x < 0 ? x * Double(slopes[channel]) : x }
      ),
    ]
    for (epilogue, function) in activations {
      for withResidual in [false, true] {
        var epilogue = epilogue
        if withResidual {
          epilogue.residual = addends.constant
          epilogue.residualBlockStride = target.blockStride
          epilogue.residualRowStride = target.rowStride
        }
        let exact = plain.compute(x, w, b).enumerated().map { index, value in
          (function(value.0 + (withResidual ? Double(residual[index]) : 0), index / pixels), 0.0)
        }
        let run = Run(plain: plain, edge: .end, epilogue: epilogue)
        expectClose(
          compute(run, x, w, b, set.kernels), exact, within: 1e-5,
          "\(set) \(epilogue.activation) \(withResidual)")
      }
    }
  }

  /// The bound that a whole network must keep, with the channels of the deepest ones.
  @Test(arguments: availableSets) func accuracyWithManyChannels(_ set: InstructionSet) {
    let plain = PlainConvolution(inputChannels: 512, outputChannels: 32, rows: 14, width: 14)
    let (x, w, b) = ConvolutionTests.data(plain, seed: 5)
    let found = compute(Run(plain: plain, edge: .end), x, w, b, set.kernels)
    expectClose(found, plain.compute(x, w, b), within: 5e-5, "\(set)")
  }
}
