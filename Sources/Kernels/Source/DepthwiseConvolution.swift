import KernelInterface

/// See `DepthwiseConvolutionArguments`.
@inline(never)
func depthwiseConvolution(_ a: DepthwiseConvolutionArguments) {
  let blockWeights = a.kernelHeight &* a.kernelWidth &* channelBlock
  var block = 0
  while block < a.blocks {
    var half = 0
    while half < vectorsPerBlock {
      let lane = half &* lanes
      var y = 0
      while y < a.outputRows {
        depthwiseRow(
          a,
          input: a.input
            + (block &* a.inputBlockStride &+ y &* a.strideY &* a.inputRowStride &+ lane),
          weights: a.weights + (block &* blockWeights &+ lane),
          output: a.output + (block &* a.outputBlockStride &+ y &* a.outputRowStride &+ lane),
          residual: a.epilogue.residual.map {
            $0
              + (block &* a.epilogue.residualBlockStride &+ y &* a.epilogue.residualRowStride
                &+ lane)
          }, channel: block &* channelBlock &+ lane)
        y &+= 1
      }
      half &+= 1
    }
    block &+= 1
  }
}

#if KERNELS_AVX512 || arch(arm64)
  private typealias DepthwisePixels = Count<8>
#else
  private typealias DepthwisePixels = Count<6>
#endif

@inline(__always)
private func depthwiseRow(
  _ a: DepthwiseConvolutionArguments, input: UnsafePointer<Float>,
  weights: UnsafePointer<Float>, output: UnsafeMutablePointer<Float>,
  residual: UnsafePointer<Float>?, channel: Int
) {
  let step = a.strideX &* channelBlock
  var x = 0
  while x &+ DepthwisePixels.value <= a.outputWidth {
    depthwiseTile(
      DepthwisePixels(), a, input: input + x &* step, weights: weights,
      output: output + x &* channelBlock, residual: residual.map { $0 + x &* channelBlock },
      channel: channel)
    x &+= DepthwisePixels.value
  }
  while x < a.outputWidth {
    depthwiseTile(
      Count<1>(), a, input: input + x &* step, weights: weights,
      output: output + x &* channelBlock, residual: residual.map { $0 + x &* channelBlock },
      channel: channel)
    x &+= 1
  }
}

@inline(__always)
private func depthwiseTile<let pixels: Int>(
  _: Count<pixels>, _ a: DepthwiseConvolutionArguments, input: UnsafePointer<Float>,
  weights: UnsafePointer<Float>, output: UnsafeMutablePointer<Float>,
  residual: UnsafePointer<Float>?, channel: Int
) {
  let step = a.strideX &* channelBlock
  let tapStep = a.dilationX &* channelBlock
  let start = a.bias.map { load($0 + channel) } ?? .zero
  var sums = Tile<pixels, 1>(repeating: [start])
  var w = weights
  var ky = 0
  while ky < a.kernelHeight {
    var x = input + ky &* a.dilationY &* a.inputRowStride
    var kx = 0
    while kx < a.kernelWidth {
      let weight = load(w)
      for p in 0..<pixels { sums[p][0] = multiplyAdd(load(x + p &* step), weight, sums[p][0]) }
      w += channelBlock
      x += tapStep
      kx &+= 1
    }
    ky &+= 1
  }
  if let residual {
    for p in 0..<pixels { sums[p][0] += load(residual + p &* channelBlock) }
  }
  activate(&sums, a.epilogue, channel: channel)
  for p in 0..<pixels { store(sums[p][0], output + p &* channelBlock) }
}
