import Testing

@testable import KerasImport

@Suite struct InterpolationTests {
  /// Every row of factors adds up to one, whatever the sizes.
  @Test(arguments: [(5, 7), (7, 5), (4, 8), (9, 3), (1, 4), (4, 1), (6, 6)])
  func factorsAddUpToOne(_ input: Int, _ output: Int) {
    let kinds: [KerasInterpolation] = [
      .nearest, .bilinear, .bicubic, .area, .lanczos3, .lanczos5, .gaussian, .mitchellcubic,
    ]
    for kind in kinds {
      let matrix = Array(kind.matrix(from: input, to: output))
      #expect(matrix.count == output && matrix.allSatisfy { $0.count == input })
      for row in matrix { #expect(abs(row.reduce(0, +) - 1) < 1e-6, "\(kind)") }
    }
  }

  /// At twice the size, the centers of new pixels are a quarter pixel from those of old ones.
  @Test func bilinearSamplesAtCenters() {
    #expect(
      Array(KerasInterpolation.bilinear.matrix(from: 2, to: 4))
        == [[1, 0], [0.75, 0.25], [0.25, 0.75], [0, 1]])
  }

  /// Keys's kernel with a = −½ at ¼: −9/128, 111/128, 29/128 and −3/128.
  @Test func cubicKernel() {
    let row = Array(KerasInterpolation.bicubic.matrix(from: 6, to: 12))[5]
    let expected = [0, -9.0 / 128, 111.0 / 128, 29.0 / 128, -3.0 / 128, 0]
    for (value, wanted) in zip(row, expected) { #expect(abs(value - wanted) < 1e-9) }
  }
}
