/// What Winograd's algorithm computes for one tile of a convolution with stride 1: F(m, r) along each
/// axis, m outputs of r taps.
///
/// For a tile `d` of the input, as large as the points, and a kernel `g`, the tile of the output is
///
///     Aᵀ [(G g Gᵀ) ⊙ (Bᵀ d B)] A
///
/// with the matrices of the vertical axis on the left and of the horizontal one on the right. F(2, 3)
/// has the points 0, 1, −1 and ∞:
///
///          ⎡ −1   0   1   0 ⎤       ⎡  −1    0    0  ⎤
///     Bᵀ = ⎢  0   1   1   0 ⎥   G = ⎢ 1/2   1/2  1/2 ⎥  Aᵀ = ⎡ 1  1   1  0 ⎤
///          ⎢  0  −1   1   0 ⎥       ⎢ 1/2  −1/2  1/2 ⎥       ⎣ 0  1  −1  1 ⎦
///          ⎣  0  −1   0   1 ⎦       ⎣   0    0    1  ⎦
///
/// F(4, 3) has the points 0, 1, −1, ½, −2 and ∞:
///
///          ⎡ 1  −3/2   −2   3/2   1   0 ⎤       ⎡    1      0     0   ⎤
///          ⎢ 0    −1   1/2  5/2   1   0 ⎥       ⎢   1/3    1/3   1/3  ⎥       ⎡ 1  1   1   1    1  0 ⎤
///     Bᵀ = ⎢ 0     1  −5/2  1/2   1   0 ⎥   G = ⎢  −1/3    1/3  −1/3  ⎥  Aᵀ = ⎢ 0  1  −1  1/2  −2  0 ⎥
///          ⎢ 0    −2   −1    2    1   0 ⎥       ⎢ −16/15  −8/15 −4/15 ⎥       ⎢ 0  1   1  1/4   4  0 ⎥
///          ⎢ 0   1/2   −1  −1/2   1   0 ⎥       ⎢  1/15   −2/15  4/15 ⎥       ⎣ 0  1  −1  1/8  −8  1 ⎦
///          ⎣ 0     1  −3/2  −2   3/2  1 ⎦       ⎣    0      0     1   ⎦
///
/// F(6, 3) has the points 0, ±1, ±2, ±½ and ∞; rows that differ only in sign are written together:
///
///          ⎡ −1    0   21/4    0    −21/4   0   1  0 ⎤       ⎡  −1      0      0   ⎤
///          ⎢  0   ±1     1   ∓17/4  −17/4  ±1   1  0 ⎥       ⎢ −2/9   ∓2/9   −2/9  ⎥
///     Bᵀ = ⎢  0  ±1/2   1/4  ∓5/2   −5/4   ±2   1  0 ⎥   G = ⎢ 1/90   ±1/45   2/45 ⎥
///          ⎢  0   ±2     4   ∓5/2    −5   ±1/2  1  0 ⎥       ⎢ 32/45 ±16/45   8/45 ⎥
///          ⎣  0   −1     0   21/4     0  −21/4  0  1 ⎦       ⎣   0      0      1   ⎦
///
/// and Aᵀ[k] = (0ᵏ, 1, (−1)ᵏ, 2ᵏ, (−2)ᵏ, (½)ᵏ, (−½)ᵏ, k = 5).
///
/// F(3, 7) has the points 0, ±1, ±3/2, ±½, 4 and ∞. Its matrices follow from them as the others do:
/// Aᵀ[k][i] = pᵢᵏ, G[i][k] = pᵢᵏ / Π(j ≠ i) (pᵢ − pⱼ), and row i of Bᵀ has the coefficients of
/// Π(j ≠ i) (x − pⱼ).
package enum WinogradForm: Sendable, CaseIterable {
  /// F(2×2, 3×3)
  case two
  /// F(4×4, 3×3)
  case four
  /// F(6×6, 3×3)
  case six
  /// F(1×4, 1×3)
  case rowOfFour
  /// F(4×1, 3×1)
  case columnOfFour
  /// F(1×3, 1×7)
  case rowOfThree
  /// F(3×1, 7×1)
  case columnOfThree

  /// F(m, r) along one axis; F(1, 1) leaves the axis unchanged.
  package struct Axis: Sendable, Equatable {
    package let outputs: Int
    package let taps: Int

    /// Number of products, and of input values.
    package var points: Int { outputs + taps - 1 }

    package func tiles(of size: Int) -> Int { (size + outputs - 1) / outputs }

    static let identity = Axis(outputs: 1, taps: 1)
  }

  package var vertical: Axis {
    switch self {
    case .two: Axis(outputs: 2, taps: 3)
    case .four, .columnOfFour: Axis(outputs: 4, taps: 3)
    case .six: Axis(outputs: 6, taps: 3)
    case .columnOfThree: Axis(outputs: 3, taps: 7)
    case .rowOfFour, .rowOfThree: .identity
    }
  }

  package var horizontal: Axis {
    switch self {
    case .two, .four, .six: vertical
    case .rowOfFour: Axis(outputs: 4, taps: 3)
    case .rowOfThree: Axis(outputs: 3, taps: 7)
    case .columnOfFour, .columnOfThree: .identity
    }
  }

  /// Products per tile, and so the number of matrices of transformed weights.
  package var points: Int { vertical.points * horizontal.points }
  /// Number of taps of the kernel.
  package var taps: Int { vertical.taps * horizontal.taps }
  /// Rows and columns of taps.
  package var kernel: [Int] { [vertical.taps, horizontal.taps] }
  /// Outputs and kernel, such as `4×4, 3×3`.
  package var label: String {
    "\(vertical.outputs)×\(horizontal.outputs), \(vertical.taps)×\(horizontal.taps)"
  }
  /// Number of axes that are transformed.
  package var dimensions: Int { [vertical, horizontal].count(where: { $0 != .identity }) }
}
