import ByteFormats
import TensorCore

extension ModelDescription {
  func check(_ faults: inout Faults) {
    faults.require(!output.isEmpty, "description.output", "the model has no output")
    for (path, features) in [("description.input", input), ("description.output", output)] {
      var names: Set<String> = []
      for (index, feature) in features.enumerated() {
        let field = feature.name.isEmpty ? "\(path)[\(index)]" : "\(path).\(feature.name)"
        faults.require(!feature.name.isEmpty, field, "the feature has no name")
        faults.require(
          names.insert(feature.name).inserted || feature.name.isEmpty, field,
          "two features have this name")
        faults.require(
          feature.name.utf8.count <= Limits.nameBytes, field,
          "the name is longer than \(Limits.nameBytes) bytes")
        feature.check(field, isInput: path == "description.input", &faults)
      }
    }
  }
}

extension FeatureDescription {
  fileprivate func check(_ field: String, isInput: Bool, _ faults: inout Faults) {
    switch type?.kind {
    case nil: faults.require(false, field, "the feature has no type")
    case .image(let image):
      faults.require(
        image.width > 0 && image.height > 0 && image.width <= Limits.imageSide
          && image.height <= Limits.imageSide, field,
        "an image of \(image.width) × \(image.height), sides of 1 to \(Limits.imageSide) are needed"
      )
      faults.require(
        image.colorSpace != .invalid, field, "the colour space is not specified",
        hint: "GRAYSCALE, RGB and BGR are possible")
    case .multiArray(let array):
      faults.require(array.dataType != .invalid, field, "the data type is not specified")
      faults.require(!isInput || !array.shape.isEmpty, field, "the shape is not specified")
      faults.require(
        array.shape.allSatisfy { $0 > 0 && $0 <= Limits.dimension }, field,
        "the shape \(array.shape) is impossible")
      faults.catching {
        do {
          _ = try checkedProduct(array.shape.map { max($0, 0) }, limit: Limits.tensorElements)
        } catch let error as ModelError {
          throw error.inside(field)
        }
      }
    case .dictionary(let key): faults.require(key != nil, field, "the type of the key is missing")
    default: break
    }
  }
}
