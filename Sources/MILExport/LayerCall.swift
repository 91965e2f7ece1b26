import CoreMLModel
import TensorCore

/// A layer type that operations of a program can express.
protocol OperationLayer: LayerParameters {
  /// Adds the operations and returns their results, one for each output of the layer. A result has
  /// the elements of the blob in the same order; unit axes of its shape may differ.
  func operations(_ layer: LayerCall) throws -> [Variable]
}

/// A layer with one output.
protocol OneResultLayer: OperationLayer { func operation(_ layer: LayerCall) throws -> Variable }

extension OneResultLayer {
  func operations(_ layer: LayerCall) throws -> [Variable] { [try operation(layer)] }
}

/// A layer during its conversion to operations.
///
/// A variable has the elements of its blob in row-major order, but not always the blob's shape: of
/// `[Seq, Batch, C, H, W]`, it keeps only the axes that operations use. Each layer requests the
/// shape that it needs, and a reshape is written only if shapes differ.
struct LayerCall {
  let name: String
  let builder: ProgramBuilder
  /// The variables and blob shapes of the inputs.
  let inputs: [Variable]
  let inputShapes: [[Int]]
  let outputShapes: [[Int]]
  /// Up to this rank, the last axis of an input is C.
  let vectorRank: Int
  /// The compute type of the layer.
  var type: MILDataType
  let options: ProgramOptions

  var target: ProgramTarget { builder.target }

  // MARK: - Inputs

  /// The input's elements as numbers of the layer's type.
  func number(_ index: Int = 0) throws -> Variable { try builder.cast(input(index), to: type) }

  /// The unchanged input.
  func input(_ index: Int) throws -> Variable {
    try require(inputs.indices.contains(index), "input \(index) is missing", field: "input")
    return inputs[index]
  }

  /// The input in the shape that it has in the network.
  func array(_ index: Int = 0) throws -> Variable {
    try builder.reshape(number(index), to: inputShapes[index])
  }

  /// The same, without a cast.
  func anyArray(_ index: Int = 0) throws -> Variable {
    try builder.reshape(input(index), to: inputShapes[index])
  }

  /// The input as integers, in the network's shape.
  func integers(_ index: Int) throws -> Variable {
    try builder.reshape(builder.cast(input(index), to: .int32), to: inputShapes[index])
  }

  /// The input as booleans, in the network's shape.
  func flags(_ index: Int) throws -> Variable {
    try builder.reshape(builder.cast(input(index), to: .bool), to: inputShapes[index])
  }

  /// `[Seq, Batch, C, H, W]` of an input, as the layer reads its shape.
  func five(_ index: Int = 0) throws -> [Int] {
    try BlobRank.fiveAxes(inputShapes[index], vectorRank: vectorRank)
  }

  func fiveOutput(_ index: Int = 0) throws -> [Int] {
    let shape = outputShapes[index]
    if shape.count == 5 { return shape }
    // The result of a layer that converts images to vectors has fewer axes.
    return try BlobRank.fiveAxes(shape, vectorRank: vectorRank)
  }

  /// The input as `[N, C, H, W]`, N = Seq · Batch.
  func planes(_ index: Int = 0) throws -> Variable {
    try builder.reshape(number(index), to: Self.merged(five(index)))
  }

  static func merged(_ five: [Int]) -> [Int] { [five[0] * five[1]] + five[2...] }

  /// The input as `[N, C]` if it already has that shape, otherwise as `[N, C, H, W]`: axis 1 is the
  /// channels.
  func channels(_ index: Int = 0) throws -> Variable {
    let x = try number(index)
    let planes = try Self.merged(five(index))
    return x.shape == Array(planes[..<2]) ? x : try builder.reshape(x, to: planes)
  }

  // MARK: - Operations

  /// Adds an operation with one result.
  func add(
    _ operation: String, _ x: Variable, _ arguments: [(String, Argument)] = [],
    shape: [Int]? = nil, type resultType: MILDataType? = nil
  ) throws -> Variable {
    try builder.add(
      operation, name, [("x", .variable(x))] + arguments, type: type,
      result: resultType ?? x.type, shape: shape ?? x.shape)
  }

  /// A binary operation with broadcasting.
  func combine(
    _ operation: String, _ x: Variable, _ y: Variable, type resultType: MILDataType? = nil
  ) throws -> Variable {
    try builder.add(
      operation, name, [("x", .variable(x)), ("y", .variable(y))], type: type,
      result: resultType ?? x.type, shape: try ArrayShape.broadcast([x.shape, y.shape]))
  }

  /// An operation on an array and a number.
  func combine(
    _ operation: String, _ x: Variable, _ y: Float, type resultType: MILDataType? = nil
  ) throws -> Variable {
    try add(operation, x, [("y", .number(y))], type: resultType)
  }

  /// An operation without an argument `x`.
  func make(
    _ operation: String, _ arguments: [(String, Argument)], _ type: MILDataType? = nil,
    shape: [Int]
  ) throws -> Variable {
    try builder.add(
      operation, name, arguments, type: self.type, result: type, shape: shape)
  }

  func reduce(
    _ operation: String, _ x: Variable, _ axes: [Int], keepDims: Bool = true
  ) throws -> Variable {
    let shape = x.shape.indices.compactMap {
      axes.contains($0) ? (keepDims ? 1 : nil) : x.shape[$0]
    }
    return try add(
      operation, x, [("axes", .ints(axes)), ("keep_dims", .flag(keepDims))], shape: shape)
  }

  func transpose(_ x: Variable, _ axes: [Int]) throws -> Variable {
    if axes == Array(axes.indices) { return x }
    return try add("transpose", x, [("perm", .ints(axes))], shape: axes.map { x.shape[$0] })
  }

  func reshape(_ x: Variable, to shape: [Int]) throws -> Variable {
    try builder.reshape(x, to: shape)
  }

  /// Repeats axes of length 1 until the shape is `shape`.
  func broadcast(_ x: Variable, to shape: [Int]) throws -> Variable {
    let missing = shape.count - x.rank
    let full = try reshape(x, to: [Int](repeating: 1, count: max(0, missing)) + x.shape)
    if full.shape == shape { return full }
    let repetitions = zip(shape, full.shape).map { $1 == 1 ? $0 : 1 }
    return try add("tile", full, [("reps", .ints(repetitions))], shape: shape)
  }

  // MARK: - Constants

  func constant(_ values: [Float], _ shape: [Int], _ field: String) throws -> Variable {
    try builder.constant(FloatValues(values), shape, type, name: "\(name)_\(field)")
  }

  /// A weight of the layer in the layer's type, with its axes in another order.
  func weight(
    _ weights: Weights?, _ shape: [Int], _ field: String, channelAxis: Int = 0,
    transposed axes: [Int]? = nil, newShape: [Int]? = nil
  ) throws -> Variable {
    guard let weights else { throw ModelError(.malformed, "the weights are missing", field: field) }
    return try inField(field) {
      try WeightConstant(
        weights: weights, shape: shape, channelAxis: channelAxis, axes: axes, newShape: newShape
      ).variable(builder, type, name: "\(name)_\(field)")
    }
  }

  /// The values of a weight.
  func values(_ weights: Weights?, _ shape: [Int], _ field: String) throws -> [Float] {
    guard let weights else { throw ModelError(.malformed, "the weights are missing", field: field) }
    return try inField(field) { try weights.values(shape: shape).array() }
  }

  /// An error for something that no operation can express.
  func unsupported(_ reason: String, field: String? = nil) -> ModelError {
    ModelError(.unsupported, reason, field: field)
  }
}
