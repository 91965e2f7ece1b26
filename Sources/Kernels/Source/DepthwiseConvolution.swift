import KernelInterface

extension Table {
  @inline(never)
  package static func depthwiseConvolution(_ a: ConvolutionArguments) {
    let blockWeights = a.window.taps &* channelBlock
    var block = 0
    while block < a.extent.blocks {
      var half = 0
      while half < vectorsPerBlock {
        let lane = half &* lanes
        var y = 0
        while y < a.extent.rows {
          depthwiseRow(
            a,
            DepthwisePixels(
              input: a.input.base
                + (block &* a.input.strides.block &+ y &* a.window.strideY &* a.input.strides.row
                  &+ lane),
              weights: a.weights + (block &* blockWeights &+ lane),
              output: a.output.base
                + (block &* a.output.strides.block &+ y &* a.output.strides.row &+ lane),
              residual: a.epilogue.residual.map {
                $0
                  + (block &* a.epilogue.residualStrides.block
                    &+ y &* a.epilogue.residualStrides.row &+ lane)
              }, channel: block &* channelBlock &+ lane))
          y &+= 1
        }
        half &+= 1
      }
      block &+= 1
    }
  }
}

/// Number of pixels in the largest tile.
@inline(__always)
private var depthwisePixels: Int {
  #if KERNELS_AVX512 || arch(arm64)
    14
  #else
    12
  #endif
}

/// Neighboring pixels of one vector of channels, from the first on.
private struct DepthwisePixels {
  var input: UnsafePointer<Float>
  var weights: UnsafePointer<Float>
  var output: UnsafeMutablePointer<Float>
  var residual: UnsafePointer<Float>?
  var channel: Int
}

/// Computes a row in tiles of nearly equal width: a narrow tile would be slow because of the
/// latency of its sums.
@inline(__always)
private func depthwiseRow(_ a: ConvolutionArguments, _ row: DepthwisePixels) {
  let tiles = (a.extent.width &+ depthwisePixels &- 1) / depthwisePixels
  var row = row
  var x = 0
  var tile = 0
  while tile < tiles {
    let pixels = (a.extent.width &- x) / (tiles &- tile)
    depthwiseTile(pixels: pixels, a, row)
    row.input += pixels &* a.window.strideX &* channelBlock
    row.output += pixels &* channelBlock
    row.residual = row.residual.map { $0 + pixels &* channelBlock }
    x &+= pixels
    tile &+= 1
  }
}

@inline(__always)
private func depthwiseTile(pixels: Int, _ a: ConvolutionArguments, _ tile: DepthwisePixels) {
  @inline(__always)
  func compute<let count: Int>(_ count: Count<count>) { depthwiseTile(count, a, tile) }
  switch pixels {
  case 1: compute(Count<1>())
  case 2: compute(Count<2>())
  case 3: compute(Count<3>())
  case 4: compute(Count<4>())
  case 5: compute(Count<5>())
  case 6: compute(Count<6>())
  case 7: compute(Count<7>())
  case 8: compute(Count<8>())
  case 9: compute(Count<9>())
  case 10: compute(Count<10>())
  case 11: compute(Count<11>())
  case 12: compute(Count<12>())
  #if KERNELS_AVX512 || arch(arm64)
    case 13: compute(Count<13>())
    case 14: compute(Count<14>())
  #endif
  default: break
  }
}

@inline(__always)
private func depthwiseTile<let pixels: Int>(
  _: Count<pixels>, _ a: ConvolutionArguments, _ tile: DepthwisePixels
) {
  let step = a.window.strideX &* channelBlock
  let tapStep = a.window.dilationX &* channelBlock
  let start = a.epilogue.bias.map { load($0 + tile.channel) } ?? .zero
  var sums = Tile<pixels, 1> { _ in [start] }
  var w = tile.weights
  var ky = 0
  while ky < a.window.height {
    var x = tile.input + ky &* a.window.dilationY &* a.input.strides.row
    var kx = 0
    while kx < a.window.width {
      let weight = load(w)
      for p in 0..<pixels { sums[p][0] = multiplyAdd(load(x + p &* step), weight, sums[p][0]) }
      w += channelBlock
      x += tapStep
      kx &+= 1
    }
    ky &+= 1
  }
  if let residual = tile.residual {
    for p in 0..<pixels { sums[p][0] += load(residual + p &* channelBlock) }
  }
  activate(&sums, a.epilogue.activation, channel: tile.channel)
  for p in 0..<pixels { store(sums[p][0], tile.output + p &* channelBlock) }
}
