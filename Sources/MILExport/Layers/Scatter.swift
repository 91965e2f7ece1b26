import CoreMLModel
import TensorCore

extension Scatter: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let data = try layer.array()
    let position = try ArrayShape.axis(axis, rank: data.rank, "axis")
    var updates = data.shape
    updates.replaceSubrange(position...position, with: layer.inputShapes[1])
    return try layer.scatter("scatter", data, mode, updates: updates, [("axis", .int(position))])
  }
}

extension ScatterND: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let (data, positions) = (try layer.array(), layer.inputShapes[1])
    return try layer.scatter(
      "scatter_nd", data, mode,
      updates: positions.dropLast() + data.shape.dropFirst(positions.last ?? 0))
  }
}

extension ScatterAlongAxis: OneResultLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let data = try layer.array()
    let position = try ArrayShape.axis(axis, rank: data.rank, "axis")
    return try layer.scatter(
      "scatter_along_axis", data, mode, updates: layer.inputShapes[1], [("axis", .int(position))])
  }
}

extension LayerCall {
  /// The data with the third input, of shape `updates`, scattered to the positions in the second
  /// input.
  fileprivate func scatter(
    _ operation: String, _ data: Variable, _ mode: ScatterMode, updates: [Int],
    _ arguments: [(String, Argument)] = []
  ) throws -> Variable {
    let elements: [(String, Argument)] = [
      ("data", .variable(data)), ("indices", .variable(try integers(1))),
      ("updates", .variable(try reshape(number(2), to: updates))),
    ]
    return try make(
      operation, elements + arguments + [("mode", .text(mode.operationName))], shape: data.shape)
  }
}
