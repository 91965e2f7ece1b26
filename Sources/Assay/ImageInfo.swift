import CoreMLModel
import Detection
import Imaging
import ModelPrediction
import TensorCore

/// The input of Faster R-CNN that describes the image: the height and width of the network's input,
/// and the scale factor of the image, or separate factors for height and width.
struct ImageInfo {
  let name: String
  private let count: Int

  /// Nil if the model has no such input.
  init?(of model: Model) {
    guard let name = model.description?.metadata?.userDefined["assay.detect.image_info"],
      let input = model.description?.input.first(where: { $0.name == name }),
      case .multiArray(let array)? = input.type?.kind,
      let count = try? checkedProduct(array.shape, limit: 64), count >= 3
    else { return nil }
    self.name = name
    self.count = count
  }

  /// The value for an image; nil if the model has no image input or no image was passed.
  func value(
    _ values: [String: FeatureValue], of model: Model, _ images: ImageOptions
  ) throws -> FeatureValue? {
    for input in model.description?.input ?? [] {
      guard case .image(let type)? = input.type?.kind, case .image(let image)? = values[input.name]
      else { continue }
      let (width, height) = type.size(of: image, images)
      let mapping = try ImageMapping(
        of: (image.width, image.height), width: width, height: height, images)
      let (source, target) = (mapping.source, mapping.target)
      let down = (target.bottom - target.top) / (source.bottom - source.top)
      let across = (target.right - target.left) / (source.right - source.left)
      let numbers =
        [Double(height), Double(width)] + (0..<count - 2).map { $0 % 2 == 0 ? down : across }
      return .array(Tensor(shape: [1, count], numbers.map { Float($0) }))
    }
    return nil
  }

  /// Parses a value from the user or from `value`.
  func extent(_ value: FeatureValue?) -> RegionDecoder.Extent? {
    guard case .array(let tensor)? = value, tensor.count >= 3 else { return nil }
    let numbers = tensor.elements.map(Double.init)
    guard numbers.prefix(4).allSatisfy({ $0 > 0 && $0.isFinite }) else { return nil }
    var extent = RegionDecoder.Extent(width: numbers[1], height: numbers[0])
    extent.scaleY = numbers[2]
    extent.scaleX = numbers.count > 3 ? numbers[3] : numbers[2]
    return extent
  }
}
