import CoreMLModel
import TensorCore

extension ArrayFeatureType {
  /// Whether all declared shapes lack the axis or have length 1 along it.
  func allowsOnlyOne(at axis: Int) -> Bool {
    func isOne(_ shape: [Int]) -> Bool { !shape.indices.contains(axis) || shape[axis] == 1 }
    guard isOne(shape) else { return false }
    switch flexibility {
    case nil: return true
    case .enumerated(let shapes)?: return shapes.allSatisfy(isOne)
    case .range(let ranges)?: return isOne(ranges.map { $0.upperBound })
    }
  }

  /// - Throws: `.mismatch` if the array is flexible and does not allow `shape`.
  func requireAllowed(_ shape: [Int], feature: String) throws {
    switch flexibility {
    case nil: return
    case .enumerated(let shapes)?:
      try require(
        shapes.contains(shape), .mismatch,
        "an array of shape \(shape) is none of the input's shapes", field: feature,
        hint: "they are \(shapes.map { "\($0)" }.joined(separator: ", "))")
    case .range(let ranges)?:
      try require(
        shape.count == ranges.count && zip(ranges, shape).allSatisfy { $0.allows($1) }, .mismatch,
        "an array of shape \(shape) is outside the input's ranges", field: feature,
        hint: "they are \(ranges.map(\.text).joined(separator: ", "))")
    }
  }
}

extension ImageFeatureType {
  /// - Throws: `.mismatch` if the image is flexible and does not allow this size.
  func requireAllowed(width: Int, height: Int, feature: String) throws {
    let isAllowed: Bool
    let text: String
    switch flexibility {
    case nil: return
    case .enumerated(let sizes)?:
      isAllowed =
        sizes.contains { $0.width == width && $0.height == height }
        || width == self.width && height == self.height
      text = sizes.map { "\($0.width)×\($0.height)" }.joined(separator: ", ")
    case .range(let widths, let heights)?:
      isAllowed = widths?.allows(width) ?? true && heights?.allows(height) ?? true
      text = "widths \(widths?.text ?? "any"), heights \(heights?.text ?? "any")"
    }
    try require(
      isAllowed, .mismatch, "an image of \(width)×\(height) is none of the input's sizes",
      field: feature, hint: "they are \(text); \(setting: "resize") gives it the model's size")
  }
}

extension SizeRange {
  fileprivate func allows(_ size: Int) -> Bool {
    size >= lowerBound && (upperBound <= 0 || size <= upperBound)
  }

  fileprivate var text: String { "\(lowerBound) to \(upperBound <= 0 ? "any" : "\(upperBound)")" }
}

extension FeatureDescription {
  /// The blob of the default that the model declares for a missing optional input; nil if it
  /// declares none.
  func defaultBlob(in network: NeuralNetwork) -> Tensor? {
    guard let type, type.isOptional, case .multiArray(let array)? = type.kind,
      let shape = type.networkShape(in: network),
      let count = try? checkedProduct(shape, limit: Limits.tensorElements)
    else { return nil }
    let value: Float
    switch array.defaultValue {
    case nil: return nil
    case .int(let number)?: value = Float(number)
    case .float(let number)?: value = number
    case .double(let number)?: value = Float(number)
    }
    return Tensor(shape: shape, [Float](repeating: value, count: count))
  }
}
