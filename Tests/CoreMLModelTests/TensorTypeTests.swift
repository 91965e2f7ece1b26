import Testing

@testable import CoreMLModel

@Suite struct TensorTypeTests {
  /// [2, …, 3], where the ellipsis means any number of axes.
  @Test(arguments: [
    ([2, 3], true), ([2, 7, 3], true), ([2, 1, 1, 3], true), ([2], false), ([3, 3], false),
    ([2, 3, 1], false), ([], false),
  ])
  func variadicAxesAreAnyNumberOfAxes(shape: [Int], isAllowed: Bool) throws {
    var tensor = try #require(MILValueType(.float32, [2, nil, 3]).tensor)
    tensor.dimensions[1].kind = .unknown(isVariadic: true)
    #expect(tensor.allows(shape) == isAllowed)
  }

  @Test(arguments: [
    ([2, 7, 3], true), ([2, 3], false), ([2, 1, 1, 3], false), ([2, 7, 4], false),
  ])
  func unknownAxesAreOneAxis(shape: [Int], isAllowed: Bool) throws {
    let tensor = try #require(MILValueType(.float32, [2, nil, 3]).tensor)
    #expect(tensor.allows(shape) == isAllowed)
  }
}
