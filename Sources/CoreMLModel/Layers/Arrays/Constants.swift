import TensorCore

/// A constant of any shape.
public struct LoadConstantND: LayerParameters {
  public static let typeName = "loadConstantND"
  public static let specificationVersion = 4
  public static let inputCount = 0...0

  public var shape: [Int] = []
  public var data: Weights?
  public var unknownFields = UnknownFields()

  public init() {}

  public init(shape: [Int], _ data: Weights) {
    self.shape = shape
    self.data = data
  }
}

/// One value everywhere.
public struct FillStatic: LayerParameters {
  public static let typeName = "fillStatic"
  public static let specificationVersion = 4
  public static let inputCount = 0...0

  public var value: Float = 0
  public var targetShape: [Int] = []
  public var unknownFields = UnknownFields()

  public init() {}
}

/// One value everywhere, in the input's shape.
public struct FillLike: LayerParameters {
  public static let typeName = "fillLike"
  public static let specificationVersion = 4

  public var value: Float = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// start, start + step, start + 2 · step, … below the end (above it where the step is negative).
public struct RangeStatic: LayerParameters {
  public static let typeName = "rangeStatic"
  public static let specificationVersion = 4
  public static let inputCount = 0...0

  public var endValue: Float = 0
  public var startValue: Float = 0
  public var stepSizeValue: Float = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// The sizes of the input, as a vector.
public struct GetShape: ParameterlessLayer {
  public static let typeName = "getShape"
  public static let specificationVersion = 4

  public var unknownFields = UnknownFields()

  public init() {}
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
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try requireInputs(inputs, atLeast: 0)
    return [try ArrayShape.checked(shape, "shape")]
  }

  public var weights: [NamedWeights] { named(("data", data)) { _ in shape } }
}

extension FillStatic {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try requireInputs(inputs, atLeast: 0)
    return [try ArrayShape.checked(targetShape, "targetShape")]
  }
}

extension FillLike {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
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
  public func values() throws -> [Float] {
    try (0..<count()).map { Float(Double(startValue) + Double($0) * Double(stepSizeValue)) }
  }

  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try requireInputs(inputs, atLeast: 0)
    return [[try count()]]
  }
}

extension GetShape {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
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
