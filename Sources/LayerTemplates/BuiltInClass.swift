import CustomLayers

/// The Swift source of a built-in class, for use in an app.
struct BuiltInClass {
  /// The name of the file and of the class in it.
  let name: String
  /// The imports and the class's documentation comment.
  let heading: Substring
  /// The text after the opening brace.
  let content: Substring

  /// - Parameter className: any of the names by which models refer to the class.
  init?(_ className: String) {
    guard let name = Self.names[className], let text = LayerFiles.texts[name] else { return nil }
    let opening = "final class \(name)" + LayerFiles.declaration
    guard let range = text.firstRange(of: opening) else { return nil }
    self.name = name
    heading = text[..<range.lowerBound]
    content = text[range.upperBound...]
  }

  /// The name of the Metal kernel that the file loads, if any.
  var kernel: String? {
    content.firstMatch(of: /LayerKernel\("(\w+)"\)/).map { String($0.output.1) }
  }

  /// The files of classes whose names in models differ from their Swift names.
  private static let files = [
    "identity": "Identity", "GridSampleLayer": "GridSample", "ROIPooling": "RegionMaxima",
    "ROIAlign": "RegionAlign", "PSROIPooling": "PositionSensitivePooling",
    "reshape": "KrakenReshape", "addition": "KrakenAddition",
    "dneprDroid_deform_conv2d": "DeformedColumns", "dneprDroid_addmm": "RowProduct",
    "dneprDroid_lstsq": "LeastSquares",
  ]

  private static let names: [String: String] = {
    var names: [String: String] = [:]
    for type in builtInCustomLayers where type.className != FormulaLayer.className {
      for name in [type.className] + type.otherNames {
        names[name] = files[type.className] ?? type.className
      }
    }
    return names
  }()
}
