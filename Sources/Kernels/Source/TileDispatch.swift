import KernelInterface

/// Pixels of the largest tile: what the registers hold beside the weights of one step.
var pixelTile: Int {
  @inline(__always) get {
    #if KERNELS_AVX512
      14
    #elseif KERNELS_AVX2 || arch(arm64)
      6
    #else
      4
    #endif
  }
}

/// Vectors of output channels in a full panel.
var panelVectors: Int {
  @inline(__always) get { 2 }
}

/// Computes `pixels` (1 to `pixelTile`) pixels by `vectors` (1 or 2) vectors with the tile of
/// that size.
@inline(never)
func computeTile(
  pixels: Int, vectors: Int, input: UnsafePointer<Float>, source: TileInput,
  weights: UnsafePointer<Float>, ahead: TileAhead = TileAhead(), bias: UnsafePointer<Float>?,
  output: UnsafeMutablePointer<Float>, target: TileOutput, residual: UnsafePointer<Float>?,
  channel: Int, epilogue: Epilogue
) {
  @inline(__always)
  func compute<let rows: Int, let columns: Int>(_ r: Count<rows>, _ c: Count<columns>) {
    computeTile(
      r, c, input: input, source: source, weights: weights, ahead: ahead, bias: bias,
      output: output,
      target: target, residual: residual, channel: channel, epilogue: epilogue)
  }
  @inline(__always)
  func dispatch<let columns: Int>(_ c: Count<columns>) {
    switch pixels {
    case 1: compute(Count<1>(), c)
    case 2: compute(Count<2>(), c)
    case 3: compute(Count<3>(), c)
    case 4: compute(Count<4>(), c)
    #if KERNELS_AVX512 || KERNELS_AVX2 || arch(arm64)
      case 5: compute(Count<5>(), c)
      case 6: compute(Count<6>(), c)
    #endif
    #if KERNELS_AVX512
      case 7: compute(Count<7>(), c)
      case 8: compute(Count<8>(), c)
      case 9: compute(Count<9>(), c)
      case 10: compute(Count<10>(), c)
      case 11: compute(Count<11>(), c)
      case 12: compute(Count<12>(), c)
      case 13: compute(Count<13>(), c)
      case 14: compute(Count<14>(), c)
    #endif
    default: break
    }
  }
  if vectors == 2 {
    dispatch(Count<2>())
  } else {
    dispatch(Count<1>())
  }
}
