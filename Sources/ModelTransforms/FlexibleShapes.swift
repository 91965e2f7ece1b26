import CoreMLModel
import TensorCore

/// Which shapes a feature may have besides its default one: all axes of an array, width and height
/// of an image.
package enum ShapeChoice: Sendable, Equatable {
  /// Only the default shape.
  case fixed
  case enumerated([[Int]])
  /// Bounds for each axis; an upper bound of −1 means unbounded.
  case ranges([SizeRange])
}

extension Model {
  /// The model with a flexible or fixed shape for a feature. Its current shape remains the default,
  /// and is added to enumerated shapes that lack it.
  ///
  /// - Throws: `.mismatch` if there is no such feature, the number of axes differs, or the bounds
  ///   exclude the feature's current shape.
  package func settingShapes(_ choice: ShapeChoice, of name: String) throws -> Model {
    if case .mlProgram? = type, choice != .fixed {
      throw ModelError(
        .unsupported, "the shapes that an ML Program takes follow from its operations",
        hint: "allow them in the source network or the .mlmodel, before it becomes a program")
    }
    return try editingFeature(name) { position in
      switch position.feature.type?.kind {
      case .image(var image)?:
        let choice = try choice.checked(default: [image.width, image.height])
        image.flexibility =
          switch choice {
          case .fixed: nil
          case .enumerated(let sizes): .enumerated(sizes.map { ImageSize($0[0], $0[1]) })
          case .ranges(let bounds): .range(width: bounds[0], height: bounds[1])
          }
        position.feature.setKind(.image(image))
      case .multiArray(var array)?:
        let choice = try choice.checked(default: array.shape)
        array.flexibility =
          switch choice {
          case .fixed: nil
          case .enumerated(let shapes): .enumerated(shapes)
          case .ranges(let bounds): .range(bounds)
          }
        position.feature.setKind(.multiArray(array))
      default: throw ModelError(.mismatch, "is neither an array nor an image")
      }
    }
  }
}

extension ShapeChoice {
  fileprivate func checked(default shape: [Int]) throws -> ShapeChoice {
    func requireAxes(_ count: Int) throws {
      try require(
        count == shape.count, .mismatch,
        "\(count) sizes, but the feature has \(shape.count): \(shape)")
    }
    switch self {
    case .fixed: return self
    case .enumerated(let shapes):
      for shape in shapes {
        try requireAxes(shape.count)
        try require(
          shape.allSatisfy({ (1...Limits.dimension).contains($0) }), .mismatch,
          "the shape \(shape) is invalid")
      }
      return .enumerated(shapes.contains(shape) ? shapes : [shape] + shapes)
    case .ranges(let bounds):
      try requireAxes(bounds.count)
      for (axis, bound) in bounds.enumerated() {
        try require(
          bound.lowerBound > 0 && (bound.upperBound < 0 || bound.upperBound >= bound.lowerBound),
          .mismatch,
          "sizes from \(bound.lowerBound) to \(bound.upperBound) along axis \(axis)")
        try require(
          bound.contains(shape[axis]), .mismatch,
          "sizes from \(bound.lowerBound) to \(bound.upperBound < 0 ? "any" : "\(bound.upperBound)") exclude "
            + "the feature's own, \(shape[axis])")
      }
      return self
    }
  }
}
