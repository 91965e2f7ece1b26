package enum Reduction: UInt8, CaseIterable, Sendable {
  case sum, sumOfSquares, sumOfMagnitudes, product, maximum, minimum
}
