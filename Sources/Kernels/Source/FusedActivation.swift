import KernelInterface

/// Applies a fused activation to a tile whose channels start at `channel`.
///
/// The loops are inside the cases, which keeps them short enough to be unrolled; otherwise the tile
/// would not stay in registers.
@inline(__always)
func activate<let rows: Int, let columns: Int>(
  _ tile: inout Tile<rows, columns>, _ activation: FusedActivation, channel: Int
) {
  switch activation {
  case .none: break
  case .relu:
    for r in 0..<rows {
      for c in 0..<columns { tile[r][c] = select(tile[r][c] .< .zero, .zero, tile[r][c]) }
    }
  case .clip(let least, let most):
    let lower = splat(least)
    let upper = splat(most)
    for r in 0..<rows {
      for c in 0..<columns { tile[r][c] = minimum(maximum(tile[r][c], lower), upper) }
    }
  case .leaky(let factor):
    let alpha = splat(factor)
    for r in 0..<rows {
      for c in 0..<columns {
        tile[r][c] = select(tile[r][c] .< .zero, tile[r][c] * alpha, tile[r][c])
      }
    }
  case .prelu(let slopes):
    var slope = InlineArray<columns, Vector>(repeating: .zero)
    for c in 0..<columns { slope[c] = load(slopes + (channel &+ c &* lanes)) }
    for r in 0..<rows {
      for c in 0..<columns {
        tile[r][c] = select(tile[r][c] .< .zero, tile[r][c] * slope[c], tile[r][c])
      }
    }
  }
}

@inline(__always)
func activate(_ x: Float, _ activation: FusedActivation, channel: Int) -> Float {
  switch activation {
  case .none: x
  case .relu: x < 0 ? 0 : x
  case .clip(let lower, let upper): x < lower ? lower : x > upper ? upper : x
  case .leaky(let alpha): x < 0 ? x * alpha : x
  case .prelu(let slopes): x < 0 ? x * slopes[channel] : x
  }
}
