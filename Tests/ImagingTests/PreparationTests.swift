import TensorCore
import Testing

@testable import Imaging

struct PreparationTests {
  private let picture = randomPicture(width: 31, height: 17, channels: 3)

  private func prepared(_ order: ChannelOrder, _ options: ImageOptions) throws -> [Float] {
    try picture.prepared(width: 12, height: 12, order, options).elements
  }

  /// An image becomes gray before its size changes, like `convert("L")` before `resize`.
  @Test func greyComesFirst() throws {
    var options = ImageOptions()
    options.fitting = .squash
    let grey = try picture.grayscale().resized(width: 12, height: 12)
    #expect(try prepared(.grayscale, options) == grey.bytes.map(Float.init))
  }

  @Test func ordersOfColours() throws {
    for interpolation in [Interpolation.bicubic, .tensorFlowBilinear] {
      var options = ImageOptions()
      options.fitting = .fit
      options.interpolation = interpolation
      let rgb = try prepared(.rgb, options)
      let bgr = try prepared(.bgr, options)
      #expect(rgb.count == 3 * 144)
      #expect(Array(rgb[..<144]) == Array(bgr[288...]))
      #expect(Array(rgb[144..<288]) == Array(bgr[144..<288]))
    }
  }

  /// Without intermediate rounding to integers, the image has the same position as with it.
  @Test(arguments: [Fitting.squash, .centerCrop, .fit])
  func placesAreTheSame(_ fitting: Fitting) throws {
    var options = ImageOptions()
    options.fitting = fitting
    options.interpolation = .tensorFlowBilinear
    let values = try prepared(.rgb, options)
    let rounded = try picture.fitted(width: 12, height: 12, fitting, .tensorFlowBilinear)
    #expect(
      values.map { UInt8(rounding: $0) } == (try rounded.tensor(.rgb).elements.map { UInt8($0) }))
    options.interpolation = .openCVBilinear
    let fixed = try prepared(.rgb, options)
    #expect(zip(values, fixed).allSatisfy { abs($0 - $1) <= 1 })
  }

  /// Keras's recipe uses the nearest sample, like `load_img` with Pillow.
  @Test func recipes() {
    #expect(ImageRecipe.kerasLoadImage.options.interpolation == .nearest)
    #expect(
      ImageRecipe.caffeClassify.options.description
        == "resize squash to 256×256, then the center; "
        + "interpolation tf-bilinear; exif ignore")
    var options = ImageRecipe.caffeClassify.options
    options.bring(into: .fit)
    #expect(options.firstSide == nil)
  }
}
