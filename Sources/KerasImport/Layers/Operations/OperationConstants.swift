import ByteFormats
import CoreMLModel
import TensorCore

extension OperationCall {
  /// A constant array as a tensor that broadcasts to `tensor`, aligned at the last axis.
  func tensor(
    _ operand: Operand, like tensor: KerasTensor, _ network: inout KerasWriter,
    _ suffix: String = "__constant__"
  ) throws -> KerasTensor {
    if case .tensor(let tensor) = operand, tensor.sizes == nil { return tensor }
    guard case .constant(let json) = operand else {
      throw layer.unsupported("combining a shape with a tensor is not supported")
    }
    var (values, shape) = try numbers(json)
    // A constant that is the same for every item of the batch needs no batch axis.
    if shape.count == tensor.rank, let count = shape.first, count > 1 {
      let size = values.count / count
      if values.dropFirst(size).elementsEqual(values.dropLast(size)) {
        (values, shape[0]) = (Array(values.prefix(size)), 1)
      }
    }
    while shape.count > tensor.rank - 1, shape.first == 1 { shape.removeFirst() }
    try layer.require(
      shape.count < tensor.rank,
      unsupported:
        "a constant of shape \(KerasTensor.text(shape)) does not match the tensor \(tensor.shapeText)"
    )
    let axes = Array(tensor.layout.axes.suffix(shape.count))
    // Transposes from Keras's axis order to C, H, W.
    var sizes: [BlobAxis: Int] = [:]
    for (axis, size) in zip(axes, shape) { sizes[axis] = size }
    if axes == [.sequence, .channel], sizes[.sequence] != 1 {
      let table = network.constantSequence(
        FloatValues(values).shaped(shape), name + suffix + "table__")
      return network.relaid(table, to: .sequence, for: name + suffix)
    }
    let order = BlobAxis.allCases.compactMap { axes.firstIndex(of: $0) }
    let transposed = FloatValues(values).shaped(shape).transposed(order)
    let target = BlobAxis.allCases.map { sizes[$0] ?? 1 }
    let constant = LoadConstant(
      Weights(transposed), [target[0] * target[1], target[2], target[3]])
    var blob = network.add(name + suffix, constant, [])
    if target[0] > 1 {
      network.fixesSequences = true
      var steps = Reshape()
      steps.mode = .channelFirst
      steps.targetShape = target
      blob = network.add(name + suffix + "steps__", steps, [blob])
    }
    return KerasTensor(blob: blob, shape: [nil] + shape, layout: TensorLayout(axes: axes))
  }

  /// The values of nested lists, and the lengths of the lists.
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
        let number = try (json.double ?? json.bool.map({ $0 ? 1 : 0 })).orThrow(notAnArray(json))
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
