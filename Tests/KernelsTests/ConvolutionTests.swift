import TensorCore
import TestSupport
import Testing

@testable import Kernels

/// A convolution in double precision over planar input `[channel][row][column]`, padded with zeros.
struct PlainConvolution {
  var inputChannels = 3
  var outputChannels = 5
  var rows = 7
  var width = 9
  var kernel = (height: 3, width: 3)
  var stride = (y: 1, x: 1)
  var dilation = (y: 1, x: 1)
  var groups = 1
  var padding = 1

  var outputRows: Int { (rows + 2 * padding - dilation.y * (kernel.height - 1) - 1) / stride.y + 1 }
  var outputWidth: Int {
    (width + 2 * padding - dilation.x * (kernel.width - 1) - 1) / stride.x + 1
  }
  var window: Window {
    var window = Window(
      height: kernel.height, width: kernel.width, strideY: stride.y, strideX: stride.x)
    (window.dilationY, window.dilationX) = (dilation.y, dilation.x)
    return window
  }
  var weightLayout: WeightLayout {
    WeightLayout(
      outputChannels: outputChannels, inputChannels: inputChannels / groups,
      kernelHeight: kernel.height, kernelWidth: kernel.width)
  }
  var weightCount: Int { outputChannels * inputChannels / groups * kernel.height * kernel.width }

  /// The sums, and the sums of magnitudes for error bounds.
  func compute(_ input: [Float], _ weights: [Float], _ bias: [Float]) -> [(Double, Double)] {
    var result: [(Double, Double)] = []
    let groupInputs = inputChannels / groups
    for o in 0..<outputChannels {
      let first = o / (outputChannels / groups) * groupInputs
      for y in 0..<outputRows {
        for x in 0..<outputWidth {
          var sum = Double(bias[o])
          var size = abs(sum)
          for i in 0..<groupInputs {
            for ky in 0..<kernel.height {
              let row = y * stride.y + ky * dilation.y - padding
              guard row >= 0 && row < rows else { continue }
              for kx in 0..<kernel.width {
                let column = x * stride.x + kx * dilation.x - padding
                guard column >= 0 && column < width else { continue }
                let w = weights[((o * groupInputs + i) * kernel.height + ky) * kernel.width + kx]
                let product = Double(input[((first + i) * rows + row) * width + column]) * Double(w)
                sum += product
                size += abs(product)
              }
            }
          }
          result.append((sum, size))
        }
      }
    }
    return result
  }
}

func expectClose(
  _ found: [Float], _ exact: [(Double, Double)], _ comment: Comment,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  #expect(found.count == exact.count, comment, sourceLocation: sourceLocation)
  for (value, (sum, size)) in zip(found, exact) where !(abs(Double(value) - sum) <= 2e-6 * size) {
    Issue.record("\(comment): \(value) instead of \(sum)", sourceLocation: sourceLocation)
    return
  }
}

@Suite struct ConvolutionTests {
  struct Run {
    var kernels: any KernelTable.Type
    var plain: PlainConvolution
    var edge: GuardedBuffer.Edge
    var epilogue = Epilogue()
    /// Number of output panels per call.
    var panels: Int?
    var tiles = Tiles.none

    func blocked(_ input: [Float], _ weights: [Float], _ bias: [Float]) -> [Float] {
      let block = kernels.channelBlock
      let source = BlockedPlanes(
        channels: plain.inputChannels, rows: plain.rows, width: plain.width, halo: plain.padding,
        block: block)
      let target = BlockedPlanes(
        channels: plain.outputChannels, rows: plain.outputRows, width: plain.outputWidth, halo: 0,
        block: block)
      let x = GuardedBuffer(source.blocked(input), at: edge)
      let w = pack(weights, blockChannels: block)
      let b = GuardedBuffer(
        bias + [Float](repeating: 0, count: target.blocks * block - bias.count), at: edge)
      let y = GuardedBuffer(count: target.count, at: edge)
      var first = 0
      while first < target.blocks {
        let count = min(
          panels.map { $0 * kernels.panelBlocks } ?? target.blocks, target.blocks - first)
        var epilogue = epilogue
        epilogue.bias = b.constant + first * block
        if case .prelu(let slopes) = epilogue.activation {
          epilogue.activation = .prelu(slopes + first * block)
        }
        var arguments = ConvolutionArguments(
          input: InputView(x.constant, source.strides), inputBlocks: source.blocks,
          blockChannels: block,
          weights: w.constant + first * source.blocks * block * block * plain.window.taps,
          window: plain.window,
          output: OutputView(y.pointer + first * target.blockStride, target.strides),
          extent: Extent(blocks: count, rows: plain.outputRows, width: plain.outputWidth),
          epilogue: epilogue)
        arguments.tiles = tiles
        kernels.convolution(arguments)
        first += count
      }
      for value in y.values { precondition(value != GuardedBuffer.untouched) }
      return target.planar(y.values)
    }

    func pack(_ weights: [Float], blockChannels: Int) -> GuardedBuffer {
      let block = kernels.channelBlock
      let taps = plain.kernel.height * plain.kernel.width
      let inputBlocks = (plain.inputChannels + blockChannels - 1) / blockChannels
      let outputBlocks = (plain.outputChannels + block - 1) / block
      let source = GuardedBuffer(weights, at: edge)
      let packed = GuardedBuffer(
        count: outputBlocks * block * inputBlocks * blockChannels * taps, at: edge)
      kernels.packConvolutionWeights(
        PackingArguments(
          source: source.pointer, layout: plain.weightLayout, panels: 0..<outputBlocks,
          packed: packed.pointer),
        blockChannels: blockChannels, panelBlocks: kernels.panelBlocks)
      return packed
    }
  }

  static func data(_ plain: PlainConvolution, seed: UInt64) -> ([Float], [Float], [Float]) {
    var generator = SplitMix64(seed: seed)
    return (
      generator.values(plain.inputChannels * plain.rows * plain.width),
      generator.values(plain.weightCount), generator.values(plain.outputChannels)
    )
  }

  @Test(arguments: availableSets) func everyWidthAndChannelCount(_ set: InstructionSet) {
    for size in 1...33 {
      for edge in GuardedBuffer.Edge.allCases {
        let plain = PlainConvolution(
          inputChannels: 1 + size % 19, outputChannels: size, rows: 3, width: 34 - size)
        let (x, w, b) = Self.data(plain, seed: UInt64(size))
        let found = Run(kernels: set.kernels, plain: plain, edge: edge).blocked(x, w, b)
        expectClose(found, plain.compute(x, w, b), "\(set) width and channels \(size)")
      }
    }
  }

  @Test(arguments: availableSets) func everyKernelStrideAndDilation(_ set: InstructionSet) {
    for kernel in [(1, 1), (1, 3), (3, 1), (2, 2), (5, 4), (7, 7)] {
      for stride in [(1, 1), (2, 2), (1, 3), (2, 1)] {
        for dilation in [(1, 1), (2, 2), (3, 1)] {
          let plain = PlainConvolution(
            inputChannels: 17, outputChannels: 35, rows: 21, width: 23, kernel: kernel,
            stride: stride, dilation: dilation, padding: 2)
          let (x, w, b) = Self.data(plain, seed: 7)
          let found = Run(kernels: set.kernels, plain: plain, edge: .end).blocked(x, w, b)
          expectClose(found, plain.compute(x, w, b), "\(set) \(kernel) \(stride) \(dilation)")
        }
      }
    }
  }

  @Test(arguments: availableSets) func everyEpilogue(_ set: InstructionSet) {
    everyEpilogue(set, .none)
    if set == .avx512 { everyEpilogue(set, .emulated) }
  }

  private func everyEpilogue(_ set: InstructionSet, _ tiles: Tiles) {
    let block = set.kernels.channelBlock
    var plain = PlainConvolution(inputChannels: 20, outputChannels: 3 * block - 3, width: 17)
    plain.dilation = (2, 1)
    let (x, w, b) = Self.data(plain, seed: 11)
    let target = BlockedPlanes(
      channels: plain.outputChannels, rows: plain.outputRows, width: plain.outputWidth, halo: 1,
      block: block)
    var generator = SplitMix64(seed: 12)
    let residual = generator.values(
      plain.outputChannels * plain.outputRows * plain.outputWidth, in: -9...9)
    let slopes = generator.values(target.blocks * block)
    let blockedResidual = GuardedBuffer(target.blocked(residual), at: .end)
    let slopeBuffer = GuardedBuffer(slopes, at: .end)
    let pixels = plain.outputRows * plain.outputWidth
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
          epilogue.residual = blockedResidual.constant + target.origin
          epilogue.residualStrides = target.strides
        }
        let run = Run(
          kernels: set.kernels, plain: plain, edge: .end, epilogue: epilogue, tiles: tiles)
        let exact = plain.compute(x, w, b).enumerated().map { index, value in
          let addend = withResidual ? Double(residual[index]) : 0
          return (function(value.0 + addend, index / pixels), value.1 + abs(addend))
        }
        expectClose(
          run.blocked(x, w, b), exact, "\(set) \(epilogue.activation) \(withResidual)")
        if !withResidual {
          var split = run
          split.panels = 1
          let isSame = split.blocked(x, w, b) == run.blocked(x, w, b)
          #expect(isSame, "panels apart")
        }
      }
    }
  }

  /// Input with few channels, such as images: planes or interleaved pixels.
  @Test(arguments: availableSets) func unblockedInput(_ set: InstructionSet) {
    let block = set.kernels.channelBlock
    for channels in 1...4 {
      for (kernel, stride, dilation) in [(3, 1, 1), (7, 2, 1), (3, 2, 2), (1, 1, 1)] {
        for isPlanar in [false, true] {
          let plain = PlainConvolution(
            inputChannels: channels, outputChannels: block + 3, rows: 19, width: 25,
            kernel: (kernel, kernel), stride: (stride, stride), dilation: (dilation, dilation),
            padding: 0)
          let (x, w, b) = Self.data(plain, seed: UInt64(kernel))
          let run = Run(kernels: set.kernels, plain: plain, edge: .end)
          let packed = run.pack(w, blockChannels: isPlanar ? 1 : channels)
          let pixels = plain.rows * plain.width
          let interleaved = (0..<x.count).map { x[$0 % channels * pixels + $0 / channels] }
          let input = GuardedBuffer(isPlanar ? x : interleaved, at: .end)
          let target = BlockedPlanes(
            channels: plain.outputChannels, rows: plain.outputRows, width: plain.outputWidth,
            halo: 0, block: block)
          let bias = GuardedBuffer(
            b + [Float](repeating: 0, count: target.blocks * block - b.count), at: .end)
          let output = GuardedBuffer(count: target.count, at: .end)
          var arguments = ConvolutionArguments(
            input: InputView(
              input.constant,
              Strides(
                pixel: isPlanar ? 1 : channels, row: plain.width * (isPlanar ? 1 : channels),
                block: pixels)), inputBlocks: isPlanar ? channels : 1,
            blockChannels: isPlanar ? 1 : channels, weights: packed.constant, window: plain.window,
            output: OutputView(output.pointer, target.strides), extent: target.extent,
            epilogue: Epilogue(bias: bias.constant))
          set.kernels.convolution(arguments)
          let found = output.values
          expectClose(
            target.planar(found), plain.compute(x, w, b),
            "\(set) \(channels) channels, kernel \(kernel), planar \(isPlanar)")
          arguments.isInputNear = true
          set.kernels.convolution(arguments)
          #expect(output.values == found, "near")
        }
      }
    }
  }

  /// Any strides of the source: a kernel in another axis order, flipped.
  @Test(arguments: availableSets) func packingOfOtherOrders(_ set: InstructionSet) {
    let plain = PlainConvolution(inputChannels: 19, outputChannels: 21, kernel: (2, 3))
    let (_, w, _) = Self.data(plain, seed: 1)
    let run = Run(kernels: set.kernels, plain: plain, edge: .end)
    let expected = run.pack(w, blockChannels: set.kernels.channelBlock)
    let (inputs, outputs, height, width) = (19, 21, 2, 3)
    // [height][width][input][output], flipped along both axes of the kernel.
    var turned = [Float](repeating: 0, count: w.count)
    for o in 0..<outputs {
      for i in 0..<inputs {
        for y in 0..<height {
          for x in 0..<width {
            turned[(((height - 1 - y) * width + width - 1 - x) * inputs + i) * outputs + o] =
              w[((o * inputs + i) * height + y) * width + x]
          }
        }
      }
    }
    let source = GuardedBuffer(turned, at: .end)
    let packed = GuardedBuffer(count: expected.count, at: .end)
    let step = inputs * outputs
    var layout = plain.weightLayout
    (layout.outputStride, layout.inputStride) = (1, outputs)
    (layout.rowStride, layout.columnStride) = (-width * step, -step)
    for panel in 0..<3 {
      set.kernels.packConvolutionWeights(
        PackingArguments(
          source: UnsafeRawPointer(source.pointer + (height * width - 1) * step), layout: layout,
          panels: panel..<panel + 1, packed: packed.pointer),
        blockChannels: set.kernels.channelBlock, panelBlocks: set.kernels.panelBlocks)
    }
    #expect(packed.values == expected.values)
  }

  /// Output and residual with gaps between the computed pixels, as in a transposed convolution.
  @Test(arguments: availableSets) func outputWithGaps(_ set: InstructionSet) {
    let block = set.kernels.channelBlock
    let plain = PlainConvolution(
      inputChannels: 5, outputChannels: 2 * block + 1, rows: 4, width: 19, padding: 0)
    let (x, w, b) = Self.data(plain, seed: 3)
    let run = Run(kernels: set.kernels, plain: plain, edge: .end)
    let packed = run.pack(w, blockChannels: block)
    let source = BlockedPlanes(channels: 5, rows: 4, width: 19, halo: 0, block: block)
    let target = BlockedPlanes(
      channels: plain.outputChannels, rows: plain.outputRows * 2, width: plain.outputWidth * 3,
      halo: 0, block: block)
    let input = GuardedBuffer(source.blocked(x), at: .end)
    let bias = GuardedBuffer(
      b + [Float](repeating: 0, count: target.blocks * block - b.count), at: .end)
    let residual = GuardedBuffer((0..<target.count).map { Float($0 % 11) - 5 }, at: .end)
    let output = GuardedBuffer([Float](repeating: 77, count: target.count), at: .end)
    let phase = target.rowStride + 2 * block
    let gaps = Strides(pixel: 3 * block, row: 2 * target.rowStride, block: target.blockStride)
    set.kernels.convolution(
      ConvolutionArguments(
        input: InputView(input.constant, source.strides), inputBlocks: source.blocks,
        blockChannels: block, weights: packed.constant, window: plain.window,
        output: OutputView(output.pointer + phase, gaps),
        extent: Extent(
          blocks: target.blocks, rows: plain.outputRows, width: plain.outputWidth),
        epilogue: Epilogue(
          bias: bias.constant, residual: residual.constant + phase, residualStrides: gaps)))
    let found = target.planar(output.values)
    let addends = target.planar(residual.values)
    var sums: [Float] = []
    var exact = plain.compute(x, w, b)
    for (index, value) in found.enumerated() {
      let column = index % target.width
      let row = index / target.width % target.rows
      if row % 2 == 1 && column % 3 == 2 {
        exact[sums.count].0 += Double(addends[index])
        exact[sums.count].1 += abs(Double(addends[index]))
        sums.append(value)
      } else {
        #expect(value == 77)
      }
    }
    expectClose(sums, exact, "\(set)")
  }
}
