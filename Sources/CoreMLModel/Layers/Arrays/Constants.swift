import TensorCore

/// A constant of any shape.
package struct LoadConstantND: LayerParameters {
  package static let typeName = "loadConstantND"
  package static let specificationVersion = 4
  package static let inputCount = 0...0

  package var shape: [Int] = []
  package var data: Weights?
  package var unknownFields = UnknownFields()

  package init() {}

  package init(shape: [Int], _ data: Weights) {
    self.shape = shape
    self.data = data
  }
}

/// One value everywhere.
package struct FillStatic: LayerParameters {
  package static let typeName = "fillStatic"
  package static let specificationVersion = 4
  package static let inputCount = 0...0

  package var value: Float = 0
  package var targetShape: [Int] = []
  package var unknownFields = UnknownFields()

  package init() {}
}

/// One value everywhere, in the input's shape.
package struct FillLike: LayerParameters {
  package static let typeName = "fillLike"
  package static let specificationVersion = 4

  package var value: Float = 0
  package var unknownFields = UnknownFields()

  package init() {}
}

/// start, start + step, start + 2 · step, … below the end (above it where the step is negative).
package struct RangeStatic: LayerParameters {
  package static let typeName = "rangeStatic"
  package static let specificationVersion = 4
  package static let inputCount = 0...0

  package var endValue: Float = 0
  package var startValue: Float = 0
  package var stepSizeValue: Float = 0
  package var unknownFields = UnknownFields()

  package init() {}
}

/// The sizes of the input, as a vector.
package struct GetShape: ParameterlessLayer {
  package static let typeName = "getShape"
  package static let specificationVersion = 4

  package var unknownFields = UnknownFields()

  package init() {}
}

extension LoadConstantND: EncodedMessage {
  static let fields: [Field<Self>] = [
    .ints("shape", \.shape),
    .message("data", \.data),
  ]
}

extension FillStatic: EncodedMessage {
  static let fields: [Field<Self>] = [
    .float("value", \.value),
    .ints("targetShape", \.targetShape),
  ]
}

extension FillLike: EncodedMessage {
  static let fields: [Field<Self>] = [.float("value", \.value)]
}

extension RangeStatic: EncodedMessage {
  static let fields: [Field<Self>] = [
    .float("endValue", \.endValue),
    .float("startValue", \.startValue),
    .float("stepSizeValue", \.stepSizeValue),
  ]
}

extension LoadConstantND {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try requireInputs(inputs, atLeast: 0)
    return [try ArrayShape.checked(shape, "shape")]
  }

  package var weights: [NamedWeights] { named(("data", data)) { _ in shape } }
}

extension FillStatic {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try requireInputs(inputs, atLeast: 0)
    return [try ArrayShape.checked(targetShape, "targetShape")]
  }
}

extension FillLike {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    [try ArrayShape.checked(try arrayInput(inputs))]
  }
}

extension RangeStatic {
  /// How many numbers there are.
  private func count() throws -> Int {
    let count = ((Double(endValue) - Double(startValue)) / Double(stepSizeValue)).rounded(.up)
    guard stepSizeValue != 0, count >= 1, count <= Double(Limits.dimension) else {
      throw ModelError(
        .malformed, "no range from \(startValue) to \(endValue) by \(stepSizeValue)",
        field: "stepSizeValue")
    }
    return Int(count)
  }

  /// The numbers, in single precision as start + n · step.
  package func values() throws -> [Float] {
    try (0..<count()).map { Float(Double(startValue) + Double($0) * Double(stepSizeValue)) }
  }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try requireInputs(inputs, atLeast: 0)
    return [[try count()]]
  }
}

extension GetShape {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    [[try arrayInput(inputs).count]]
  }
}

extension LoadConstantND: CheckedParameters {
  func check(_ faults: inout Faults) {
    faults.requireWeights(("data", data))
    faults.catching { _ = try ArrayShape.checked(shape, "shape") }
  }
}

extension FillStatic: CheckedParameters {
  func check(_ faults: inout Faults) {
    faults.catching { _ = try ArrayShape.checked(targetShape, "targetShape") }
  }
}
