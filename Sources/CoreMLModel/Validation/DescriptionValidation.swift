import ByteFormats
import TensorCore

extension ModelDescription {
  /// - Parameter version: the version of the format; flexible sizes are valid from version 3 on.
  func check(version: Int, _ faults: inout ValidationIssues) {
    faults.require(!output.isEmpty, "description.output", "the model has no output")
    for (path, features) in [("description.input", input), ("description.output", output)] {
      let isInput = path == "description.input"
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
        faults.require(
          isInput || feature.type?.isOptional != true, field, "an output cannot be optional")
        feature.check(field, isInput: isInput, version, &faults)
      }
    }
  }

  /// Requires at least one input that is not optional, as networks do.
  func checkOptionalInputs(_ faults: inout ValidationIssues) {
    faults.require(
      input.isEmpty || input.contains { $0.type?.isOptional != true }, "description.input",
      input.count == 1
        ? "the only input, '\(input[0].name)', is optional" : "all inputs are optional",
      hint: "a network needs at least one required input")
  }
}

extension FeatureDescription {
  fileprivate func check(
    _ field: String, isInput: Bool, _ version: Int, _ faults: inout ValidationIssues
  ) {
    switch type?.kind {
    case nil: faults.require(false, field, "the feature has no type")
    case .image(let image):
      let isFlexible = image.flexibility != nil && version >= 3
      let least = isFlexible ? 0 : 1
      let sides = least...Limits.imageSide
      faults.require(
        sides.contains(image.width) && sides.contains(image.height), field,
        "an image of \(image.width) × \(image.height) is invalid; sides must be 1 to \(Limits.imageSide)"
      )
      faults.require(
        image.colorSpace != .invalid, field, "the color space is missing",
        hint: "it can be GRAYSCALE, RGB or BGR")
      faults.require(
        image.colorSpace != .grayscaleFloat16 || version >= 7, field,
        "a half-precision image needs specification version 7")
      if isFlexible { image.checkSizes(field, &faults) }
    case .multiArray(let array):
      faults.require(array.dataType != .invalid, field, "the data type is missing")
      let isFlexible = array.flexibility != nil && version >= 3
      faults.require(!isInput || !array.shape.isEmpty || isFlexible, field, "the shape is missing")
      // Some converters write 0 for an unknown size.
      faults.require(
        array.shape.allSatisfy { $0 >= 0 && $0 <= Limits.dimension }, field,
        "the shape \(array.shape) is invalid")
      for (type, needed) in [(ArrayFeatureType.DataType.float16, 7), (.int8, 10)] {
        faults.require(
          array.dataType != type || version >= needed, field,
          "an array of type \(type) needs specification version \(needed)")
      }
      faults.catching {
        do {
          _ = try checkedProduct(array.shape.map { max($0, 0) }, limit: Limits.tensorElements)
        } catch let error as ModelError {
          throw error.inside(field)
        }
      }
      if isFlexible { array.checkShapes(field, &faults) }
      array.checkDefault(
        field, version: version, isOptional: isInput && type?.isOptional == true, &faults)
    case .dictionary(let key): faults.require(key != nil, field, "the type of the key is missing")
    default: break
    }
  }
}

extension SizeRange {
  fileprivate var isPossible: Bool { upperBound <= 0 || lowerBound <= upperBound }

  fileprivate var text: String { "\(lowerBound) to \(upperBound < 0 ? "any" : "\(upperBound)")" }
}

extension ArrayFeatureType {
  fileprivate func checkShapes(_ field: String, _ faults: inout ValidationIssues) {
    switch flexibility {
    case .enumerated(let shapes)?:
      faults.require(!shapes.isEmpty, "\(field).enumeratedShapes", "there are none")
      faults.require(!shapes.contains([]), "\(field).enumeratedShapes", "a shape has no dimensions")
      faults.require(
        shape.isEmpty || shapes.isEmpty || shapes.contains(shape), "\(field).enumeratedShapes",
        "the shape \(shape) is not one of them")
    case .range(let ranges)?:
      for (axis, range) in ranges.enumerated() where !range.isPossible {
        faults.require(
          false, "\(field).shapeRange.sizeRanges[\(axis)]", "\(range.text) is not a valid range")
      }
      if shape.isEmpty { return }
      guard shape.count == ranges.count else {
        return faults.require(
          false, "\(field).shapeRange", "\(ranges.count) sizes, but the shape has \(shape.count)")
      }
      for (axis, range) in ranges.enumerated() where range.isPossible {
        faults.require(
          range.contains(shape[axis]), "\(field).shapeRange.sizeRanges[\(axis)]",
          "\(range.text) does not include the shape's \(shape[axis])")
      }
    case nil: break
    }
  }

  fileprivate func checkDefault(
    _ field: String, version: Int, isOptional: Bool, _ faults: inout ValidationIssues
  ) {
    guard let defaultValue else { return }
    let fits =
      switch (defaultValue, dataType) {
      case (.double, .double), (.float, .float32), (.float, .float16), (.int, .int32): true
      case (.int(let value), .int8): (-128...127).contains(value)
      default: false
      }
    faults.require(
      fits, field, "the default value \(defaultValue) is not of the data type \(dataType)")
    faults.require(
      !isOptional || version >= 5, field, "a default value needs specification version 5")
  }
}

extension ImageFeatureType {
  fileprivate func checkSizes(_ field: String, _ faults: inout ValidationIssues) {
    let hasDefault = width > 0 && height > 0
    switch flexibility {
    case .enumerated(let sizes)?:
      faults.require(!sizes.isEmpty, "\(field).enumeratedSizes", "there are none")
      faults.require(
        sizes.isEmpty || !hasDefault || sizes.contains { $0.width == width && $0.height == height },
        "\(field).enumeratedSizes", "\(width) × \(height) is not one of them")
      if let first = sizes.first, !hasDefault {
        faults.require(
          first.width > 0 && first.height > 0, "\(field).enumeratedSizes",
          "an image of \(first.width) × \(first.height)")
      }
    case .range(let widths, let heights)?:
      for (name, range, size) in [
        ("widthRange", widths ?? SizeRange(), width),
        ("heightRange", heights ?? SizeRange(), height),
      ] {
        let path = "\(field).imageSizeRange.\(name)"
        guard range.isPossible else {
          faults.require(false, path, "\(range.text) is not a valid range")
          continue
        }
        faults.require(
          hasDefault ? range.contains(size) : range.lowerBound > 0, path,
          hasDefault ? "\(range.text) does not include the image's \(size)" : "it starts at 0")
      }
    case nil: break
    }
  }
}
