import TensorCore

/// A reduction over some axes, all of them where `reduceAll` is set or none is named.
public protocol AxesReductionLayer: LayerParameters {
  /// May count from the end.
  var axes: [Int] { get set }
  /// Whether reduced axes stay, with length 1.
  var keepDims: Bool { get set }
  var reduceAll: Bool { get set }
}

extension AxesReductionLayer {
  public static var specificationVersion: Int { 4 }

  /// The reduced axes, in ascending order.
  public func reducedAxes(rank: Int) throws -> [Int] {
    reduceAll || axes.isEmpty ? Array(0..<rank) : try ArrayShape.axes(axes, rank: rank)
  }

  /// Without axes left, `[1]`.
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    let reduced = try reducedAxes(rank: shape.count)
    let kept = shape.indices.compactMap { axis in
      reduced.contains(axis) ? keepDims ? 1 : nil : shape[axis]
    }
    return [try ArrayShape.checked(kept.isEmpty ? [1] : kept)]
  }
}

/// Σ |x|.
public struct ReduceL1: AxesReductionLayer {
  public static let typeName = "reduceL1"

  public var axes: [Int] = []
  public var keepDims = false
  public var reduceAll = false
  public var unknownFields = UnknownFields()

  public init() {}
}

/// √Σ x².
public struct ReduceL2: AxesReductionLayer {
  public static let typeName = "reduceL2"

  public var axes: [Int] = []
  public var keepDims = false
  public var reduceAll = false
  public var unknownFields = UnknownFields()

  public init() {}
}

/// The largest.
public struct ReduceMax: AxesReductionLayer {
  public static let typeName = "reduceMax"

  public var axes: [Int] = []
  public var keepDims = false
  public var reduceAll = false
  public var unknownFields = UnknownFields()

  public init() {}
}

/// The smallest.
public struct ReduceMin: AxesReductionLayer {
  public static let typeName = "reduceMin"

  public var axes: [Int] = []
  public var keepDims = false
  public var reduceAll = false
  public var unknownFields = UnknownFields()

  public init() {}
}

/// Σ x.
public struct ReduceSum: AxesReductionLayer {
  public static let typeName = "reduceSum"

  public var axes: [Int] = []
  public var keepDims = false
  public var reduceAll = false
  public var unknownFields = UnknownFields()

  public init() {}
}

/// ∏ x.
public struct ReduceProd: AxesReductionLayer {
  public static let typeName = "reduceProd"

  public var axes: [Int] = []
  public var keepDims = false
  public var reduceAll = false
  public var unknownFields = UnknownFields()

  public init() {}
}

/// The mean.
public struct ReduceMean: AxesReductionLayer {
  public static let typeName = "reduceMean"

  public var axes: [Int] = []
  public var keepDims = false
  public var reduceAll = false
  public var unknownFields = UnknownFields()

  public init() {}
}

/// log Σ x.
public struct ReduceLogSum: AxesReductionLayer {
  public static let typeName = "reduceLogSum"

  public var axes: [Int] = []
  public var keepDims = false
  public var reduceAll = false
  public var unknownFields = UnknownFields()

  public init() {}
}

/// Σ x².
public struct ReduceSumSquare: AxesReductionLayer {
  public static let typeName = "reduceSumSquare"

  public var axes: [Int] = []
  public var keepDims = false
  public var reduceAll = false
  public var unknownFields = UnknownFields()

  public init() {}
}

/// log Σ exp x.
public struct ReduceLogSumExp: AxesReductionLayer {
  public static let typeName = "reduceLogSumExp"

  public var axes: [Int] = []
  public var keepDims = false
  public var reduceAll = false
  public var unknownFields = UnknownFields()

  public init() {}
}

extension ReduceL1: EncodedMessage {
  static let fields: [Field<Self>] = axesReductionFields()
}

extension ReduceL2: EncodedMessage {
  static let fields: [Field<Self>] = axesReductionFields()
}

extension ReduceMax: EncodedMessage {
  static let fields: [Field<Self>] = axesReductionFields()
}

extension ReduceMin: EncodedMessage {
  static let fields: [Field<Self>] = axesReductionFields()
}

extension ReduceSum: EncodedMessage {
  static let fields: [Field<Self>] = axesReductionFields()
}

extension ReduceProd: EncodedMessage {
  static let fields: [Field<Self>] = axesReductionFields()
}

extension ReduceMean: EncodedMessage {
  static let fields: [Field<Self>] = axesReductionFields()
}

extension ReduceLogSum: EncodedMessage {
  static let fields: [Field<Self>] = axesReductionFields()
}

extension ReduceSumSquare: EncodedMessage {
  static let fields: [Field<Self>] = axesReductionFields()
}

extension ReduceLogSumExp: EncodedMessage {
  static let fields: [Field<Self>] = axesReductionFields()
}

private func axesReductionFields<Layer: AxesReductionLayer>() -> [Field<Layer>] {
  [
    .ints("axes", \.axes),
    .bool("keepDims", \.keepDims),
    .bool("reduceAll", \.reduceAll),
  ]
}
