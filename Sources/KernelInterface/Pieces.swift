/// The tiles of a convolution with stride 1 whose kernel is divided into pieces of 3 × 3 taps, by
/// Winograd's F(3×3, 3×3).
///
/// Pieces are 3 taps apart and tiles of the output 3 pixels apart, so one transformed 5 × 5 tile
/// `d` of the input serves all pieces `g`:
///
///     out[ty, tx] = Aᵀ [Σ(py, px) (G g[py, px] Gᵀ) ⊙ (Bᵀ d[ty + py, tx + px] B)] A
///
/// with the points 0, 1, −1, 2 and ∞:
///
///          ⎡ 2  −1  −2   1  0 ⎤       ⎡  1/2     0     0  ⎤
///          ⎢ 0  −2  −1   1  0 ⎥       ⎢ −1/2  −1/2  −1/2 ⎥        ⎡ 1  1   1  1  0 ⎤
///     Bᵀ = ⎢ 0   2  −3   1  0 ⎥   G = ⎢ −1/6   1/6  −1/6 ⎥   Aᵀ = ⎢ 0  1  −1  2  0 ⎥
///          ⎢ 0  −1   0   1  0 ⎥       ⎢  1/6   1/3   2/3 ⎥        ⎣ 0  1   1  4  1 ⎦
///          ⎣ 0   2  −1  −2  1 ⎦       ⎣   0     0     1  ⎦
///
/// The sum over channels and pieces, for each of the 25 points, is an ordinary convolution over
/// tiles.
package enum Pieces {
  package static let points = 25
  /// Channels per tile in the sums for few output channels.
  package static let sumChannels = 4
}
