/// One level of Strassen's algorithm for a 1 × 1 convolution: a matrix product of the pixels, with
/// one row of input channels each, and the weights, both halved along both axes.
///
///     ⎡ A₁₁ A₁₂ ⎤   pixels 0 ..< pairs, channels of the first and second half
///     ⎣ A₂₁ A₂₂ ⎦   pixels pairs ..< 2 · pairs
///
///     M₀ = (A₁₁ + A₂₂) (B₁₁ + B₂₂)    M₁ = (A₂₁ + A₂₂) B₁₁
///     M₂ = A₁₁ (B₁₂ − B₂₂)            M₃ = A₂₂ (B₂₁ − B₁₁)
///     M₄ = (A₁₁ + A₁₂) B₂₂            M₅ = (A₂₁ − A₁₁) (B₁₁ + B₁₂)
///     M₆ = (A₁₂ − A₂₂) (B₂₁ + B₂₂)
///
///     C₁₁ = M₀ + M₃ − M₄ + M₆         C₁₂ = M₂ + M₄
///     C₂₁ = M₁ + M₃                   C₂₂ = M₀ − M₁ + M₂ + M₅
///
/// Seven products of a quarter of the size instead of eight. Source: V. Strassen, "Gaussian
/// elimination is not optimal", Numerische Mathematik 13 (1969).
///
/// Pixels are those of the output, numbered row by row over all images; pixel `p` is paired with
/// pixel `p + pairs`. If their number is odd, the second pixel of the last pair counts as zero
/// and is not written. The same applies to a surplus channel block of the second half.
package struct StrassenPairs: Sendable {
  package var images: Int
  /// Output rows of one image.
  package var rows: Int
  package var width: Int
  /// The pairs of one call.
  package var first: Int
  package var count: Int

  /// Products, and so matrices of combined weights.
  package static let products = 7

  package init(images: Int, rows: Int, width: Int, first: Int, count: Int) {
    self.images = images
    self.rows = rows
    self.width = width
    self.first = first
    self.count = count
  }

  package var pixels: Int { images * rows * width }
  /// Number of pairs of all calls.
  package var pairs: Int { (pixels + 1) / 2 }
}
