import ByteFormats
import CoreMLModel
import TensorCore

extension OperationCall {
  /// A constant array as a tensor that broadcasts to `like`, aligned at the last axis.
  func tensor(
    _ operand: Operand, like tensor: KerasTensor, _ network: inout NetworkWriter,
    _ suffix: String = "__constant__"
  ) throws -> KerasTensor {
    if case .tensor(let tensor) = operand, tensor.sizes == nil { return tensor }
    guard case .constant(let json) = operand else {
      throw layer.unsupported(
        "combining a shape with a tensor is not supported")
    }
    var (values, shape) = try numbers(json)
    while shape.count > tensor.rank - 1, shape.first == 1 { shape.removeFirst() }
    guard shape.count < tensor.rank else {
      throw layer.unsupported(
        "a constant of shape \(KerasTensor.text(shape)) does not match the tensor \(tensor.shapeText)"
      )
    }
    let axes = Array(tensor.layout.axes.suffix(shape.count))
    // Converts Keras's order of axes to C, H, W.
    var sizes: [BlobAxis: Int] = [:]
    for (axis, size) in zip(axes, shape) { sizes[axis] = size }
    guard sizes[.sequence, default: 1] == 1 else {
      if axes == [.sequence, .channel] {
        let table = network.constantSequence(
          FloatValues(values).shaped(shape), name + suffix + "table__")
        return network.relaid(table, to: .sequence, for: name + suffix)
      }
      throw layer.unsupported(
        "a constant that differs between the steps of a sequence is not supported")
    }
    let places: [BlobAxis] = [.channel, .height, .width]
    let order =
      places.compactMap { axes.firstIndex(of: $0) }
      + axes.indices.filter {
        axes[$0] == .sequence
      }
    let transposed = FloatValues(values).shaped(shape).transposed(order)
    values = try transposed.array()
    let constant = LoadConstant(Weights(transposed), places.map { sizes[$0] ?? 1 })
    let blob = network.add(name + suffix, constant, [])
    return KerasTensor(blob: blob, shape: [nil] + shape, layout: TensorLayout(axes: axes))
  }

  /// The numbers in nested lists, and the lengths of the lists.
  func numbers(_ json: JSONValue) throws -> (values: [Float], shape: [Int]) {
    var shape: [Int] = []
    var level = json
    while let elements = level.array {
      shape.append(elements.count)
      guard shape.count <= Limits.rank, let first = elements.first else { break }
      level = first
    }
    var values: [Float] = []
    func collect(_ json: JSONValue, _ depth: Int) throws {
      if depth == shape.count {
        guard let number = json.double ?? json.bool.map({ $0 ? 1 : 0 }) else {
          throw notAnArray(json)
        }
        values.append(Float(number))
        return
      }
      guard let elements = json.array, elements.count == shape[depth] else {
        throw notAnArray(json)
      }
      for element in elements { try collect(element, depth + 1) }
    }
    try collect(json, 0)
    return (values, shape)
  }

  private func notAnArray(_ json: JSONValue) -> ModelError {
    layer.unsupported("the constant \(String(json.text.prefix(60))) is not an array of numbers")
  }
}
