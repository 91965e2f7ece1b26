import TensorCore

extension PlaneShape {
  /// - Throws: if `shape` has no axes for C, H and W.
  init(planes shape: [Int]) throws {
    try require(
      shape.count >= 3, "an input has the shape \(shape); C, H and W are needed", field: "input")
    self.init(shape)
  }
}

extension AxisShape {
  /// - Throws: if `shape` has no such axis.
  init(_ shape: [Int], axis: Int?) throws {
    guard let view = AxisShape(shape, along: axis) else {
      throw ModelError(
        .malformed, "axis \(axis ?? -1) does not exist in the shape \(shape)",
        field: "parameters.axis")
    }
    self = view
  }
}
