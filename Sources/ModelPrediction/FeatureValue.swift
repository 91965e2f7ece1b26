import CoreMLModel
@_exported import FeatureModels
import Imaging
import TensorCore

/// The axis order of input and output arrays.
public enum ArrayLayout: String, Sendable, CaseIterable {
  /// The source framework's order if the model records it, otherwise Core ML's.
  case source
  /// Core ML's order: `[C]`, `[C, H, W]`, or all five axes.
  case coreml
}

/// An input or output of a model, with what is needed to convert values to and from its blob.
package struct Feature: Sendable {
  package let name: String
  package let type: FeatureType
  /// The recorded layout, unless Core ML's is requested.
  let sourceLayout: SourceLayout?
  /// The recorded layout in a network whose arrays have exact shapes.
  let exactLayout: ExactLayout?
  /// The shape of an array in its recorded layout.
  package let sourceShape: SourceShape?
  /// Whether blobs have the shape that the network declares: arrays with exact mapping, and images
  /// without a sequence axis.
  let isExact: Bool
  private let images: ImageOptions

  init(
    _ description: FeatureDescription, in model: Model, layout: ArrayLayout,
    images: ImageOptions = ImageOptions()
  ) {
    self.images = images
    name = description.name
    type = description.type ?? FeatureType()
    let recorded =
      layout == .source
      ? model.description?.metadata?.userDefined[SourceLayout.metadataPrefix + description.name]
      : nil
    sourceLayout = recorded.flatMap { SourceLayout($0) }
    exactLayout = recorded.flatMap { ExactLayout($0) }
    if case .multiArray(let declared)? = type.kind {
      sourceShape =
        exactLayout.map { SourceShape($0, declared: declared.shape) }
        ?? sourceLayout.map { [name] in
          SourceShape($0, declared: declared.shape, steps: $0.steps(of: name, in: model))
        }
    } else {
      sourceShape = nil
    }
    let network = model.neuralNetwork
    isExact =
      if case .image = type.kind {
        network?.imageInputShapeMapping == .rank4
      } else {
        network?.arrayInputShapeMapping == .exact
      }
  }

  /// A blob inside a network.
  ///
  /// - Parameter layout: the recorded layout.
  init(blob name: String, layout: String?, isExact: Bool) {
    self.name = name
    self.isExact = isExact
    images = ImageOptions()
    var type = FeatureType()
    type.kind = .multiArray(ArrayFeatureType(shape: [], dataType: .float32))
    self.type = type
    sourceLayout = layout.flatMap { SourceLayout($0) }
    exactLayout = layout.flatMap { ExactLayout($0) }
    sourceShape = nil
  }

  /// The position of the feature's channel axis; nil if unknown.
  var channelAxis: ChannelAxis? {
    if isExact { return nil }
    guard let sourceLayout else { return .first }
    switch sourceLayout.axes.filter({ $0 == .channels || $0 == .height || $0 == .width }) {
    case [.channels, .height, .width]: return .first
    case [.height, .width, .channels]: return .last
    default: return nil
    }
  }

  /// The batch axis of the feature's blob; nil if there is none, for example because the network
  /// itself takes several items along it.
  var batchAxis: Int? {
    guard isExact else { return 1 }
    guard case .multiArray(let declared) = type.kind else { return 0 }
    let axis = exactLayout?.batchAxis ?? 0
    return takesOneItem || declared.allowsOnlyOne(at: axis) ? axis : nil
  }

  /// Whether the model's arrays lack the batch axis that blobs have.
  private var takesOneItem: Bool { exactLayout?.isOfOneItem ?? false }

  /// Splits the blob of a batch into the blobs of its items.
  func items(_ blob: Tensor) -> [Tensor] {
    guard let axis = batchAxis else { return [blob] }
    let count = blob.shape[axis]
    let items = count == 1 ? [blob] : (0..<count).map { blob.batchItem($0, axis: axis) }
    return takesOneItem ? items.map { $0.reshaped(Array($0.shape.dropFirst())) } : items
  }

  /// Combines the blobs of items, at least one, into the blob of a batch.
  func batch(_ items: [Tensor]) -> Tensor {
    let axis = isExact ? exactLayout?.batchAxis ?? 0 : 1
    return .batch(takesOneItem ? items.map { $0.reshaped([1] + $0.shape) } : items, axis: axis)
  }

  /// The blob for `value`: `[Seq, Batch, C, H, W]`, or the declared shape with exact mapping.
  package func blob(_ value: FeatureValue) throws -> Tensor {
    try type.requireNumbers(value, feature: name)
    switch (type.kind, value) {
    case (.image(let declared), .image(let image)):
      return flattened(try pixels(of: image, as: declared))
    case (.image(let image), .array(let array)):
      return flattened(try Self.pixels(of: array, as: image, feature: name))
    case (.multiArray(let declared), .array(let array)) where isExact:
      return try exactBlob(array, declared)
    case (.multiArray(let declared), .array(let array)):
      let blob =
        try sourceLayout?.canonical(array, feature: name)
        ?? CoreMLLayout.canonical(array, declared: declared, feature: name)
      try checkShape(of: blob, declared: declared, given: array.shape)
      return blob
    case (.multiArray(let declared), .image):
      throw ModelError(
        .mismatch, "an image cannot be the array input of shape \(declared.shape)", field: name,
        hint:
          "convert with \(setting: "preset"), or \(setting: "imageInput") \(name.shellWord) and the preprocessing of the training, such as \(setting: "imageScale") 1/255; or give an array (.npy, .npz, .json, .csv)"
      )
    case (_, .numbers(let array)):
      return try blob(.array(Tensor(shape: array.shape, array.elements.map { Float($0) })))
    case (.multiArray, .int), (.multiArray, .double):
      return try blob(.array(Tensor(shape: [1], [Float(value.number ?? .nan)])))
    default:
      throw ModelError(.unsupported, "inputs of this type are not supported", field: name)
    }
  }

  /// The value of an output blob in the user's layout.
  package func value(_ blob: Tensor) -> Tensor {
    switch type.kind {
    case .image(let image): return Self.image(blob, colorSpace: image.colorSpace)
    case .multiArray(let declared) where isExact:
      return exactLayout?.source(blob) ?? blob.inShape(of: declared)
    case _ where isExact: return exactLayout?.source(blob) ?? blob
    case .multiArray(let declared):
      return sourceLayout?.source(blob)
        ?? CoreMLLayout.array(blob, rank: declared.shape.isEmpty ? nil : declared.shape.count)
    default:
      return sourceLayout?.source(blob) ?? CoreMLLayout.array(blob, rank: nil)
    }
  }

  /// Removes the sequence axis from images if the network has none.
  private func flattened(_ images: Tensor) -> Tensor {
    isExact ? images.reshaped(Array(images.shape.dropFirst())) : images
  }

  private func exactBlob(_ array: Tensor, _ declared: ArrayFeatureType) throws -> Tensor {
    var blob = try exactLayout?.canonical(array, feature: name) ?? array
    let wanted = takesOneItem ? [1] + declared.shape : declared.shape
    if blob.shape.count == wanted.count - 1, wanted.first == 1 {
      blob = blob.reshaped([1] + blob.shape)
    }
    let batch = batchAxis
    let fits = zip(blob.shape, wanted).enumerated().allSatisfy { $0 == batch || $1.0 == $1.1 }
    try require(
      blob.shape.count == wanted.count && (fits || declared.flexibility != nil), .mismatch,
      "an array of shape \(array.shape) does not match the input's \(wanted)"
        + (exactLayout.map { " (\(String($0.model)))" } ?? ""), field: name)
    var item = blob.shape
    if let batch { item[batch] = wanted[batch] }
    if item != wanted {
      if takesOneItem { item.removeFirst() }
      try declared.requireAllowed(item, feature: name)
    }
    return blob
  }

  private func checkShape(of blob: Tensor, declared: ArrayFeatureType, given: [Int]) throws {
    guard declared.flexibility == nil, let expected = type.networkShape(in: NeuralNetwork()) else {
      return
    }
    // A sequence is declared by the shape of one step.
    guard Array(blob.shape[2...]) != Array(expected[2...]) else { return }
    let wanted = sourceLayout.map { layout in
      "\(layout.source(Tensor(shape: expected)).shape) (\(layout.letters))"
    }
    throw ModelError(
      .mismatch,
      "an array of shape \(given) does not match the input's \(wanted ?? "\(declared.shape)")",
      field: name)
  }
}

extension Feature {
  /// `[1, 1, C, H, W]` in the feature's color order for an image, resized as needed.
  private func pixels(of image: Image, as type: ImageFeatureType) throws -> Tensor {
    let (width, height) = type.size(of: image, images)
    try type.requireAllowed(width: width, height: height, feature: name)
    do {
      let blob = try image.prepared(
        width: width, height: height, type.colorSpace.channelOrder, images)
      return blob.reshaped([1] + blob.shape)
    } catch let error as ModelError { throw error.inside(name) }
  }

  /// The same for an array `[H, W, C]` or `[N, H, W, C]`, RGB or gray.
  private static func pixels(
    of array: Tensor, as type: ImageFeatureType, feature: String
  ) throws -> Tensor {
    let channels = type.colorSpace.channelCount
    var shape = array.shape
    if shape.count == 2, channels == 1 { shape = [1] + shape + [1] }
    if shape.count == 3 {
      // [N, H, W] is several gray images; [H, W, C] is one image.
      shape = channels == 1 && shape[2] != 1 ? shape + [1] : [1] + shape
    }
    try require(
      shape.count == 4 && shape[3] == channels, .mismatch,
      "an array of shape \(array.shape) is not an image with \(channels) channels",
      field: feature,
      hint: "give [height, width, \(channels)], or [batch, height, width, \(channels)]")
    try checkSize(width: shape[2], height: shape[1], type, feature: feature)
    return planes(array.reshaped(shape), colorSpace: type.colorSpace)
  }

  private static func checkSize(
    width: Int, height: Int, _ type: ImageFeatureType, feature: String
  ) throws {
    guard type.flexibility == nil, width != type.width || height != type.height else { return }
    throw ModelError(
      .mismatch,
      "the image is \(width)×\(height), but the model takes \(type.width)×\(type.height)",
      field: feature, hint: "give an image of the model's size")
  }

  /// Converts `[N, H, W, C]` in RGB to `[1, N, C, H, W]` in the color space's order.
  private static func planes(_ pixels: Tensor, colorSpace: ImageFeatureType.ColorSpace) -> Tensor {
    let planes = pixels.transposed([0, 3, 1, 2])
    let blob = planes.reshaped([1] + planes.shape)
    return colorSpace == .bgr ? blob.reversed(2) : blob
  }

  /// `[H, W, C]` in RGB, or `[N, H, W, C]` for several images.
  private static func image(_ blob: Tensor, colorSpace: ImageFeatureType.ColorSpace) -> Tensor {
    let axes = blob.shape.count
    let blob =
      axes < 5 ? blob.reshaped([Int](repeating: 1, count: 5 - axes) + blob.shape) : blob
    guard blob.shape.count == 5, blob.shape[0] == 1 else { return blob }
    let rgb = colorSpace == .bgr ? blob.reversed(2) : blob
    let images = rgb.reshaped(Array(rgb.shape[1...])).transposed([0, 2, 3, 1])
    return images.shape[0] == 1 ? images.reshaped(Array(images.shape[1...])) : images
  }
}

extension ImageFeatureType.ColorSpace {
  var channelOrder: ChannelOrder {
    switch self {
    case .grayscale, .grayscaleFloat16: .grayscale
    case .bgr: .bgr
    case .rgb, .invalid: .rgb
    }
  }
}

extension Tensor {
  /// The array in the declared shape, if it differs only in axes of length 1.
  fileprivate func inShape(of declared: ArrayFeatureType) -> Tensor {
    let wanted = declared.shape
    return declared.flexibility == nil && !wanted.isEmpty && wanted != shape
      && hasAxes(of: wanted) ? reshaped(wanted) : self
  }
}

extension ImageFeatureType {
  /// The size at which a network receives `image`: the feature's, or the image's own if the model
  /// accepts several sizes and the options request none.
  package func size(of image: Image, _ options: ImageOptions) -> (width: Int, height: Int) {
    flexibility != nil && options.fitting == .exact && options.firstSide == nil
      ? (image.width, image.height) : (width, height)
  }
}
