import CoreMLModel
import ImportSupport
import TensorCore

/// The center of the image, scaled to 2x − 1 unless `noadjust` is set.
struct CropLayer: DarknetLayer {
  static let source = SourceLayer("crop", becomes: "center crop, 2x − 1")
  static let options = ["crop_height", "crop_width", "noadjust"]
  static let trainingOptions = ["angle", "exposure", "flip", "saturation", "shift"]

  private let height: Int
  private let width: Int
  private let isAdjusted: Bool

  init(_ section: ConfigurationSection) throws {
    height = try section.int("crop_height", default: 1, in: 1...Limits.dimension)
    width = try section.int("crop_width", default: 1, in: 1...Limits.dimension)
    isAdjusted = try !section.bool("noadjust")
  }

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    let input = try call.image
    guard height <= input.height, width <= input.width else {
      throw call.error("\(height) × \(width) cannot be cut from \(input.height) × \(input.width)")
    }
    let (top, left) = ((input.height - height) / 2, (input.width - width) / 2)
    var output = try DarknetTensor(input.blob, input.channels, height, width)
    if output.shape != input.shape {
      var crop = Crop()
      crop.cropAmounts = BorderAmounts(
        top: top, bottom: input.height - height - top, left: left,
        right: input.width - width - left)
      output.blob = network.add(call.name, crop, [input.blob])
    }
    if isAdjusted { output.blob = network.affine(output.blob, 2, -1, call.name + "__adjust__") }
    return output
  }
}
