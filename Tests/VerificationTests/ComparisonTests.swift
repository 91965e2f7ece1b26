import Engine
import TensorCore
import Testing

@testable import Verification

@Suite struct ComparisonTests {
  private let tolerance = Tolerance.Profile.fp32.tolerance

  @Test func axesOfLengthOneDoNotCount() {
    let a = Tensor(shape: [1, 1, 3, 1, 1], [1, 2, 3])
    #expect(
      OutputComparison(
        "a", actual: a, expected: Tensor(shape: [1, 3], [1, 2, 3]), tolerance: tolerance
      ).agrees)
    let other = OutputComparison(
      "a", actual: a, expected: Tensor(shape: [4], [1, 2, 3, 4]), tolerance: tolerance)
    #expect(!other.agrees && other.metrics == nil)
    // The same elements along different axes are a different array.
    #expect(
      !OutputComparison(
        "a", actual: Tensor(shape: [2, 3]), expected: Tensor(shape: [3, 2]), tolerance: tolerance
      ).agrees)
  }

  @Test func pairsByNameThenByOrder() {
    let pairing = ArrayPairing(actual: ["x", "b", "y"], expected: ["b", "p", nil])
    #expect(
      pairing.pairs == [
        .init(actual: 1, expected: 0), .init(actual: 0, expected: 1),
        .init(actual: 2, expected: 2),
      ])
    let rest = ArrayPairing(actual: ["x", "b", "y"], expected: ["b", "p"])
    #expect(rest.pairs == [.init(actual: 1, expected: 0)])
    #expect(rest.unpairedActual == [0, 2] && rest.unpairedExpected == [1])
  }

  @Test func tolerancesByName() {
    var tolerances = Tolerances()
    tolerances.relative["a"] = 0.5
    tolerances.absolute["c"] = 2e-5
    // The default's absolute part grows with an array whose largest value exceeds 1; that of a
    // given tolerance does not.
    #expect(tolerances["a"].scaled(to: 200) == Tolerance(relative: 0.5, absolute: 200 * 1e-5))
    #expect(tolerances["b"].scaled(to: 0.1) == Tolerance(relative: 1e-4, absolute: 1e-5))
    #expect(tolerances["c"].scaled(to: 200) == Tolerance(relative: 1e-4, absolute: 2e-5))
  }

  @Test func theDefaultHeedsTheLargestValue() {
    func agrees(_ actual: [Float], _ expected: [Float], _ tolerance: Tolerance) -> Bool {
      OutputComparison(
        "a", actual: Tensor(shape: [2], actual), expected: Tensor(shape: [2], expected),
        tolerance: tolerance
      ).agrees
    }
    // 1e-5 · 200 = 2e-3 next to a value of 0.
    #expect(agrees([200, 1.9e-3], [200, 0], tolerance))
    #expect(!agrees([200, 2.1e-3], [200, 0], tolerance))
    #expect(!agrees([0.5, 1.1e-5], [0.5, 0], tolerance))
    #expect(!agrees([200, 1.9e-3], [200, 0], Tolerance(relative: 1e-4, absolute: 1e-5)))
  }

  @Test func bestClassesOfEachItem() throws {
    // The best two are (1, 2) and (1, 0), then (0, 1) and (0, 1); ties go to the lower index.
    let actual = Tensor(shape: [2, 3], [0.1, 0.7, 0.2, 0.5, 0.5, 0])
    let expected = Tensor(shape: [2, 3], [0.2, 0.7, 0.1, 0.6, 0.4, 0])
    let agreement = try #require(ClassAgreement(actual, expected, count: 2))
    #expect(agreement.top1 == 1)
    #expect(agreement.topN == 0.75)
    let swapped = try #require(
      ClassAgreement(
        Tensor(shape: [1, 3, 1], [1, 2, 3]), Tensor(shape: [3], [3, 2, 1]), count: 5))
    #expect(swapped.top1 == 0 && swapped.count == 3 && swapped.topN == 1)
    #expect(
      ClassAgreement(Tensor(shape: [2, 2, 2]), Tensor(shape: [2, 2, 2]), count: 1) == nil)
  }

  @Test func namesTheFirstBlobThatDiffers() {
    let one = Tensor(shape: [1], [1])
    let two = Tensor(shape: [1], [2])
    let comparison = BlobComparison(
      order: ["a", "b", "c", "d"], actual: ["a": one, "b": two, "c": two, "d": one],
      expected: ["d": one, "c": one, "b": one, "z": one], tolerances: Tolerances())
    #expect(comparison.blobs.map(\.name) == ["b", "c", "d"])
    #expect(comparison.firstDifference?.name == "b")
    #expect(comparison.unknown == ["z"])
  }

  @Test func verdicts() {
    func verdict(
      _ actual: Float, _ expected: Float, _ reference: Double,
      _ tolerance: Tolerance = Tolerance(relative: 1e-4, absolute: 1e-5)
    ) -> ReferenceVerdict {
      ReferenceVerdict(
        actual: Tensor(shape: [2], [100, actual]), expected: Tensor(shape: [2], [100, expected]),
        reference: ReferenceTensor(shape: [1, 1, 2, 1, 1], [100, reference]),
        tolerance: tolerance)
    }
    #expect(verdict(1, 1, 1) == .agrees)
    #expect(verdict(1.001, 1, 1) == .rounding)
    #expect(verdict(1.001, 1.1, 1) == .model)
    #expect(verdict(1.1, 1, 1) == .engine)
    // No result meets a tolerance of 0; 5e-5 of the largest value counts as rounding on both sides.
    let exact = Tolerance(relative: 0, absolute: 0)
    #expect(verdict(1.001, 0.999, 1, exact) == .rounding)
    #expect(verdict(1.001, 0.99, 1, exact) == .model)
  }
}
