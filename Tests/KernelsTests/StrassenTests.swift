import TensorCore
import TestSupport
import Testing

@testable import Kernels

/// The kernels of Strassen's algorithm before and after the seven products, which are computed here
/// by definition. Small integers are added and multiplied without rounding, so results must be
/// equal.
@Suite struct StrassenTests {
  struct Case {
    var images = 1
    var plain: PlainConvolution
    var edge = GuardedBuffer.Edge.end
    /// Pairs per call.
    var pairs = Int.max
    /// The most channel blocks per run.
    var runBlocks = 1
    /// Additional rows and columns around the input and the output.
    var halo = 0
    var epilogue = Epilogue()
    var residual: [Float]?

    init(inputs: Int, outputs: Int, rows: Int, width: Int, stride: Int = 1) {
      plain = PlainConvolution(
        inputChannels: inputs, outputChannels: outputs, rows: rows, width: width, kernel: (1, 1),
        stride: (stride, stride), padding: 0)
    }

    /// `[image][channel][row][column]`
    func input(_ generator: inout SplitMix64) -> [Float] {
      integers(images * plain.inputChannels * plain.rows * plain.width, &generator)
    }

    func integers(_ count: Int, _ generator: inout SplitMix64) -> [Float] {
      (0..<count).map { _ in Float(Int.random(in: -9...9, using: &generator)) }
    }
  }

  /// `factors[product][input channel of a half][output channel of a half]`, as documented for
  /// `StrassenPairs`.
  private func factors(
    _ weights: [Float], inputs: Int, outputs: Int, half: (inputs: Int, outputs: Int)
  ) -> [[[Float]]] {
    func quarter(_ row: Int, _ column: Int) -> [[Float]] {
      (0..<half.inputs).map { i in
        (0..<half.outputs).map { o in
          let input = row * half.inputs + i
          let output = column * half.outputs + o
          return input < inputs && output < outputs ? weights[output * inputs + input] : 0
        }
      }
    }
    func sum(_ a: [[Float]], _ b: [[Float]], _ sign: Float) -> [[Float]] {
      zip(a, b).map { zip($0, $1).map { $0 + sign * $1 } }
    }
    let (b11, b12, b21, b22) = (quarter(0, 0), quarter(0, 1), quarter(1, 0), quarter(1, 1))
    return [
      sum(b11, b22, 1), b11, sum(b12, b22, -1), sum(b21, b11, -1), b22, sum(b11, b12, 1),
      sum(b21, b22, 1),
    ]
  }

  private func compute(
    _ test: Case, _ input: [Float], _ weights: [Float], _ bias: [Float],
    _ kernels: any KernelTable.Type
  ) -> [Float] {
    let block = kernels.channelBlock
    let plain = test.plain
    let source = BlockedPlanes(
      channels: plain.inputChannels, rows: plain.rows, width: plain.width, halo: test.halo,
      block: block)
    let target = BlockedPlanes(
      channels: plain.outputChannels, rows: plain.outputRows, width: plain.outputWidth,
      halo: test.halo, block: block)
    let half = (
      inputs: (source.blocks + 1) / 2 * block, outputs: (target.blocks + 1) / 2 * block
    )
    let factors = factors(
      weights, inputs: plain.inputChannels, outputs: plain.outputChannels, half: half)
    func blocked(_ values: [Float], _ planes: BlockedPlanes, _ channels: Int) -> GuardedBuffer {
      let floats = values.count / test.images
      return GuardedBuffer(
        (0..<test.images).flatMap {
          planes.blocked(Array(values[$0 * floats..<($0 + 1) * floats]), padding: 1e6)
            .enumerated().map { index, value in
              // Lanes without a channel are zero.
              let lane = index % block + index / planes.blockStride * block
              return lane < channels ? value : 0
            }
        }, at: test.edge)
    }
    let x = blocked(input, source, plain.inputChannels)
    let y = GuardedBuffer(count: target.count * test.images, at: test.edge)
    let b = GuardedBuffer(
      bias + [Float](repeating: 0, count: target.blocks * block - bias.count), at: test.edge)
    var epilogue = test.epilogue
    epilogue.bias = b.constant
    let addends = test.residual.map { blocked($0, target, plain.outputChannels) }
    if let addends {
      epilogue.residual = addends.constant + target.origin
      epilogue.residualStrides = target.strides
    }
    let all = StrassenPairs(
      images: test.images, rows: plain.outputRows, width: plain.outputWidth, first: 0, count: 0
    )
    .pairs
    var first = 0
    while first < all {
      let count = min(test.pairs, all - first)
      let pairs = StrassenPairs(
        images: test.images, rows: plain.outputRows, width: plain.outputWidth, first: first,
        count: count)
      let blocks = half.inputs / block
      let runBlocks = (1...test.runBlocks).last { blocks % $0 == 0 } ?? 1
      let run = runBlocks * block
      let sums = GuardedBuffer(count: 7 * count * half.inputs, at: test.edge)
      kernels.strassenInput(
        pairs, input: x.constant + source.origin,
        inputStrides: Strides(
          pixel: plain.stride.x * block, row: plain.stride.y * source.rowStride,
          block: source.blockStride, image: source.count),
        blocks: blocks, allBlocks: source.blocks, runBlocks: runBlocks, sums: sums.pointer,
        productStride: count * half.inputs)
      let panelChannels = kernels.panelBlocks * block
      for channel in stride(from: 0, to: half.outputs, by: panelChannels) {
        let width = min(panelChannels, half.outputs - channel)
        let products = (0..<7).flatMap { product in
          (0..<count).flatMap { pair in
            (channel..<channel + width).map { output in
              (0..<half.inputs).reduce(Float(0)) { sum, input in
                let place = (product * half.inputs / run + input / run) * count + pair
                return sum
                  + sums.values[place * run + input % run] * factors[product][input][output]
              }
            }
          }
        }
        kernels.strassenOutput(
          pairs, products: GuardedBuffer(products, at: test.edge).constant,
          productStride: count * width, width: width, channel: channel,
          halfChannels: half.outputs, channels: target.blocks * block,
          output: y.pointer + target.origin, outputStrides: target.strides, epilogue: epilogue)
      }
      first += count
    }
    return (0..<test.images).flatMap {
      target.planar(Array(y.values[$0 * target.count..<($0 + 1) * target.count]))
    }
  }

  private func exact(
    _ test: Case, _ input: [Float], _ weights: [Float], _ bias: [Float]
  ) -> [Float] {
    let floats = input.count / test.images
    return (0..<test.images).flatMap {
      test.plain.compute(Array(input[$0 * floats..<($0 + 1) * floats]), weights, bias)
        .map { Float($0.0) }
    }
  }

  private func data(
    _ test: Case, seed: UInt64
  ) -> (input: [Float], weights: [Float], bias: [Float]) {
    var generator = SplitMix64(seed: seed)
    return (
      test.input(&generator), test.integers(test.plain.weightCount, &generator),
      test.integers(test.plain.outputChannels, &generator)
    )
  }

  /// Odd and even numbers of pixels, images, rows and channel blocks; channels that do not fill
  /// blocks.
  @Test(arguments: availableSets) func everySize(_ set: InstructionSet) {
    let block = set.kernels.channelBlock
    for (index, shape) in [
      (1, 1, 1), (1, 1, 2), (1, 3, 5), (2, 3, 3), (3, 1, 7), (3, 2, 5), (1, 6, 4), (2, 5, 8),
    ].enumerated() {
      for edge in GuardedBuffer.Edge.allCases {
        for (halo, stride) in [(0, 1), (1, 1), (0, 2), (2, 3)] {
          var test = Case(
            inputs: (2 + index % 3 * 3) * block - index % 5,
            outputs: (2 + index % 5) * block - index % 3,
            rows: shape.1 * stride, width: shape.2 * stride, stride: stride)
          test.images = shape.0
          test.edge = edge
          test.halo = halo
          let (x, w, b) = data(test, seed: UInt64(index))
          let found = compute(test, x, w, b, set.kernels)
          #expect(found == exact(test, x, w, b), "\(set) \(test.plain)")
          test.pairs = 1 + index % 4
          test.runBlocks = 3
          #expect(compute(test, x, w, b, set.kernels) == found, "\(set) \(test.plain) divided")
        }
      }
    }
  }

  /// - Parameter blocks: blocks of the output; with five, the second half has slopes and addends
  ///   for one fewer.
  @Test(arguments: availableSets, [5, 6]) func everyEpilogue(_ set: InstructionSet, blocks: Int) {
    let block = set.kernels.channelBlock
    var test = Case(inputs: 2 * block, outputs: blocks * block - 2, rows: 3, width: 5)
    test.images = 2
    let (x, w, b) = data(test, seed: 7)
    var generator = SplitMix64(seed: 8)
    let sums = exact(test, x, w, b)
    let area = test.plain.outputRows * test.plain.outputWidth
    let residual = test.integers(sums.count, &generator).map { $0 * 30 }
    let slopes = (0..<blocks * block).map { Float($0 % 7) / 4 }
    let slopeBuffer = GuardedBuffer(slopes, at: .end)
    let activations: [(Epilogue, (Float, Int) -> Float)] = [
      (Epilogue(), { x, _ in x }),
      (Epilogue(activation: .relu), { x, _ in max(x, 0) }),
      (Epilogue(activation: .clip(lower: -20, upper: 60)), { x, _ in min(max(x, -20), 60) }),
      (Epilogue(activation: .leaky(0.25)), { x, _ in x < 0 ? x * 0.25 : x }),
      (
        Epilogue(activation: .prelu(slopeBuffer.constant)),
        { x, channel in x < 0 ? x * slopes[channel] : x }
      ),
    ]
    for (epilogue, function) in activations {
      for addends in [nil, residual] {
        test.epilogue = epilogue
        test.residual = addends
        let expected = sums.indices.map {
          function(
            sums[$0] + (addends?[$0] ?? 0), $0 / area % test.plain.outputChannels)
        }
        #expect(
          compute(test, x, w, b, set.kernels) == expected, "\(set) \(epilogue.activation)")
      }
    }
  }
}
