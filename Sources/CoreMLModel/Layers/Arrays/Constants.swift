import TensorCore

/// A constant of any shape.
package struct LoadConstantND: ArrayLayer {
  package static let inputCount = 0...0

  package var shape: [Int] = []
  package var data: Weights?

  package init() {}

  package init(shape: [Int], _ data: Weights) {
    self.shape = shape
    self.data = data
  }

  package static let fields: Fields = [.ints("shape", \.shape), .weights("data", \.data, \.shape)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try requireInputs(inputs, atLeast: 0)
    return [try ArrayShape.checked(shape, "shape")]
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.catching { _ = try ArrayShape.checked(shape, "shape") }
  }
}

/// A constant with the same value everywhere.
package struct FillStatic: ArrayLayer {
  package static let inputCount = 0...0

  package var value: Float = 0
  package var targetShape: [Int] = []

  package init() {}

  package static let fields: Fields = [
    .float("value", \.value),
    .ints("targetShape", \.targetShape),
  ]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try requireInputs(inputs, atLeast: 0)
    return [try ArrayShape.checked(targetShape, "targetShape")]
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.catching { _ = try ArrayShape.checked(targetShape, "targetShape") }
  }
}

/// The same value everywhere, in the input's shape.
package struct FillLike: ArrayLayer, ShapeKeepingLayer {
  package var value: Float = 0

  package init() {}

  package static let fields: Fields = [.float("value", \.value)]
}

/// start, start + step, start + 2 · step, … below the end (above it for a negative step).
package struct RangeStatic: ArrayLayer {
  package static let inputCount = 0...0

  package var endValue: Float = 0
  package var startValue: Float = 0
  package var stepSizeValue: Float = 0

  package init() {}

  package static let fields: Fields = [
    .float("endValue", \.endValue),
    .float("startValue", \.startValue),
    .float("stepSizeValue", \.stepSizeValue),
  ]

  /// The number of values.
  private func count() throws -> Int {
    let count = ((Double(endValue) - Double(startValue)) / Double(stepSizeValue)).rounded(.up)
    try require(
      stepSizeValue != 0 && count >= 1 && count <= Double(Limits.dimension),
      "the range from \(startValue) to \(endValue) by \(stepSizeValue) is empty or invalid",
      field: "stepSizeValue")
    return Int(count)
  }

  /// The values start + n · step, rounded to single precision.
  package func values() throws -> [Float] {
    try (0..<count()).map { Float(Double(startValue) + Double($0) * Double(stepSizeValue)) }
  }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try requireInputs(inputs, atLeast: 0)
    return [[try count()]]
  }
}

/// The shape of the input, as a vector.
package struct GetShape: ArrayLayer, ParameterlessLayer {
  package init() {}

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    [[try arrayInput(inputs).count]]
  }
}
