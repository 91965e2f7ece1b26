import Testing

@testable import Kernels

/// Every kernel with every remainder of its loops, all buffers flush against a page that must not be
/// touched: one before, then one after. What is computed is checked elsewhere; here nothing may be
/// read or written outside, and everything inside must be written.
@Suite struct GuardPageTests {
  /// Lengths that meet every remainder of the widest vector, block and tile, and one more round.
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

  @Test func everyKernelOfTheTableIsHere() {
    let table = Mirror(reflecting: InstructionSet.baseline.kernels).children
    let kernels = table.filter { String(describing: type(of: $0.value)).contains("->") }
    let exercised = Set(Self.exercises.map(\.kernel)).union(Self.guardedByTheirOwnTests)
    #expect(Set(kernels.compactMap(\.label)) == exercised)
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

  /// Makes the buffers of a call.
  struct Buffers {
    let edge: GuardedBuffer.Edge

    func input(_ count: Int) -> GuardedBuffer {
      GuardedBuffer((0..<count).map { Float($0 % 17) / 8 - 1 }, at: edge)
    }

    func output(_ count: Int) -> GuardedBuffer { GuardedBuffer(count: count, at: edge) }
  }

  private typealias Exercise = @Sendable (KernelTable, Buffers, Int) -> [GuardedBuffer]

  /// Kernels whose own tests put every buffer between guard pages, at all sizes.
  private static let guardedByTheirOwnTests: Set<String> = [
    "pieceInput", "pieceOutput", "pieceSums", "pieceSumOutput", "planarConvolution",
    "planarPair", "planarPairRows", "upsampledInput", "upsampledOutput", "expandWeights",
    "expandWinogradWeights", "strassenInput", "strassenOutput", "packFixedRow",
  ]

  /// A call of the kernel for a length; returns the buffers that it must fill.
  private static let exercises: [(kernel: String, Exercise)] = [
    ("convolution", convolution), ("depthwiseConvolution", depthwiseConvolution),
    ("generalConvolution", generalConvolution), ("packConvolutionWeights", packConvolutionWeights),
    ("winogradInput", winogradInput), ("winogradOutput", winogradOutput),
    ("packWinogradWeights", packWinogradWeights), ("dense", dense),
    ("matrixProduct", matrixProduct), ("unary", unary), ("combine", combine), ("pool", pool),
    ("reduce", reduce), ("reducePlane", reducePlane), ("softmax", softmax),
    ("blockedSoftmax", blockedSoftmax), ("block", block), ("unblock", unblock),
  ]
}

// MARK: - Convolutions

extension GuardPageTests {
  /// Blocked, planar and interleaved input; kernels of one and of nine taps, with stride 1 and 2.
  private static func convolution(
    _ kernels: KernelTable, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let block = kernels.channelBlock
    var outputs: [GuardedBuffer] = []
    // Channels of the input: a whole block, or few in planes or side by side.
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
        kernels.convolution(
          ConvolutionArguments(
            input: input.constant, inputPixelStride: pixelStride, inputRowStride: rowStride,
            inputBlockStride: kernel * rowStride, inputBlocks: inputBlocks,
            blockChannels: blockChannels, weights: weights.constant, packedBlocks: inputBlocks,
            kernelHeight: kernel, kernelWidth: kernel, strideY: stride, strideX: stride,
            output: output.pointer, outputRowStride: length * block,
            outputBlockStride: length * block, outputRows: 1, outputWidth: length,
            outputBlocks: outputBlocks, bias: bias.constant,
            epilogue: Epilogue(
              activation: .relu, residual: residual.constant,
              residualBlockStride: length * block, residualRowStride: length * block)))
        outputs.append(output)
      }
    }
    return outputs
  }

  private static func depthwiseConvolution(
    _ kernels: KernelTable, _ buffers: Buffers, _ length: Int
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
        DepthwiseConvolutionArguments(
          input: input.constant, inputRowStride: width * block,
          inputBlockStride: height * width * block, weights: weights.constant,
          kernelHeight: kernel, kernelWidth: kernel, strideY: stride, strideX: stride,
          output: output.pointer, outputRowStride: length * block,
          outputBlockStride: rows * length * block, outputRows: rows, outputWidth: length,
          blocks: blocks, bias: bias.constant))
      outputs.append(output)
    }
    return outputs
  }

  private static func generalConvolution(
    _ kernels: KernelTable, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let block = kernels.channelBlock
    let width = length + 1
    let input = buffers.input(2 * width * block)
    let weights = buffers.input(block * 2 * 2 * 2)
    let bias = buffers.input(block)
    let output = buffers.output(length * block)
    kernels.generalConvolution(
      GeneralConvolutionArguments(
        input: input.constant, inputRowStride: width * block, inputBlockStride: 2 * width * block,
        weights: weights.pointer, groupInputChannels: 2, groupOutputChannels: 2, kernelHeight: 2,
        kernelWidth: 2, output: output.pointer, outputRowStride: length * block,
        outputBlockStride: length * block, outputRows: 1, outputWidth: length, channelCount: block,
        bias: bias.constant))
    return [output]
  }

  private static func packConvolutionWeights(
    _ kernels: KernelTable, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let block = kernels.channelBlock
    let inputs = 1 + length * 7 % 20
    let outputBlocks = (length + block - 1) / block
    let inputBlocks = (inputs + block - 1) / block
    let source = buffers.input(length * inputs * 6)
    let packed = buffers.output(outputBlocks * block * inputBlocks * block * 6)
    kernels.packConvolutionWeights(
      PackingArguments(
        source: source.pointer, outputStride: inputs * 6, inputStride: 6, rowStride: 3,
        columnStride: 1, outputChannels: length, inputChannels: inputs, kernelHeight: 2,
        kernelWidth: 3, blockChannels: block, panelBlocks: kernels.panelBlocks, firstPanel: 0,
        panelCount: outputBlocks, packed: packed.pointer))
    return [packed]
  }
}

// MARK: - Winograd

extension GuardPageTests {
  private static func winogradInput(
    _ kernels: KernelTable, _ buffers: Buffers, _ length: Int
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
        WinogradInputArguments(
          tiles: WinogradTiles(form: form, rows: rows, width: length, first: 0, count: tiles),
          input: input.constant, inputRowStride: rowStride, inputBlockStride: blockStride,
          inputImageStride: 0, blocks: 2,
          transformed: transformed.pointer, tileStride: 2 * block, pointStride: tiles * 2 * block))
      return transformed
    }
  }

  /// Whole outputs, and pooled ones where rows and columns are even.
  private static func winogradOutput(
    _ kernels: KernelTable, _ buffers: Buffers, _ length: Int
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
        var epilogue = Epilogue(activation: .relu)
        if step == 1 {
          epilogue.residual = residual.constant
          epilogue.residualBlockStride = blockStride
          epilogue.residualRowStride = rowStride
        }
        kernels.winogradOutput(
          WinogradOutputArguments(
            tiles: WinogradTiles(form: form, rows: rows, width: length, first: 0, count: tiles),
            transformed: transformed.constant, tileStride: block, pointStride: tiles * block,
            channels: block, weights: weights.constant, panelCount: panels,
            products: products.pointer, productStride: productStride, output: output.pointer,
            outputRowStride: rowStride, outputBlockStride: blockStride, outputImageStride: 0,
            outputBlocks: outputBlocks, bias: bias.constant, epilogue: epilogue,
            poolsMaximum: step == 2))
        outputs.append(output)
      }
    }
    return outputs
  }

  private static func packWinogradWeights(
    _ kernels: KernelTable, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let block = kernels.channelBlock
    let inputs = 1 + length % 5
    let blocks = (length + block - 1) / block
    return WinogradForm.allCases.map { form in
      let source = buffers.input(length * inputs * form.taps)
      let scale = buffers.input(length)
      let packed = buffers.output(form.points * blocks * block * block)
      kernels.packWinogradWeights(
        WinogradPackingArguments(
          form: form, source: source.pointer, outputStride: inputs * form.taps,
          inputStride: form.taps, rowStride: form.horizontal.taps, columnStride: 1,
          outputChannels: length, inputChannels: inputs, scale: scale.constant, firstPanel: 0,
          panelCount: (blocks + kernels.panelBlocks - 1) / kernels.panelBlocks,
          packed: packed.pointer))
      return packed
    }
  }
}

// MARK: - Matrices

extension GuardPageTests {
  /// Both formats; half-precision weights end or begin in the middle of a float.
  private static func dense(
    _ kernels: KernelTable, _ buffers: Buffers, _ length: Int
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
          weights: UnsafeRawPointer(weights.pointer) + slack, format: format, rowStride: length,
          rows: rows, columns: length, input: input.constant, inputStride: length, batch: batch,
          bias: bias.constant, output: output.pointer, outputStride: rows,
          epilogue: Epilogue(activation: .leaky, alpha: 0.5)))
      outputs.append(output)
    }
    return outputs
  }

  private static func matrixProduct(
    _ kernels: KernelTable, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let (rows, depth) = (1 + length * 5 % 16, 1 + length % 7)
    let a = buffers.input(rows * depth)
    let b = buffers.input(depth * length)
    let rowBias = buffers.input(rows)
    let columnBias = buffers.input(length)
    let c = buffers.output(rows * length)
    kernels.matrixProduct(
      MatrixProductArguments(
        a: a.constant, aStride: depth, b: b.constant, bStride: length, c: c.pointer,
        cStride: length, rows: rows, columns: length, depth: depth, rowBias: rowBias.constant,
        columnBias: columnBias.constant))
    return [c]
  }
}

// MARK: - Elements

extension GuardPageTests {
  private static func unary(
    _ kernels: KernelTable, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    UnaryFunction.allCases.map { function in
      let input = buffers.input(length)
      let output = buffers.output(length)
      kernels.unary(
        UnaryArguments(
          function: function, input: input.constant, output: output.pointer, count: length,
          alpha: 0.5, beta: 0.75))
      return output
    }
  }

  private static func combine(
    _ kernels: KernelTable, _ buffers: Buffers, _ length: Int
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
    _ kernels: KernelTable, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let block = kernels.channelBlock
    // Of rows and columns alike; the only row takes the first of each.
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
              function: function, input: input.constant, inputRowStride: (length + 2) * block,
              output: output.pointer, outputRowStride: length * block, outputRows: 1,
              outputWidth: length, rowStarts: starts, rowEnds: ends, columnStarts: starts,
              columnEnds: ends))
        }
      }
      return output
    }
  }

  private static func reduce(
    _ kernels: KernelTable, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let input = buffers.input(length)
    for function in Reduction.allCases {
      _ = kernels.reduce(
        ReductionArguments(function: function, input: input.constant, count: length))
    }
    return []
  }

  private static func reducePlane(
    _ kernels: KernelTable, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let block = kernels.channelBlock
    let rows = 1 + length % 3
    let input = buffers.input(rows * length * block)
    return Reduction.allCases.map { function in
      let output = buffers.output(block)
      kernels.reducePlane(
        PlaneReductionArguments(
          function: function, input: input.constant, inputRowStride: length * block, rows: rows,
          width: length, output: output.pointer))
      return output
    }
  }

  private static func softmax(
    _ kernels: KernelTable, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let input = buffers.input(length)
    let output = buffers.output(length)
    kernels.softmax(
      SoftmaxArguments(input: input.constant, output: output.pointer, count: length))
    return [output]
  }

  private static func blockedSoftmax(
    _ kernels: KernelTable, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let block = kernels.channelBlock
    let pixels = 1 + length % 4
    let blocks = (length + block - 1) / block
    let input = buffers.input(blocks * pixels * block)
    let output = buffers.output(blocks * pixels * block)
    kernels.blockedSoftmax(
      BlockedSoftmaxArguments(
        input: input.constant, inputBlockStride: pixels * block, output: output.pointer,
        outputBlockStride: pixels * block, pixels: pixels, channels: length))
    return [output]
  }
}

// MARK: - Layouts

extension GuardPageTests {
  /// Planes and interleaved pixels, floats and bytes.
  private static func block(
    _ kernels: KernelTable, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let block = kernels.channelBlock
    var outputs: [GuardedBuffer] = []
    for channels in [1, 3, block - 1, block] {
      for format in [ScalarFormat.float32, .uint8] {
        for isPlanar in [true, false] {
          let elements = 2 * length * channels
          let bytes = elements * (format == .float32 ? 4 : 1)
          let input = buffers.input((bytes + 3) / 4)
          let slack = buffers.edge == .end ? (4 - bytes % 4) % 4 : 0
          let output = buffers.output(2 * length * block)
          kernels.block(
            BlockingArguments(
              input: UnsafeRawPointer(input.pointer) + slack, format: format,
              channelStride: isPlanar ? 2 * length : 1,
              rowStride: isPlanar ? length : length * channels,
              pixelStride: isPlanar ? 1 : channels, channels: channels,
              scale: buffers.input(channels).constant, bias: buffers.input(channels).constant,
              output: output.pointer, outputRowStride: length * block, rows: 2, width: length))
          outputs.append(output)
        }
      }
    }
    return outputs
  }

  private static func unblock(
    _ kernels: KernelTable, _ buffers: Buffers, _ length: Int
  ) -> [GuardedBuffer] {
    let block = kernels.channelBlock
    var outputs: [GuardedBuffer] = []
    for channels in [1, 3, block - 1, block] {
      for isPlanar in [true, false] {
        let input = buffers.input(2 * length * block)
        let output = buffers.output(2 * length * channels)
        kernels.unblock(
          UnblockingArguments(
            input: input.constant, inputRowStride: length * block, output: output.pointer,
            channelStride: isPlanar ? 2 * length : 1,
            rowStride: isPlanar ? length : length * channels,
            pixelStride: isPlanar ? 1 : channels, channels: channels, rows: 2, width: length))
        outputs.append(output)
      }
    }
    return outputs
  }
}
