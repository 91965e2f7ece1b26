import TensorCore
import TestSupport
import Testing

@testable import Kernels

@Suite struct WinogradTests {
  private typealias Derivation = WinogradDerivation

  /// The underlying identity holds exactly, without rounding.
  @Test(arguments: WinogradForm.allCases)
  func derivedMatricesGiveTheCorrelation(_ form: WinogradForm) {
    let (vertical, horizontal) = (form.vertical, form.horizontal)
    var generator = SplitMix64(seed: 1)
    func matrix(_ rows: Int, _ columns: Int) -> [[Fraction]] {
      (0..<rows).map { _ in
        (0..<columns).map { _ in Fraction(Int.random(in: -9...9, using: &generator)) }
      }
    }
    for _ in 0..<20 {
      let d = matrix(vertical.points, horizontal.points)
      let g = matrix(vertical.taps, horizontal.taps)
      let input = Derivation.sandwich(form, { $0.inputTransform }, d)
      let weights = Derivation.sandwich(form, { $0.weightTransform }, g)
      let products = (0..<vertical.points).map { y in
        (0..<horizontal.points).map { x in input[y][x] * weights[y][x] }
      }
      let found = Derivation.sandwich(form, { $0.outputTransform }, products)
      for y in 0..<vertical.outputs {
        for x in 0..<horizontal.outputs {
          var sum = Fraction(0)
          for ky in 0..<vertical.taps {
            for kx in 0..<horizontal.taps { sum = sum + g[ky][kx] * d[y + ky][x + kx] }
          }
          #expect(found[y][x] == sum)
        }
      }
    }
  }

  /// Small integers are transformed without rounding, so the kernel must match the derived matrices
  /// exactly.
  @Test(arguments: availableSets, WinogradForm.allCases)
  func inputTransformIsExact(_ set: InstructionSet, _ form: WinogradForm) {
    let block = set.kernels.channelBlock
    let (rows, columns) = (form.vertical.points, form.horizontal.points)
    let points = form.points
    var generator = SplitMix64(seed: 2)
    let values = (0..<points * block).map { _ in
      Float(Int.random(in: -64...64, using: &generator))
    }
    let input = GuardedBuffer(values, at: .end)
    let output = GuardedBuffer(count: points * block, at: .begin)
    set.kernels.winogradInput(
      WinogradTiles(
        form: form, rows: form.vertical.outputs, width: form.horizontal.outputs, first: 0,
        count: 1),
      InputTransformArguments(
        input: InputView(input.constant, Strides(row: columns * block)), blocks: 0..<1,
        transformed: output.pointer, transformedStrides: PointStrides(tile: block, point: block)))
    for lane in 0..<block {
      let d = (0..<rows).map { y in
        (0..<columns).map { x in Fraction(Int(values[(y * columns + x) * block + lane])) }
      }
      let exact = Derivation.sandwich(form, { $0.inputTransform }, d).flatMap { $0 }
      #expect(
        (0..<points).allSatisfy { Double(output.values[$0 * block + lane]) == exact[$0].double })
    }
  }

  /// With integers, packed values are exact but for one rounding and double-precision errors.
  @Test(arguments: availableSets, WinogradForm.allCases)
  func weightsAreRoundedOnce(_ set: InstructionSet, _ form: WinogradForm) {
    let points = form.points
    let taps = form.taps
    let block = set.kernels.channelBlock
    let (inputs, outputs) = (block + 3, 3 * block - 5)
    var generator = SplitMix64(seed: 3)
    let values = (0..<inputs * outputs * taps).map { _ in
      Float(Int.random(in: -50...50, using: &generator))
    }
    let scales = (0..<outputs).map { _ in Float(Int.random(in: 1...9, using: &generator)) }
    let packed = pack(
      values, form, inputs: inputs, outputs: outputs,
      scale: GuardedBuffer(scales, at: .end), set.kernels)
    let channels = 2 * block
    let panelWidth = set.kernels.panelBlocks * block
    // A few operations on values below 50 · 9 · 9, and for 7 taps up to (3/2)⁶ times that before a
    // division by more.
    let roundingInDouble = 4050 * Double.ulpOfOne * 4
    for o in 0..<3 * block {
      let panel = o / panelWidth
      let width = min(panelWidth, 3 * block - panel * panelWidth)
      for c in 0..<channels {
        let kernel = (o * inputs + c) * taps
        let isUsed = o < outputs && c < inputs
        let g = (0..<form.vertical.taps).map { y in
          (0..<form.horizontal.taps).map { x in
            isUsed
              ? Fraction(Int(values[kernel + y * form.horizontal.taps + x] * scales[o]))
              : Fraction(0)
          }
        }
        let exact = Derivation.sandwich(form, { $0.weightTransform }, g).flatMap { $0 }
        for point in 0..<points {
          let value =
            packed[
              panel * points * channels * panelWidth + (point * channels + c) * width + o
                % panelWidth]
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
    _ weights: [Float], _ form: WinogradForm, inputs: Int, outputs: Int,
    scale: GuardedBuffer? = nil,
    _ kernels: any KernelTable.Type
  ) -> [Float] {
    let block = kernels.channelBlock
    let blocks = (outputs + block - 1) / block
    let plain = PlainConvolution(
      inputChannels: inputs, outputChannels: outputs,
      kernel: (form.vertical.taps, form.horizontal.taps))
    let source = GuardedBuffer(weights, at: .end)
    let packed = GuardedBuffer(
      count: form.points * blocks * block * ((inputs + block - 1) / block)
        * block, at: .end)
    let panels = (blocks + kernels.panelBlocks - 1) / kernels.panelBlocks
    for panel in 0..<panels {
      kernels.packWinogradWeights(
        PackingArguments(
          source: source.pointer, layout: plain.weightLayout, panels: panel..<panel + 1,
          packed: packed.pointer),
        form: form, scale: scale?.constant)
    }
    return packed.values
  }

  struct Run {
    var plain: PlainConvolution
    var form: WinogradForm
    var edge: GuardedBuffer.Edge
    var epilogue = Epilogue()
    var images = 1
    /// The number of tiles per call.
    var tiles = Int.max
    var panelsAtOnce = 1
    var poolsMaximum = false
  }

  /// Computes a convolution with blocked input and output, for one image after the other.
  private func compute(
    _ run: Run, _ input: [Float], _ weights: [Float], _ bias: [Float],
    _ kernels: any KernelTable.Type
  ) -> [Float] {
    let block = kernels.channelBlock
    let plain = run.plain
    let source = BlockedPlanes(
      channels: plain.inputChannels, rows: plain.rows, width: plain.width, halo: plain.padding,
      block: block)
    let points = run.form.points
    let shrinking = run.poolsMaximum ? 2 : 1
    let target = BlockedPlanes(
      channels: plain.outputChannels, rows: plain.outputRows / shrinking,
      width: plain.outputWidth / shrinking, halo: 0, block: block)
    let imageFloats = plain.inputChannels * plain.rows * plain.width
    let x = GuardedBuffer(
      (0..<run.images).flatMap {
        source.blocked(Array(input[$0 * imageFloats..<($0 + 1) * imageFloats]))
      }, at: run.edge)
    let w = GuardedBuffer(
      pack(
        weights, run.form, inputs: plain.inputChannels, outputs: plain.outputChannels,
        kernels),
      at: run.edge)
    let b = GuardedBuffer(
      bias + [Float](repeating: 0, count: target.blocks * block - bias.count), at: run.edge)
    let y = GuardedBuffer(count: target.count * run.images, at: run.edge)
    let all =
      WinogradTiles.perImage(form: run.form, rows: plain.outputRows, width: plain.outputWidth)
      * run.images
    let channels = source.blocks * block
    let panels = (target.blocks + kernels.panelBlocks - 1) / kernels.panelBlocks
    var first = 0
    while first < all {
      let count = min(run.tiles, all - first)
      let tiles = WinogradTiles(
        form: run.form, rows: plain.outputRows, width: plain.outputWidth, first: first,
        count: count)
      let transformed = GuardedBuffer(count: points * count * channels, at: run.edge)
      let strides = PointStrides(tile: channels, point: count * channels)
      for block in 0..<source.blocks {
        kernels.winogradInput(
          tiles,
          InputTransformArguments(
            input: InputView(x.constant, source.strides), blocks: block..<block + 1,
            transformed: transformed.pointer, transformedStrides: strides))
      }
      let stride = count * run.panelsAtOnce * kernels.panelBlocks * block
      let products = GuardedBuffer(count: points * stride, at: run.edge)
      var epilogue = run.epilogue
      epilogue.bias = b.constant
      var arguments = WinogradOutputArguments(
        transformed: TransformedTiles(tiles, transformed.constant, strides),
        panels: WinogradPanels(
          weights: w.constant, channels: channels, range: 0..<panels, atOnce: run.panelsAtOnce),
        products: PointBuffer(products.pointer, stride: stride),
        output: OutputView(y.pointer, target.strides), outputBlocks: target.blocks,
        epilogue: epilogue)
      arguments.poolsMaximum = run.poolsMaximum
      kernels.winogradOutput(arguments)
      first += count
    }
    return (0..<run.images).flatMap {
      target.planar(Array(y.values[$0 * target.count..<($0 + 1) * target.count]))
    }
  }

  /// The bound relative to the largest result, for up to 40 channels.
  private func bound(_ form: WinogradForm) -> Double { form == .six ? 2e-5 : 1e-5 }

  /// Winograd's rounding errors grow with its intermediate sums, not with the result.
  private func expectClose(
    _ found: [Float], _ exact: [(Double, Double)], within bound: Double, _ comment: Comment
  ) {
    #expect(found.count == exact.count, comment)
    let largest = exact.reduce(0) { max($0, abs($1.0)) }
    let worst = zip(found, exact).reduce(0) { max($0, abs(Double($1.0) - $1.1.0)) }
    #expect(worst <= bound * largest, comment)
  }

  @Test(arguments: availableSets, WinogradForm.allCases)
  func everySizeAndChannelCount(_ set: InstructionSet, _ form: WinogradForm) {
    for size in 1...21 {
      for edge in GuardedBuffer.Edge.allCases {
        for padding in [0, 1] {
          let plain = PlainConvolution(
            inputChannels: 1 + size * 7 % 37, outputChannels: size * 3,
            rows: form.vertical.taps + size % 10, width: form.horizontal.taps + (25 - size),
            kernel: (form.vertical.taps, form.horizontal.taps), padding: padding)
          let (x, w, b) = ConvolutionTests.data(plain, seed: UInt64(size))
          var run = Run(plain: plain, form: form, edge: edge)
          let found = compute(run, x, w, b, set.kernels)
          expectClose(
            found, plain.compute(x, w, b), within: form == .six ? 3e-5 : 1e-5, "\(set) \(plain)")
          run.tiles = 1 + size % 5
          run.panelsAtOnce = 1 + size % 3
          #expect(compute(run, x, w, b, set.kernels) == found, "\(set) \(plain) divided")
        }
      }
    }
  }

  @Test(arguments: availableSets, WinogradForm.allCases)
  func imagesAreIndependent(_ set: InstructionSet, _ form: WinogradForm) {
    let plain = PlainConvolution(
      inputChannels: 9, outputChannels: 17, rows: 6, width: 5,
      kernel: (form.vertical.taps, form.horizontal.taps))
    let two = [1, 2].map { ConvolutionTests.data(plain, seed: $0) }
    let (_, w, b) = two[0]
    let run = Run(plain: plain, form: form, edge: .end)
    var both = run
    both.images = 2
    both.tiles = 3
    #expect(
      compute(both, two[0].0 + two[1].0, w, b, set.kernels)
        == compute(run, two[0].0, w, b, set.kernels) + compute(run, two[1].0, w, b, set.kernels))
  }

  @Test(arguments: availableSets, WinogradForm.allCases)
  func everyEpilogue(_ set: InstructionSet, _ form: WinogradForm) {
    let block = set.kernels.channelBlock
    let plain = PlainConvolution(
      inputChannels: 20, outputChannels: 3 * block - 3, rows: 10, width: 15,
      kernel: (form.vertical.taps, form.horizontal.taps))
    let (x, w, b) = ConvolutionTests.data(plain, seed: 11)
    let target = BlockedPlanes(
      channels: plain.outputChannels, rows: plain.outputRows, width: plain.outputWidth, halo: 0,
      block: block)
    let pixels = plain.outputRows * plain.outputWidth
    var generator = SplitMix64(seed: 12)
    let residual = generator.values(plain.outputChannels * pixels, in: -9...9)
    let slopes = generator.values(target.blocks * block)
    let addends = GuardedBuffer(target.blocked(residual), at: .end)
    let slopeBuffer = GuardedBuffer(slopes, at: .end)
    let activations: [(Epilogue, (Double, Int) -> Double)] = [
      (Epilogue(), { x, _ in x }),
      (Epilogue(activation: .relu), { x, _ in max(x, 0) }),
      (Epilogue(activation: .clip(lower: -1, upper: 6)), { x, _ in min(max(x, -1), 6) }),
      (Epilogue(activation: .leaky(0.1)), { x, _ in x < 0 ? x * Double(Float(0.1)) : x }),
      (
        Epilogue(activation: .prelu(slopeBuffer.constant)),
        { x, channel in x < 0 ? x * Double(slopes[channel]) : x }
      ),
    ]
    for (epilogue, function) in activations {
      for withResidual in [false, true] {
        var epilogue = epilogue
        if withResidual {
          epilogue.residual = addends.constant
          epilogue.residualStrides = target.strides
        }
        let exact = plain.compute(x, w, b).enumerated().map { index, value in
          (function(value.0 + (withResidual ? Double(residual[index]) : 0), index / pixels), 0.0)
        }
        let run = Run(plain: plain, form: form, edge: .end, epilogue: epilogue)
        expectClose(
          compute(run, x, w, b, set.kernels), exact, within: bound(form),
          "\(set) \(epilogue.activation) \(withResidual)")
      }
    }
  }

  /// The error bound for a whole network, with the channels of the deepest ones.
  @Test(arguments: availableSets, WinogradForm.allCases)
  func accuracyWithManyChannels(_ set: InstructionSet, _ form: WinogradForm) {
    let plain = PlainConvolution(
      inputChannels: 512, outputChannels: 32, rows: 14, width: 14,
      kernel: (form.vertical.taps, form.horizontal.taps))
    let (x, w, b) = ConvolutionTests.data(plain, seed: 5)
    let found = compute(Run(plain: plain, form: form, edge: .end), x, w, b, set.kernels)
    expectClose(found, plain.compute(x, w, b), within: 5e-5, "\(set)")
  }

  /// The maximum of each 2 × 2 block of the plain convolution's result, bit for bit.
  @Test(arguments: availableSets, [WinogradForm.two, .four, .six])
  func poolsMaximum(_ set: InstructionSet, _ form: WinogradForm) {
    for (rows, width) in [(2, 2), (4, 6), (8, 10), (14, 12), (6, 26)] {
      let plain = PlainConvolution(
        inputChannels: 11, outputChannels: 21, rows: rows, width: width, padding: 1)
      let (x, w, b) = ConvolutionTests.data(plain, seed: 17)
      var run = Run(plain: plain, form: form, edge: .end, epilogue: Epilogue(activation: .relu))
      run.tiles = 2
      let whole = compute(run, x, w, b, set.kernels)
      run.poolsMaximum = true
      let pooled = compute(run, x, w, b, set.kernels)
      let expected = (0..<21 * (rows / 2) * (width / 2)).map { index in
        let (plane, place) = index.quotientAndRemainder(dividingBy: rows / 2 * (width / 2))
        let corner =
          plane * rows * width + place / (width / 2) * 2 * width + place % (width / 2) * 2
        return [0, 1, width, width + 1].map { whole[corner + $0] }.max() ?? 0
      }
      #expect(pooled == expected, "\(set) \(rows) × \(width)")
    }
  }
}
