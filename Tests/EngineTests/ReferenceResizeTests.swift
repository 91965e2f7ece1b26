import CoreMLModel
import TensorCore
import Testing

@testable import Engine

@Suite struct ReferenceResizeTests {
  private static let methods: [(String, SamplingMethod)] = [
    ("strict", .strictAlignEndpoints), ("align", .alignEndpoints), ("upsample", .upsample),
    ("roi", .roiAlign),
  ]

  @Test func upsample() throws {
    let golden = Goldens("upsample")
    var layer = Upsample()
    layer.scalingFactor = [2, 3]
    try golden.check(layer, ["input"], ["nearest"])
    layer.mode = .bilinear
    try golden.check(layer, ["input"], ["default"])
    layer.linearUpsampleMode = .alignCornersTrue
    try golden.check(layer, ["input"], ["align_true"])
    layer.linearUpsampleMode = .alignCornersFalse
    try golden.check(layer, ["input"], ["align_false"])
  }

  @Test(arguments: methods)
  func resizeBilinear(name: String, method: SamplingMethod) throws {
    var layer = ResizeBilinear()
    layer.targetSize = [5, 3]
    layer.mode = method
    try Goldens("resizeBilinear_\(name)").check(layer)
    layer.targetSize = [1, 1]
    try Goldens("resizeBilinear_\(name)").check(layer, ["input"], ["single"])
  }

  @Test(arguments: methods)
  func cropResize(name: String, method: SamplingMethod) throws {
    var layer = CropResize()
    layer.targetSize = [3, 4]
    layer.mode = method
    layer.normalizedCoordinates = true
    layer.spatialScale = 1
    try Goldens("cropResize_\(name)").check(layer, ["input", "boxes"])
  }

  // Boxes by center and size, in half pixels of the input, each from a separate image.
  @Test func cropResizeCentered() throws {
    var layer = CropResize()
    layer.targetSize = [3, 4]
    layer.mode = .alignEndpoints
    layer.boxIndicesMode = .centerSizeWidthFirst
    layer.spatialScale = 0.5
    try Goldens("cropResize_centred").check(layer, ["input", "boxes"])
  }

  @Test func cropResizeChecksItsBoxes() throws {
    var layer = CropResize()
    layer.targetSize = [1, 1]
    let image = ReferenceTensor(shape: [1, 2, 1, 2, 2])
    for box in [[2, 0, 0, 1, 1], [.nan, 0, 0, 1, 1], [0, 0, .infinity, 1, 1]] as [[Double]] {
      #expect(throws: ModelError.self) {
        try layer.referenceOutputs(
          [image, ReferenceTensor(shape: [1, 1, 5, 1, 1], box)], ReferenceSettings())
      }
    }
  }
}
