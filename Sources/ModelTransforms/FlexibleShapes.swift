import CoreMLModel
import TensorCore

/// Which shapes a feature may have beside its own: of an array all its axes, of an image width and
/// height.
package enum ShapeChoice: Sendable, Equatable {
  /// Its own only.
  case fixed
  case enumerated([[Int]])
  /// Bounds of each axis; −1 above means unbounded.
  case ranges([ClosedBounds])

  package struct ClosedBounds: Sendable, Equatable {
    package var lower: Int
    package var upper: Int

    package init(_ lower: Int, _ upper: Int) {
      self.lower = lower
      self.upper = upper
    }

    func contains(_ size: Int) -> Bool { size >= lower && (upper < 0 || size <= upper) }
  }
}

extension Model {
  /// The model with a feature of flexible, or fixed, shape. Its own shape stays the default one, and
  /// is added to enumerated ones that lack it.
  ///
  /// - Throws: `.mismatch` if there is no such feature, the number of axes is another, or the
  /// bounds leave out the feature's own shape.
  package func settingShapes(_ choice: ShapeChoice, of name: String) throws -> Model {
    try editingFeature(name) { place in
      switch place.feature.type?.kind {
      case .image(var image)?:
        let choice = try choice.checked(default: [image.width, image.height])
        image.flexibility =
          switch choice {
          case .fixed: nil
          case .enumerated(let sizes): .enumerated(sizes.map { ImageSize($0[0], $0[1]) })
          case .ranges(let bounds): .range(width: bounds[0].range, height: bounds[1].range)
          }
        place.feature.setKind(.image(image))
      case .multiArray(var array)?:
        let choice = try choice.checked(default: array.shape)
        array.flexibility =
          switch choice {
          case .fixed: nil
          case .enumerated(let shapes): .enumerated(shapes)
          case .ranges(let bounds): .range(bounds.map(\.range))
          }
        place.feature.setKind(.multiArray(array))
      default: throw ModelError(.mismatch, "is neither an array nor an image")
      }
    }
  }
}

extension ShapeChoice.ClosedBounds {
  fileprivate var range: SizeRange { SizeRange(lower, upper) }
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
          bound.lower > 0 && (bound.upper < 0 || bound.upper >= bound.lower), .mismatch,
          "sizes from \(bound.lower) to \(bound.upper) along axis \(axis)")
        try require(
          bound.contains(shape[axis]), .mismatch,
          "sizes from \(bound.lower) to \(bound.upper < 0 ? "any" : "\(bound.upper)") exclude "
            + "the feature's own, \(shape[axis])")
      }
      return self
    }
  }
}
