import CoreMLModel
import TensorCore
import Testing

@testable import Engine

@Suite struct ReferencePoolingTests {
  private func layer(
    _ type: Pooling.PoolingType, _ kernel: [Int], _ stride: [Int], _ padding: Pooling.Padding?,
    excludesPadding: Bool = false
  ) -> Pooling {
    var layer = Pooling()
    layer.type = type
    layer.kernelSize = kernel
    layer.stride = stride
    layer.padding = padding
    layer.avgPoolExcludePadding = excludesPadding
    return layer
  }

  private var valid: Pooling.Padding {
    var padding = ValidPadding()
    padding.paddingAmounts = BorderAmounts(top: 1, bottom: 2, left: 1, right: 0)
    return .valid(padding)
  }

  private func complete(_ amounts: [Int]) -> Pooling.Padding {
    var padding = ValidCompletePadding()
    padding.paddingAmounts = amounts
    return .includeLastPixel(padding)
  }

  @Test func validPadding() throws {
    try Goldens("pooling_max").check(layer(.max, [3, 2], [2, 3], valid))
    try Goldens("pooling_average").check(layer(.average, [3, 2], [2, 3], valid))
    try Goldens("pooling_l2").check(layer(.l2, [3, 2], [2, 3], valid))
    try Goldens("pooling_average_exclude").check(
      layer(.average, [3, 2], [2, 3], valid, excludesPadding: true))
  }

  @Test func samePadding() throws {
    var bottom = SamePadding()
    bottom.asymmetryMode = .bottomRightHeavy
    try Goldens("pooling_same_bottom").check(layer(.max, [2, 4], [1, 2], .same(bottom)))
    var top = SamePadding()
    top.asymmetryMode = .topLeftHeavy
    try Goldens("pooling_same_top").check(layer(.max, [2, 4], [1, 2], .same(top)))
  }

  @Test func caffesPadding() throws {
    let golden = Goldens("pooling_complete")
    try golden.check(layer(.max, [3, 2], [2, 3], complete([1, 1])), ["input"], ["max"])
    try golden.check(
      layer(.average, [3, 2], [2, 3], complete([1, 1]), excludesPadding: true), ["input"],
      ["exclude"])
    try Goldens("pooling_complete_average").check(
      layer(.average, [3, 2], [2, 3], complete([1, 1])))
    try Goldens("pooling_complete_unpadded").check(layer(.average, [3, 2], [2, 2], complete([])))
  }

  @Test func global() throws {
    // Kernel, stride and padding are ignored.
    var pooling = layer(.max, [2, 2], [2, 2], valid)
    pooling.globalPooling = true
    try Goldens("pooling_global").check(pooling, ["input"], ["max"])
    pooling.type = .average
    try Goldens("pooling_global").check(pooling, ["input"], ["average"])
  }

  // 13 × 13 negative values: padding is only on the right and bottom, and is never the maximum.
  @Test func paddingNeverWinsAMaximum() throws {
    let input = ReferenceTensor(
      shape: [1, 1, 1, 13, 13], (0..<169).map { -1 - Double($0) })
    let pooling = layer(.max, [2, 2], [1, 1], .same(SamePadding()))
    let output = try pooling.referenceOutputs([input], ReferenceSettings())[0]
    // Values decrease in reading order, so that the first of each window is the largest.
    #expect(output == input)
  }
}
