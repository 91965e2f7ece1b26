/// F(3, 3) with five points; see `Pieces`.
enum PieceTransform: TileTransform {
  @inline(__always)
  static var outputs: Int { 3 }
  @inline(__always)
  static var taps: Int { 3 }

  @inline(__always)
  static func input(_ d: WinogradLine) -> WinogradLine {
    let odd = d[3] - d[1]
    let next = d[3] - d[2]
    return [
      multiplyAdd(splat(2), d[0] - d[2], odd),
      multiplyAdd(splat(-2), d[1], next),
      multiplyAdd(splat(2), d[1] - d[2], next),
      odd,
      multiplyAdd(splat(-2), odd, d[4] - d[2]),
      .zero, .zero, .zero, .zero,
    ]
  }

  @inline(__always)
  static func output(_ m: WinogradLine) -> WinogradLine {
    let sum = m[1] + m[2]
    return [
      (m[0] + sum) + m[3],
      multiplyAdd(splat(2), m[3], m[1] - m[2]),
      multiplyAdd(splat(4), m[3], sum + m[4]),
      .zero, .zero, .zero, .zero, .zero, .zero,
    ]
  }
}

/// `Aᵀ m A` as `[column][row]`, for a tile whose points are `stride` apart.
@inline(__always)
func pieceOutputTile(
  _ m: UnsafePointer<Float>, stride: Int
) -> InlineArray<3, InlineArray<3, Vector>> {
  // [column][row]
  var half: InlineArray<5, InlineArray<3, Vector>> = zeros()
  for x in 0..<5 {
    var line = WinogradLine(repeating: .zero)
    for y in 0..<5 { line[y] = load(m + (5 &* y &+ x) &* stride) }
    let column = PieceTransform.output(line)
    for y in 0..<3 { half[x][y] = column[y] }
  }
  var tile: InlineArray<3, InlineArray<3, Vector>> = zeros()
  for y in 0..<3 {
    var line = WinogradLine(repeating: .zero)
    for x in 0..<5 { line[x] = half[x][y] }
    let row = PieceTransform.output(line)
    for x in 0..<3 { tile[x][y] = row[x] }
  }
  return tile
}
