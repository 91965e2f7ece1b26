import TensorCore

/// Facts about the versions of the format.
package enum SpecificationVersion {
  package static let newest = 10

  /// The oldest systems that load models of a version.
  package static func oldestSystem(_ version: Int) -> String? {
    switch version {
    case 1: "iOS 11, macOS 10.13"
    case 2: "iOS 11.2, macOS 10.13.2"
    case 3: "iOS 12, macOS 10.14"
    case 4: "iOS 13, macOS 10.15"
    case 5: "iOS 14, macOS 11"
    case 6: "iOS 15, macOS 12"
    case 7: "iOS 16, macOS 13"
    case 8: "iOS 17, macOS 14"
    case 9: "iOS 18, macOS 15"
    case 10: "iOS 26, macOS 26"
    default: nil
    }
  }
}

extension Model {
  /// The lowest version of the format that supports everything in the model. For parts carried
  /// through unread, the version that the file declares.
  package var minimumSpecificationVersion: Int { demands(above: 1).map(\.version).max() ?? 1 }
}

extension FeatureDescription {
  var minimumSpecificationVersion: Int {
    switch type?.kind {
    case .image(let image):
      image.colorSpace == .grayscaleFloat16 ? 7 : image.flexibility != nil ? 3 : 1
    case .multiArray(let array):
      switch array.dataType {
      case .int8: 10
      case .float16: 7
      default: array.defaultValue != nil ? 5 : array.flexibility != nil ? 3 : 1
      }
    case .state: 9
    // Version 3 introduced sequences.
    case .opaque: 3
    default: 1
    }
  }
}

extension NeuralNetworkLayer {
  /// Whether version 4 or later introduced the type, its fields or its inputs; a network with such
  /// a layer accepts arrays only in their exact ranks.
  package var needsExactMapping: Bool { kindVersion >= 4 }

  /// The version that introduced the type, its fields and its inputs, regardless of the weights.
  private var kindVersion: Int {
    guard let parameters else { return 1 }
    var needed = parameters.requiredSpecificationVersion
    if input.count > 1 {
      if parameters is Convolution { needed = max(needed, 4) }
      if parameters is Tile || parameters is TopK { needed = max(needed, 5) }
    }
    return needed
  }

  var minimumSpecificationVersion: Int {
    guard let parameters else { return 1 }
    var version = kindVersion
    func need(_ needed: Int) { version = max(version, needed) }
    if isUpdatable { need(4) }
    for weights in parameters.weights.map(\.values) {
      if weights.float16Value.count > 0 { need(2) }
      if weights.rawValue.count > 0, weights.quantization != nil { need(3) }
      if weights.int8RawValue.count > 0 { need(5) }
      if weights.isUpdatable { need(4) }
    }
    return version
  }
}
