/// The value of a plane between four positions; positions outside count as 0.
@inline(__always) func bilinearSample(
  _ plane: UnsafePointer<Float>, _ height: Int, _ width: Int, y: Float, x: Float
) -> Float {
  guard y > -1, x > -1, y < Float(height), x < Float(width) else { return 0 }
  let (top, left) = (y.rounded(.down), x.rounded(.down))
  let (row, column) = (Int(top), Int(left))
  let (dy, dx) = (y - top, x - left)
  @inline(__always) func at(_ row: Int, _ column: Int) -> Float {
    row >= 0 && row < height && column >= 0 && column < width ? plane[row &* width &+ column] : 0
  }
  return (at(row, column) * (1 - dx) + at(row, column + 1) * dx) * (1 - dy)
    + (at(row + 1, column) * (1 - dx) + at(row + 1, column + 1) * dx) * dy
}
