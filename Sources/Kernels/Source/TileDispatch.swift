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
  weights: UnsafePointer<Float>, bias: UnsafePointer<Float>?,
  output: UnsafeMutablePointer<Float>, target: TileOutput, residual: UnsafePointer<Float>?,
  channel: Int, epilogue: Epilogue
) {
  @inline(__always)
  func compute<let rows: Int, let columns: Int>(_ r: Count<rows>, _ c: Count<columns>, _ step: Int)
  {
    computeTile(
      r, c, step: step, input: input, source: source, weights: weights, bias: bias, output: output,
      target: target, residual: residual, channel: channel, epilogue: epilogue)
  }
  @inline(__always)
  func dispatch<let columns: Int>(_ c: Count<columns>, _ step: Int) {
    switch pixels {
    case 1: compute(Count<1>(), c, step)
    case 2: compute(Count<2>(), c, step)
    case 3: compute(Count<3>(), c, step)
    case 4: compute(Count<4>(), c, step)
    #if KERNELS_AVX512 || KERNELS_AVX2 || arch(arm64)
      case 5: compute(Count<5>(), c, step)
      case 6: compute(Count<6>(), c, step)
    #endif
    #if KERNELS_AVX512
      case 7: compute(Count<7>(), c, step)
      case 8: compute(Count<8>(), c, step)
      case 9: compute(Count<9>(), c, step)
      case 10: compute(Count<10>(), c, step)
      case 11: compute(Count<11>(), c, step)
      case 12: compute(Count<12>(), c, step)
      case 13: compute(Count<13>(), c, step)
      case 14: compute(Count<14>(), c, step)
    #endif
    default: break
    }
  }
  if vectors == 2 {
    // A constant step turns into displacements of the instructions.
    if source.step == channelBlock {
      dispatch(Count<2>(), channelBlock)
    } else {
      dispatch(Count<2>(), source.step)
    }
  } else {
    dispatch(Count<1>(), source.step)
  }
}
