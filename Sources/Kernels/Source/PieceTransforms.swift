typealias PieceFive = (Vector, Vector, Vector, Vector, Vector)
typealias PieceThree = (Vector, Vector, Vector)

/// `Bᵀ d`; see `Pieces`.
@inline(__always)
func pieceInput(_ d: PieceFive) -> PieceFive {
  let odd = d.3 - d.1
  let next = d.3 - d.2
  return (
    multiplyAdd(splat(2), d.0 - d.2, odd),
    multiplyAdd(splat(-2), d.1, next),
    multiplyAdd(splat(2), d.1 - d.2, next),
    odd,
    multiplyAdd(splat(-2), odd, d.4 - d.2)
  )
}

/// `Aᵀ m`
@inline(__always)
func pieceOutput(_ m: PieceFive) -> PieceThree {
  let sum = m.1 + m.2
  return (
    (m.0 + sum) + m.3,
    multiplyAdd(splat(2), m.3, m.1 - m.2),
    multiplyAdd(splat(4), m.3, sum + m.4)
  )
}

/// `Aᵀ m A`, [column][row], of a tile whose points stand `stride` apart.
@inline(__always)
func pieceOutputTile(
  _ m: UnsafePointer<Float>, stride: Int
) -> InlineArray<3, InlineArray<3, Vector>> {
  // [column][row]
  var half = InlineArray<5, InlineArray<3, Vector>>(repeating: InlineArray(repeating: .zero))
  for x in 0..<5 {
    let p = m + x &* stride
    let column = pieceOutput(
      (
        load(p), load(p + 5 &* stride), load(p + 10 &* stride), load(p + 15 &* stride),
        load(p + 20 &* stride)
      ))
    half[x][0] = column.0
    half[x][1] = column.1
    half[x][2] = column.2
  }
  var tile = InlineArray<3, InlineArray<3, Vector>>(repeating: InlineArray(repeating: .zero))
  for y in 0..<3 {
    let row = pieceOutput((half[0][y], half[1][y], half[2][y], half[3][y], half[4][y]))
    tile[0][y] = row.0
    tile[1][y] = row.1
    tile[2][y] = row.2
  }
  return tile
}
