import TensorCore
import TestSupport
import Testing

@testable import Kernels

/// Convolutions whose weights are codes, compared with the definition and, bit for bit, with the same
/// values in floats. Codes, values and the memory for expanded weights lie between guard pages.
@Suite struct CodedConvolutionTests {
  private enum Values: CaseIterable { case linear, halves, table }

  /// The packed weights as codes and as floats.
  private struct Packed {
    let width: Int
    let codes: GuardedBuffer
    let scale, bias, factor, table: GuardedBuffer
    let floats: GuardedBuffer
    /// The weights in the order of a file.
    let weights: [Float]

    /// Scales and offsets have few bits, so that values are exact.
    init(
      _ run: ConvolutionTests.Run, blockChannels: Int, _ values: Values, hasFactor: Bool,
      seed: UInt64
    ) {
      let plain = run.plain
      var generator = SplitMix64(seed: seed)
      let block = run.kernels.channelBlock
      width = (plain.outputChannels + block - 1) / block * block
      let padding = [Float](repeating: 0, count: width - plain.outputChannels)
      let scale = generator.values(plain.outputChannels, in: 1...255).map { $0.rounded() / 4096 }
      let bias = scale.map { -$0 * 121 }
      let factor = generator.values(plain.outputChannels, in: 0.5...2)
      let table = generator.values(256)
      let codes = generator.values(plain.weightCount, in: 0...255).map { $0.rounded() }
      let perOutput = plain.weightCount / plain.outputChannels
      weights = codes.enumerated().map { index, code in
        let output = index / perOutput
        let linear = scale[output] * code + bias[output]
        let value =
          switch values {
          case .linear: linear
          case .halves: Float(Float16(linear))
          case .table: table[Int(code)]
          }
        return hasFactor ? value * factor[output] : value
      }
      floats = run.pack(weights, blockChannels: blockChannels)
      let bytes = run.pack(codes, blockChannels: blockChannels).values.map { UInt8($0) }
      self.codes = GuardedBuffer(
        bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }, at: run.edge)
      self.scale = GuardedBuffer(scale + padding, at: run.edge)
      self.bias = GuardedBuffer(bias + padding, at: run.edge)
      self.factor = GuardedBuffer(factor + padding, at: run.edge)
      self.table = GuardedBuffer(table, at: run.edge)
    }
  }

  private func check(
    _ set: InstructionSet, _ plain: PlainConvolution, isPlanar: Bool = false, _ values: Values,
    hasFactor: Bool, edge: GuardedBuffer.Edge
  ) {
    let kernels = set.kernels
    let block = kernels.channelBlock
    let run = ConvolutionTests.Run(kernels: kernels, plain: plain, edge: edge)
    let inputBlock = isPlanar ? 1 : block
    let packed = Packed(
      run, blockChannels: inputBlock, values, hasFactor: hasFactor, seed: 5)
    let (x, _, b) = ConvolutionTests.data(plain, seed: 9)
    let source = BlockedPlanes(
      channels: plain.inputChannels, rows: plain.rows, width: plain.width, halo: plain.padding,
      block: inputBlock)
    let target = BlockedPlanes(
      channels: plain.outputChannels, rows: plain.outputRows, width: plain.outputWidth, halo: 0,
      block: block)
    let input = GuardedBuffer(source.blocked(x), at: edge)
    let bias = GuardedBuffer(
      b + [Float](repeating: 0, count: packed.width - b.count), at: edge)
    let output = GuardedBuffer(count: target.count, at: edge)
    var arguments = ConvolutionArguments(
      input: InputView(input.constant, source.strides), inputBlocks: source.blocks,
      blockChannels: inputBlock, weights: packed.floats.constant, window: plain.window,
      output: OutputView(output.pointer, target.strides), extent: target.extent,
      epilogue: Epilogue(bias: bias.constant))
    kernels.convolution(arguments)
    let expected = output.values
    output.pointer.update(repeating: GuardedBuffer.untouched, count: output.count)
    let most = (1...kernels.panelBlocks).map {
      let blockFloats = $0 * block * inputBlock * plain.window.taps
      return blockFloats
        * ConvolutionArguments.blocksAtOnce(source.blocks, blockFloats: blockFloats)
    }.max()
    let expanded = GuardedBuffer(count: most ?? 0, at: edge)
    arguments.weights = expanded.constant
    let (scale, offset) = (packed.scale.constant, packed.bias.constant)
    let panelValues: PanelValues =
      switch values {
      case .linear: .linear(scale: scale, bias: offset)
      case .halves: .halves(scale: scale, bias: offset)
      case .table: .table(packed.table.constant)
      }
    arguments.coded = CodedWeights(
      CodePanel(
        codes: UnsafeRawPointer(packed.codes.pointer).assumingMemoryBound(to: UInt8.self),
        values: panelValues, factor: hasFactor ? packed.factor.constant : nil,
        inputChannels: plain.inputChannels, width: packed.width), expanded: expanded.pointer)
    kernels.convolution(arguments)
    let comment: Comment = "\(set) \(plain), planar \(isPlanar), \(values)"
    #expect(output.values == expected, comment)
    expectClose(
      target.planar(output.values), plain.compute(x, packed.weights, b), comment)
  }

  /// Channels that fill blocks and panels or not, and weights that are expanded in several pieces.
  @Test(arguments: availableSets) func equalFloats(_ set: InstructionSet) {
    let block = set.kernels.channelBlock
    for (inputs, outputs, kernel) in [
      (1, 1, 1), (block, block, 1), (block + 3, 2 * block, 3), (3 * block - 1, 4 * block + 5, 2),
      (300, 3 * block, 3), (60 * block - 7, 2 * block - 1, 2),
    ] {
      for (values, hasFactor) in Values.allCases.flatMap({ [($0, false), ($0, true)] }) {
        // Padded lanes of a table's values are not zero without a factor.
        if values == .table && !hasFactor && outputs % block != 0 { continue }
        for edge in GuardedBuffer.Edge.allCases {
          let plain = PlainConvolution(
            inputChannels: inputs, outputChannels: outputs, rows: 4, width: 5,
            kernel: (kernel, kernel), padding: 1)
          check(set, plain, values, hasFactor: hasFactor, edge: edge)
        }
      }
    }
  }

  @Test(arguments: availableSets) func planesAndStrides(_ set: InstructionSet) {
    for stride in [1, 2] {
      let plain = PlainConvolution(
        inputChannels: 3, outputChannels: set.kernels.channelBlock + 3, rows: 19, width: 25,
        kernel: (7, 7), stride: (stride, stride), padding: 0)
      for edge in GuardedBuffer.Edge.allCases {
        check(set, plain, isPlanar: true, .linear, hasFactor: false, edge: edge)
      }
    }
  }
}
