import CoreMLModel
import Imaging
import ModelPrediction
import TensorCore

extension DiagnosisSubject {
  /// How the image may have been decoded and resized.
  var imageCauses: [Cause] {
    values.keys.sorted().flatMap { name -> [Cause] in
      guard case .image(let image)? = values[name], let type = model.imageType(of: name) else {
        return []
      }
      let size = type.size(of: image, images)
      let needsResizing = size.width != image.width || size.height != image.height
      return (needsResizing ? resizing(name) : []) + turning(name)
        + (type.colorSpace == .grayscale && image.channelCount > 1 ? grays(name, image, type) : [])
    }
  }

  private func cause(_ name: String, _ summary: String, _ options: ImageOptions, _ option: String)
    -> Cause
  {
    Cause(.input, summary, remedy: option) { [self] trial in
      let interface = ModelInterface(model, layout: self.options.layout, images: options)
      guard let blob = try interface.blobs(values)[name], blob != trial.blobs[name] else {
        return false
      }
      trial.blobs[name] = blob
      return true
    }
  }

  private func resizing(_ name: String) -> [Cause] {
    var causes = ImageRecipe.allCases.map {
      cause(
        name, "the image was resized like \($0.rawValue)", $0.options,
        "pass \(setting: "recipe") \($0.rawValue)")
    }
    for fitting in Fitting.allCases where fitting != .exact {
      for filter in Interpolation.allCases {
        var changed = images
        changed.bring(into: fitting)
        changed.interpolation = filter
        guard changed != images else { continue }
        causes.append(
          cause(
            name, "the image was resized by \(fitting.rawValue) with the filter \(filter.rawValue)",
            changed,
            "pass \(setting: "resize") \(fitting.rawValue) \(setting: "interpolation") \(filter.rawValue)"
          ))
      }
    }
    return causes
  }

  /// The Exif orientation of the file, applied or not.
  private func turning(_ name: String) -> [Cause] {
    var changed = images
    changed.appliesOrientation.toggle()
    guard let other = try? source.read(for: model, images: changed)[name] else { return [] }
    return [
      Cause(
        .input,
        images.appliesOrientation
          ? "the image was not rotated by its Exif orientation"
          : "the image was rotated by its Exif orientation",
        remedy: "pass \(setting: "exif") \(images.appliesOrientation ? "ignore" : "apply")"
      ) { [self] trial in
        var values = values
        values[name] = other
        guard let blob = try interface.blobs(values)[name], blob.shape == trial.blobs[name]?.shape,
          blob != trial.blobs[name]
        else { return false }
        trial.blobs[name] = blob
        return true
      }
    ]
  }

  /// Luma weights other than those of Recommendation ITU-R BT.601.
  private func grays(_ name: String, _ image: Image, _ type: ImageFeatureType) -> [Cause] {
    let weights: [(summary: String, red: Float, green: Float, blue: Float)] = [
      ("the mean of red, green and blue", 1 / 3, 1 / 3, 1 / 3),
      ("the weights of BT.709", 0.2126, 0.7152, 0.0722),
      ("the weights of BT.601, without rounding", 0.299, 0.587, 0.114),
      ("the weights of BT.601 with red and blue exchanged", 0.114, 0.587, 0.299),
      ("red", 1, 0, 0), ("green", 0, 1, 0), ("blue", 0, 0, 1),
    ]
    return weights.map { weight in
      Cause(.input, "gray is " + weight.summary) { [self] trial in
        let size = type.size(of: image, images)
        let colors = try image.prepared(
          width: size.width, height: size.height, .rgb, images)
        guard let shape = trial.blobs[name]?.shape, shape.reduce(1, *) * 3 == colors.count else {
          return false
        }
        let elements = colors.elements
        let plane = size.width * size.height
        trial.blobs[name] = Tensor(
          shape: shape,
          (0..<elements.count / 3).map { index in
            let start = index / plane * 3 * plane + index % plane
            return weight.red * elements[start] + weight.green * elements[start + plane]
              + weight.blue * elements[start + 2 * plane]
          })
        return true
      }
    }
  }
}
