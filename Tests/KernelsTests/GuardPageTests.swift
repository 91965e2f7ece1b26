import Foundation
import Testing

@testable import Kernels

/// Runs every kernel with every remainder of its loops, with all buffers adjacent to an
/// inaccessible page: once before, once after them. Other tests check the values; here nothing
/// outside may be read or written, and everything inside must be written.
@Suite struct GuardPageTests {
  /// Lengths with every remainder modulo the widest vector, block and tile, plus one more round.
  private static let lengths = Array(1...35)

  @Test func aPageBeforeAndAPageAfterFault() async {
    await #expect(processExitsWith: .failure) {
      let buffer = GuardedBuffer([1, 2, 3], at: .end)
      print(buffer.pointer[3])
    }
    await #expect(processExitsWith: .failure) {
      let buffer = GuardedBuffer([1, 2, 3], at: .begin)
      print((buffer.pointer - 1)[0])
    }
    await #expect(processExitsWith: .failure) {
      let buffer = GuardedBuffer(count: 5, at: .end)
      buffer.pointer[5] = 1
    }
    await #expect(processExitsWith: .success) {
      for edge in GuardedBuffer.Edge.allCases {
        let buffer = GuardedBuffer([1, 2, 3], at: edge)
        print(buffer.pointer[0] + buffer.pointer[2])
      }
    }
  }

  /// Each kernel is called here, or by its own tests with all buffers between guard pages.
  @Test func everyKernelOfTheTableIsGuarded() throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent()
    let table = tests.appending(path: "../../Sources/KernelInterface/KernelTable.swift")
    let requirements = try String(contentsOf: table, encoding: .utf8)
      .matches(of: #/\n  static func (\w+)/#).map { String($0.1) }
    let guarded = try FileManager.default.contentsOfDirectory(atPath: tests.path)
      .map { try String(contentsOf: tests.appending(path: $0), encoding: .utf8) }
      .filter { $0.contains("GuardedBuffer") }.joined()
    #expect(requirements.contains("convolution"))
    for kernel in requirements where kernel != "multiplyAddLoop" {
      #expect(guarded.contains(".\(kernel)("), "no test calls \(kernel) with guarded buffers")
    }
  }

  @Test(arguments: availableSets) func nothingOutsideIsTouched(_ set: InstructionSet) {
    for (kernel, exercise) in Self.exercises {
      for edge in GuardedBuffer.Edge.allCases {
        for length in Self.lengths {
          let outputs = exercise(set.kernels, Buffers(edge: edge), length)
          let isWhole = outputs.allSatisfy {
            $0.values.allSatisfy { $0 != GuardedBuffer.untouched }
          }
          #expect(isWhole, "\(set) \(kernel) \(length) left output out")
        }
      }
    }
  }

  /// Allocates the buffers for a call.
  struct Buffers {
    let edge: GuardedBuffer.Edge

    func input(_ count: Int) -> GuardedBuffer {
      GuardedBuffer((0..<count).map { Float($0 % 17) / 8 - 1 }, at: edge)
    }

    func output(_ count: Int) -> GuardedBuffer { GuardedBuffer(count: count, at: edge) }
  }

  private typealias Exercise = @Sendable (any KernelTable.Type, Buffers, Int) -> [GuardedBuffer]

  /// Calls the kernel for a length; returns the buffers that it must fill.
  private static let exercises: [(kernel: String, Exercise)] = [
    ("convolution", convolution), ("depthwiseConvolution", depthwiseConvolution),
    ("generalConvolution", generalConvolution), ("packConvolutionWeights", packConvolutionWeights),
    ("winogradInput", winogradInput), ("winogradOutput", winogradOutput),
    ("packWinogradWeights", packWinogradWeights), ("dense", dense),
    ("unary", unary), ("combine", combine), ("pool", pool),
    ("reduce", reduce), ("reduceBlock", reduceBlock), ("softmax", softmax),
    ("blockedSoftmax", blockedSoftmax), ("blockedNormalization", blockedNormalization),
    ("block", block), ("unblock", unblock),
  ]
}

// MARK: - Convolutions

extension GuardPageTests {
  /// Blocked, planar and interleaved input; kernels with one and nine taps, with stride 1 and 2.
  private static func convolution(
    _ kernels: any KernelTable.Type, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let block = kernels.channelBlock
    var outputs: [GuardedBuffer] = []
    // The input channels are a whole block, or a few in planes or interleaved.
    for (blockChannels, pixelStride) in [(block, block), (1, 1), (3, 3)] {
      for (kernel, stride) in [(1, 1), (3, 1), (3, 2)] {
        let outputBlocks = 1 + length % 3
        let width = (length - 1) * stride + kernel
        let inputBlocks = blockChannels == 1 ? 3 : blockChannels == 3 ? 1 : 2
        let rowStride = width * pixelStride
        let input = buffers.input(inputBlocks * kernel * rowStride)
        let weights = buffers.input(
          outputBlocks * block * inputBlocks * blockChannels * kernel * kernel)
        let bias = buffers.input(outputBlocks * block)
        let residual = buffers.input(outputBlocks * length * block)
        let output = buffers.output(outputBlocks * length * block)
        let strides = Strides(pixel: block, row: length * block, block: length * block)
        kernels.convolution(
          ConvolutionArguments(
            input: InputView(
              input.constant, Strides(pixel: pixelStride, row: rowStride, block: kernel * rowStride)
            ), inputBlocks: inputBlocks, blockChannels: blockChannels, weights: weights.constant,
            window: Window(height: kernel, width: kernel, strideY: stride, strideX: stride),
            output: OutputView(output.pointer, strides),
            extent: Extent(blocks: outputBlocks, rows: 1, width: length),
            epilogue: Epilogue(
              bias: bias.constant, activation: .relu, residual: residual.constant,
              residualStrides: strides)))
        outputs.append(output)
      }
    }
    return outputs
  }

  private static func depthwiseConvolution(
    _ kernels: any KernelTable.Type, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let block = kernels.channelBlock
    var outputs: [GuardedBuffer] = []
    for (kernel, stride, rows) in [(3, 1, 3), (3, 2, 1), (2, 1, 2), (5, 3, 1)] {
      let width = (length - 1) * stride + kernel
      let height = (rows - 1) * stride + kernel
      let blocks = 1 + length % 2
      let input = buffers.input(blocks * height * width * block)
      let weights = buffers.input(blocks * kernel * kernel * block)
      let bias = buffers.input(blocks * block)
      let output = buffers.output(blocks * rows * length * block)
      kernels.depthwiseConvolution(
        ConvolutionArguments(
          input: InputView(
            input.constant, Strides(row: width * block, block: height * width * block)),
          weights: weights.constant,
          window: Window(height: kernel, width: kernel, strideY: stride, strideX: stride),
          output: OutputView(
            output.pointer, Strides(row: length * block, block: rows * length * block)),
          extent: Extent(blocks: blocks, rows: rows, width: length),
          epilogue: Epilogue(bias: bias.constant)))
      outputs.append(output)
    }
    return outputs
  }

  private static func generalConvolution(
    _ kernels: any KernelTable.Type, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let block = kernels.channelBlock
    let width = length + 1
    let input = buffers.input(2 * width * block)
    let weights = buffers.input(block * 2 * 2 * 2)
    let bias = buffers.input(block)
    let output = buffers.output(length * block)
    kernels.generalConvolution(
      ConvolutionArguments(
        input: InputView(input.constant, Strides(row: width * block, block: 2 * width * block)),
        blockChannels: 2, weights: weights.constant, window: Window(height: 2, width: 2),
        output: OutputView(output.pointer, Strides(row: length * block, block: length * block)),
        extent: Extent(blocks: 1, rows: 1, width: length), epilogue: Epilogue(bias: bias.constant)),
      groupOutputs: 2, channels: 0..<block)
    return [output]
  }

  private static func packConvolutionWeights(
    _ kernels: any KernelTable.Type, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let block = kernels.channelBlock
    let inputs = 1 + length * 7 % 20
    let outputBlocks = (length + block - 1) / block
    let inputBlocks = (inputs + block - 1) / block
    let source = buffers.input(length * inputs * 6)
    let packed = buffers.output(outputBlocks * block * inputBlocks * block * 6)
    kernels.packConvolutionWeights(
      PackingArguments(
        source: source.pointer,
        layout: PlainConvolution(
          inputChannels: inputs, outputChannels: length, kernel: (2, 3)
        ).weightLayout, panels: 0..<outputBlocks, packed: packed.pointer),
      blockChannels: block, panelBlocks: kernels.panelBlocks)
    return [packed]
  }
}

// MARK: - Winograd

extension GuardPageTests {
  private static func winogradInput(
    _ kernels: any KernelTable.Type, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let block = kernels.channelBlock
    let rows = 1 + length % 8
    return WinogradForm.allCases.map { form in
      let tiles = WinogradTiles.perImage(form: form, rows: rows, width: length)
      let rowStride = (length + form.horizontal.taps - 1) * block
      let blockStride = (rows + form.vertical.taps - 1) * rowStride
      let input = buffers.input(2 * blockStride)
      let transformed = buffers.output(form.points * tiles * 2 * block)
      kernels.winogradInput(
        WinogradTiles(form: form, rows: rows, width: length, first: 0, count: tiles),
        InputTransformArguments(
          input: InputView(input.constant, Strides(row: rowStride, block: blockStride)),
          blocks: 0..<2, transformed: transformed.pointer,
          transformedStrides: PointStrides(tile: 2 * block, point: tiles * 2 * block)))
      return transformed
    }
  }

  /// Whole outputs, and pooled ones if rows and columns are even.
  private static func winogradOutput(
    _ kernels: any KernelTable.Type, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let block = kernels.channelBlock
    let rows = 1 + length % 8
    let outputBlocks = 1 + length % 3
    let panels = (outputBlocks + kernels.panelBlocks - 1) / kernels.panelBlocks
    let bias = buffers.input(outputBlocks * block)
    var outputs: [GuardedBuffer] = []
    for form in WinogradForm.allCases {
      let pools = form.kernel == [3, 3] && rows % 2 == 0 && length % 2 == 0
      for step in pools ? [1, 2] : [1] {
        let points = form.points
        let tiles = WinogradTiles.perImage(form: form, rows: rows, width: length)
        let productStride = tiles * kernels.panelBlocks * block
        let transformed = buffers.input(points * tiles * block)
        let weights = buffers.input(points * block * outputBlocks * block)
        let products = buffers.input(points * productStride)
        let residual = buffers.input(outputBlocks * rows * length * block)
        let rowStride = length / step * block
        let blockStride = rows / step * rowStride
        let output = buffers.output(outputBlocks * blockStride)
        let strides = Strides(row: rowStride, block: blockStride)
        var arguments = WinogradOutputArguments(
          transformed: TransformedTiles(
            WinogradTiles(form: form, rows: rows, width: length, first: 0, count: tiles),
            transformed.constant, PointStrides(tile: block, point: tiles * block)),
          panels: WinogradPanels(
            weights: weights.constant, channels: block, range: 0..<panels),
          products: PointBuffer(products.pointer, stride: productStride),
          output: OutputView(output.pointer, strides), outputBlocks: outputBlocks,
          epilogue: Epilogue(
            bias: bias.constant, activation: .relu,
            residual: step == 1 ? residual.constant : nil, residualStrides: strides))
        arguments.poolsMaximum = step == 2
        kernels.winogradOutput(arguments)
        outputs.append(output)
      }
    }
    return outputs
  }

  private static func packWinogradWeights(
    _ kernels: any KernelTable.Type, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let block = kernels.channelBlock
    let inputs = 1 + length % 5
    let blocks = (length + block - 1) / block
    return WinogradForm.allCases.map { form in
      let source = buffers.input(length * inputs * form.taps)
      let scale = buffers.input(length)
      let packed = buffers.output(form.points * blocks * block * block)
      kernels.packWinogradWeights(
        PackingArguments(
          source: source.pointer,
          layout: PlainConvolution(
            inputChannels: inputs, outputChannels: length,
            kernel: (form.vertical.taps, form.horizontal.taps)
          ).weightLayout,
          panels: 0..<(blocks + kernels.panelBlocks - 1) / kernels.panelBlocks,
          packed: packed.pointer),
        form: form, scale: scale.constant)
      return packed
    }
  }
}

// MARK: - Matrices

extension GuardPageTests {
  /// Both formats; half-precision weights start or end in the middle of a float.
  private static func dense(
    _ kernels: any KernelTable.Type, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let rows = 1 + length % 9
    let batch = 1 + length % 3
    var outputs: [GuardedBuffer] = []
    for format in [WeightFormat.float32, .float16] {
      let bytes = rows * length * (format.isSingle ? 4 : 2)
      let weights = buffers.input((bytes + 3) / 4)
      let input = buffers.input(batch * length)
      let bias = buffers.input(rows)
      let output = buffers.output(batch * rows)
      let slack = buffers.edge == .end ? (4 - bytes % 4) % 4 : 0
      kernels.dense(
        DenseArguments(
          weights: WeightRows(
            base: UnsafeRawPointer(weights.pointer) + slack, format: format, stride: length),
          rows: rows, columns: length, input: InputView(input.constant, Strides(row: length)),
          batch: batch, output: OutputView(output.pointer, Strides(row: rows)),
          epilogue: Epilogue(bias: bias.constant, activation: .leaky(0.5))))
      outputs.append(output)
    }
    return outputs
  }
}

// MARK: - Elements

extension GuardPageTests {
  private static func unary(
    _ kernels: any KernelTable.Type, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    UnaryFunction.allCases.map { function in
      let input = buffers.input(length)
      let output = buffers.output(length)
      kernels.unary(
        UnaryArguments(
          function: function, input: input.constant, output: output.pointer, count: length,
          .init(alpha: 0.5, beta: 0.75)))
      return output
    }
  }

  private static func combine(
    _ kernels: any KernelTable.Type, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let block = kernels.channelBlock
    var outputs: [GuardedBuffer] = []
    for function in CombiningFunction.allCases {
      func call(_ operands: [CombiningOperand], count: Int) {
        let output = buffers.output(count)
        operands.withUnsafeBufferPointer { operands in
          guard let base = operands.baseAddress else { return }
          kernels.combine(
            CombiningArguments(
              function: function, operands: base, operandCount: operands.count,
              output: output.pointer, count: count))
        }
        outputs.append(output)
      }
      call(
        (0..<(function == .choose ? 3 : 1 + length % 4)).map { _ in
          CombiningOperand(buffers.input(length).constant)
        },
        count: length)
      call(
        [
          CombiningOperand(buffers.input(length * block).constant),
          CombiningOperand(buffers.input(block).constant, .channel),
          CombiningOperand(buffers.input(length * block).constant, .pixel),
        ], count: length * block)
    }
    return outputs
  }

  private static func pool(
    _ kernels: any KernelTable.Type, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let block = kernels.channelBlock
    // The same for rows and columns; a single row uses the first of each.
    let starts = (0..<length).map { Int32($0) }
    let ends = (0..<length).map { Int32($0 + 3) }
    return [PoolingFunction.maximum, .average, .l2].map { function in
      let input = buffers.input(3 * (length + 2) * block)
      let output = buffers.output(length * block)
      starts.withUnsafeBufferPointer { starts in
        ends.withUnsafeBufferPointer { ends in
          guard let starts = starts.baseAddress, let ends = ends.baseAddress else { return }
          kernels.pool(
            PoolingArguments(
              function: function, rows: PoolingWindows(count: 1, starts: starts, ends: ends),
              columns: PoolingWindows(count: length, starts: starts, ends: ends),
              input: InputView(input.constant, Strides(row: (length + 2) * block)),
              output: OutputView(output.pointer, Strides(row: length * block))))
        }
      }
      return output
    }
  }

  private static func reduce(
    _ kernels: any KernelTable.Type, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let input = buffers.input(length)
    for function in Reduction.allCases {
      _ = kernels.reduce(function, input.constant, count: length)
    }
    return []
  }

  private static func reduceBlock(
    _ kernels: any KernelTable.Type, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let input = buffers.input(length * kernels.channelBlock)
    return Reduction.allCases.map { function in
      let output = buffers.output(kernels.channelBlock)
      kernels.reduceBlock(function, input.constant, pixels: length, to: output.pointer)
      return output
    }
  }

  private static func softmax(
    _ kernels: any KernelTable.Type, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let input = buffers.input(length)
    let output = buffers.output(length)
    kernels.softmax(input.constant, to: output.pointer, count: length)
    return [output]
  }

  private static func blockedSoftmax(
    _ kernels: any KernelTable.Type, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let block = kernels.channelBlock
    let pixels = 1 + length % 4
    let blocks = (length + block - 1) / block
    let input = buffers.input(blocks * pixels * block)
    let output = buffers.output(blocks * pixels * block)
    kernels.blockedSoftmax(
      BlockedPixels(
        input: InputView(input.constant, Strides(block: pixels * block)),
        output: OutputView(output.pointer, Strides(block: pixels * block)), pixels: pixels,
        channels: length))
    return [output]
  }

  private static func blockedNormalization(
    _ kernels: any KernelTable.Type, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let block = kernels.channelBlock
    let pixels = 1 + length % 4
    let lanes = (length + block - 1) / block * block
    let (input, scale) = (buffers.input(lanes * pixels), buffers.input(lanes))
    let output = buffers.output(lanes * pixels)
    let views = BlockedPixels(
      input: InputView(input.constant, Strides(block: pixels * block)),
      output: OutputView(output.pointer, Strides(block: pixels * block)), pixels: pixels,
      channels: length)
    kernels.blockedNormalization(
      BlockedNormalization(views, epsilon: 0.1, scale: scale.constant, bias: scale.constant))
    return [output]
  }
}

// MARK: - Layouts

extension GuardPageTests {
  /// Planes and interleaved pixels.
  private static func block(
    _ kernels: any KernelTable.Type, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let block = kernels.channelBlock
    var outputs: [GuardedBuffer] = []
    for channels in [1, 3, block - 1, block] {
      for strides in strides(channels, length) {
        let input = buffers.input(2 * length * channels)
        let output = buffers.output(2 * length * block)
        kernels.block(
          LayoutArguments(
            input: InputView(input.constant, strides),
            output: OutputView(output.pointer, Strides(row: length * block)),
            extent: Extent(blocks: channels, rows: 2, width: length),
            scale: buffers.input(channels).constant, bias: buffers.input(channels).constant))
        outputs.append(output)
      }
    }
    return outputs
  }

  private static func strides(_ channels: Int, _ length: Int) -> [Strides] {
    [
      Strides(pixel: 1, row: length, block: 2 * length),
      Strides(pixel: channels, row: length * channels, block: 1),
    ]
  }

  private static func unblock(
    _ kernels: any KernelTable.Type, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let block = kernels.channelBlock
    var outputs: [GuardedBuffer] = []
    for channels in [1, 3, block - 1, block] {
      for strides in strides(channels, length) {
        let input = buffers.input(2 * length * block)
        let output = buffers.output(2 * length * channels)
        kernels.unblock(
          LayoutArguments(
            input: InputView(input.constant, Strides(row: length * block)),
            output: OutputView(output.pointer, strides),
            extent: Extent(blocks: channels, rows: 2, width: length)))
        outputs.append(output)
      }
    }
    return outputs
  }
}
