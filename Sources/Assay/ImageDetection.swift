import CoreMLModel
import Detection
import Files
import Imaging
import ModelPrediction
import TensorCore

/// The objects that a model finds in images.
package struct ImageDetection {
  /// The objects in one image.
  package struct Result: Sendable {
    /// Boxes in pixels of the image file, clipped to the image; best first.
    package var objects: [DetectedObject]
    /// The same objects in pixels of `image`.
    package var rotatedObjects: [DetectedObject]
    /// The image, rotated if requested; nil if the input was an array.
    package var image: Image?
    package var detector: Detector

    /// The image with boxes and labels.
    package func drawn() throws -> Image {
      guard let image else {
        throw ModelError(
          .mismatch, "boxes need an image to draw on, but the input was an array",
          hint: "convert with \(setting: "imageInput")")
      }
      var canvas = try Canvas(image)
      canvas.draw(rotatedObjects, of: detector)
      return canvas.image
    }
  }

  private let mode: DetectionMode
  private let settings: DetectorSettings
  private let labels: [String]?
  private let predictor: Predictor
  /// Whether each candidate keeps only its best class, as in Vision.
  package var keepsBestClass = false

  /// - Parameters:
  ///   - options: the user's options, by metadata key without prefix.
  ///   - labels: names of the classes.
  package init(
    _ predictor: Predictor, mode: DetectionMode, options: [String: String] = [:],
    labels: [String]? = nil
  ) {
    self.predictor = predictor
    self.mode = mode
    let suppression = predictor.model.suppression
    self.labels = labels ?? suppression?.labels?.strings
    var metadata = predictor.model.description?.metadata?.userDefined ?? [:]
    if let suppression {
      metadata["assay.detect.type"] = SuppressedBoxes.type
      metadata["assay.detect.confidence"] = suppression.confidenceOutput
      metadata["assay.detect.coordinates"] = suppression.coordinatesOutput
      // The pipeline has a threshold of its own.
      metadata["assay.detect.threshold"] = "0"
    }
    settings = DetectorSettings(metadata: metadata, options: options)
  }

  /// Whether the model's metadata describe its boxes, or it ends with non-maximum suppression.
  package static func isDescribed(in model: Model) -> Bool {
    model.suppression != nil
      || model.description?.metadata?.userDefined.keys.contains {
        $0.hasPrefix(DetectorSettings.prefix) && $0.hasSuffix(".type")
      } ?? false
  }

  /// - Parameters:
  ///   - outputs: the outputs of the prediction for `values`.
  ///   - source: the origin of the values.
  package func result(
    _ outputs: [PredictedOutput], of values: [String: FeatureValue], from source: InputSource
  ) throws -> Result {
    let input = try imageInput(values).orThrow(
      ModelError(.mismatch, "\(setting: "detect") needs an image input, but the model has none"))
    var detector = try Detector(
      mode, settings: settings, labels: labels, width: input.width, height: input.height)
    detector.keepsBestClass = keepsBestClass
    if let info = ImageInfo(of: predictor.model) {
      detector.extent = info.extent(values[info.name])
    }
    let found = try detector.objects(
      in: outputs.map { DetectorOutput(name: $0.name, value: $0.value, channels: $0.channels) })
    let options = predictor.images
    let size = input.image.map { ($0.width, $0.height) } ?? (input.width, input.height)
    let orientation =
      options.appliesOrientation && input.image != nil
      ? try source.orientation(of: input.name) : .upright
    let mapping = try ImageMapping(
      of: size, width: input.width, height: input.height,
      input.image == nil ? ImageOptions() : options, orientation: orientation)
    var result = Result(objects: [], rotatedObjects: [], image: input.image, detector: detector)
    func rotated(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
      mapping.rotatedPoint(x * Double(input.width), y * Double(input.height))
    }
    for object in found {
      let box = object.box
      let (first, last) = (rotated(box.left, box.top), rotated(box.right, box.bottom))
      var own = object
      let corners = Box(left: first.x, top: first.y, right: last.x, bottom: last.y)
      guard let clipped = corners.clipped(width: Double(size.0), height: Double(size.1)) else {
        continue
      }
      own.box = clipped
      result.rotatedObjects.append(own)
      let (a, b) = (
        mapping.storedPoint(clipped.left, clipped.top),
        mapping.storedPoint(clipped.right, clipped.bottom)
      )
      own.box = Box(
        left: min(a.x, b.x), top: min(a.y, b.y), right: max(a.x, b.x), bottom: max(a.y, b.y))
      result.objects.append(own)
    }
    return result
  }

  /// The image input and its size in the network.
  private func imageInput(
    _ values: [String: FeatureValue]
  ) throws -> (name: String, width: Int, height: Int, image: Image?)? {
    for input in predictor.inputs {
      guard let value = values[input.name] else { continue }
      if case .image(let type) = input.type?.kind {
        guard case .image(let image) = value else {
          return (input.name, type.width, type.height, nil)
        }
        let (width, height) = type.size(of: image, predictor.images)
        return (input.name, width, height, image)
      }
    }
    for input in predictor.inputs {
      guard let value = values[input.name], case .multiArray = input.type?.kind,
        let blob = try predictor.interface.blobs(values)[input.name], blob.shape.count >= 4,
        case .array = value
      else { continue }
      return (input.name, blob.shape[blob.shape.count - 1], blob.shape[blob.shape.count - 2], nil)
    }
    return nil
  }
}

extension Model {
  /// The non-maximum suppression at the end of a pipeline.
  var suppression: NonMaximumSuppressionModel? {
    guard case .features(let model)? = type else { return pipelineModels.last?.suppression }
    return model.parameters as? NonMaximumSuppressionModel
  }
}

extension Canvas {
  /// Draws boxes with the names of their classes and their scores.
  mutating func draw(_ objects: [DetectedObject], of detector: Detector) {
    draw(objects) { object in
      let percent = max(0, min(100, (object.score * 100).rounded()))
      return "\(detector.label(object.classIndex)) \(Int(percent))%"
    }
  }
}

extension InputSource {
  /// The Exif orientation of the image for an input.
  func orientation(of feature: String) throws -> Orientation {
    let file = files.first { $0.feature == feature } ?? files.first { $0.feature == nil }
    guard let file, file.path != "-" else { return .upright }
    return Orientation(of: try MappedFile.read(file.path))
  }
}
