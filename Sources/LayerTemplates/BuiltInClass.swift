import CustomLayers

/// A built-in class, in Swift for an app.
struct BuiltInClass {
  /// The name of its file and of its class there.
  let name: String
  /// The imports and the class' documentation.
  let heading: Substring
  /// What follows the opening brace.
  let content: Substring

  /// - Parameter className: any of the names that models call the class by.
  init?(_ className: String) {
    guard let name = Self.names[className], let text = LayerFiles.texts[name] else { return nil }
    let opening = "final class \(name)" + LayerFiles.declaration
    guard let range = text.firstRange(of: opening) else { return nil }
    self.name = name
    heading = text[..<range.lowerBound]
    content = text[range.upperBound...]
  }

  /// The name of the kernel in Metal that the file loads; nil if it loads none.
  var kernel: String? {
    content.firstMatch(of: /LayerKernel\("(\w+)"\)/).map { String($0.output.1) }
  }

  /// The files of the classes whose names in models are not those in Swift.
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
