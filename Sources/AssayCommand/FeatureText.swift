/// An input or output of a model, as text and as JSON.
struct FeatureText {
  let feature: FeatureDescription
  let model: Model

  /// Type, source layout and description.
  var text: String {
    let layout = SourceLayout(of: feature.name, in: model).map { " (source layout: \($0.letters))" }
    let optional = feature.type?.isOptional == true ? ", optional" : ""
    let description = feature.shortDescription.isEmpty ? "" : ": \(feature.shortDescription)"
    return typeText + (layout ?? "") + optional + description
  }

  /// A type such as `image 224×224 RGB` or `array 3×10 float32`.
  var typeText: String {
    switch feature.type?.kind {
    case .int64: return "int64"
    case .double: return "double"
    case .string: return "string"
    case .image(let image):
      let flexible = image.flexibility == nil ? "" : ", flexible size"
      return "image \(image.width)×\(image.height) \(colorText(image.colorSpace))\(flexible)"
    case .multiArray(let array): return arrayText(array)
    case .state(let array): return "state, \(arrayText(array))"
    case .dictionary(let key):
      if feature.name == model.description?.predictedProbabilitiesName {
        return "probabilities by label"
      }
      return key == .int64 ? "dictionary by int64" : "dictionary by string"
    case .opaque(let message): return message.name ?? "type \(message.field)"
    case nil: return "no type"
    }
  }

  private func arrayText(_ array: ArrayFeatureType) -> String {
    let flexible = array.flexibility == nil ? "" : ", flexible shape"
    let shape = array.shape.map(String.init).joined(separator: "×")
    return
      "array \(shape.isEmpty ? "of any shape" : shape) \(dataTypeText(array.dataType))\(flexible)"
  }

  var json: JSONText {
    let start: JSONText = ["name": feature.name, "type": typeText]
    let kind: JSONText =
      switch feature.type?.kind {
      case .image(let image):
        [
          "kind": "image", "width": image.width, "height": image.height,
          "color": colorText(image.colorSpace), "flexible": image.flexibility != nil,
        ]
      case .multiArray(let array):
        [
          "kind": "array", "shape": array.shape, "dataType": dataTypeText(array.dataType),
          "flexible": array.flexibility != nil,
        ]
      case .dictionary: ["kind": "dictionary"]
      case .int64, .double, .string: ["kind": typeText]
      case .state, .opaque, nil: ["kind": "other"]
      }
    return start + kind + [
      "optional": feature.type?.isOptional ?? false,
      "sourceLayout": SourceLayout(of: feature.name, in: model)?.letters,
      "description": feature.shortDescription,
    ]
  }

  private func colorText(_ color: ImageFeatureType.ColorSpace) -> String {
    switch color {
    case .invalid: "no color space"
    case .grayscale: "grayscale"
    case .rgb: "RGB"
    case .bgr: "BGR"
    case .grayscaleFloat16: "grayscale float16"
    }
  }

  private func dataTypeText(_ type: ArrayFeatureType.DataType) -> String {
    type == .invalid ? "no data type" : "\(type)"
  }
}
