import TensorCore

/// The intermediate representation of the network: nodes in order of execution, and values that are
/// written once. The passes rewrite it.
struct Graph: Sendable {
  typealias ValueID = Int

  struct Value: Sendable {
    /// The blob's name in the document, or a name derived from it.
    var name: String
    var shape: Shape
    /// Row-major elements, if they are known before a run.
    var constant: Constant?
  }

  struct Node: Sendable {
    /// The original layer, or the last of the layers fused into it.
    var name: String
    var layerType: String
    var operation: any NodeOperation
    var inputs: [ValueID]
    var outputs: [ValueID]
    /// Multiply-adds of the layers that the node computes, by their definition.
    var multiplyAdds = 0
  }

  /// An input feature and its preprocessing.
  struct Input: Sendable {
    var name: String
    var value: ValueID
    var preprocessing: Preprocessing?
  }

  var values: [Value] = []
  var nodes: [Node] = []
  var inputs: [Input] = []
  /// Blobs that the caller sees, by name, in order.
  var exposed: [(name: String, value: ValueID)] = []

  func shape(_ value: ValueID) -> Shape { values[value].shape }

  mutating func addValue(_ name: String, _ shape: Shape, constant: Constant? = nil) -> ValueID {
    values.append(Value(name: name, shape: shape, constant: constant))
    return values.count - 1
  }

  var exposedValues: Set<ValueID> { Set(exposed.map(\.value)) }

  /// The number of nodes that read each value; an exposed value counts one more.
  func useCounts() -> [Int] {
    var counts = [Int](repeating: 0, count: values.count)
    for node in nodes { for input in node.inputs { counts[input] += 1 } }
    for value in exposedValues { counts[value] += 1 }
    return counts
  }

  /// The node that writes each value; nil for inputs and constants.
  func producers() -> [Int?] {
    var producers = [Int?](repeating: nil, count: values.count)
    for (index, node) in nodes.enumerated() {
      for output in node.outputs { producers[output] = index }
    }
    return producers
  }

  /// Assigns a layer's multiply-adds to whichever of its nodes, from `first` on, performs them.
  mutating func setMultiplyAdds(_ count: Int, ofNodesFrom first: Int) {
    if let index = nodes[first...].firstIndex(where: { $0.operation.sumsProducts }) {
      nodes[index].multiplyAdds = count
    }
  }

  /// The name of a value, or its index if it has no name.
  func label(of value: ValueID) -> String {
    values[value].name.isEmpty ? "#\(value)" : values[value].name
  }

  /// Descriptions of the nodes.
  var descriptions: [StepDescription] { nodes.map(description) }

  func description(of node: Node) -> StepDescription {
    var step = step(
      node.name, node.layerType, node.operation.kind, from: node.inputs, to: node.outputs)
    step.multiplyAdds = node.multiplyAdds
    return step
  }

  func step(
    _ name: String, _ layerType: String, _ kernel: String, from inputs: [ValueID],
    to outputs: [ValueID]
  ) -> StepDescription {
    StepDescription(
      name: name, layerType: layerType, kernel: kernel, inputs: inputs.map(label),
      outputs: outputs.map(label), outputShapes: outputs.map { shape($0).dimensions })
  }

  /// Removes the nodes at `indices`.
  mutating func removeNodes(_ indices: Set<Int>) {
    if indices.isEmpty { return }
    nodes = nodes.indices.filter { !indices.contains($0) }.map { nodes[$0] }
  }
}

/// Row-major elements of a value that never changes.
struct Constant: Sendable {
  let buffer: AlignedBuffer

  init(_ buffer: AlignedBuffer) { self.buffer = buffer }

  init(_ elements: [Float]) throws {
    buffer = try AlignedBuffer(checkedByteCount: elements.count * 4)
    elements.withUnsafeBytes {
      if let address = $0.baseAddress {
        buffer.pointer.copyMemory(from: address, byteCount: $0.count)
      }
    }
  }

  /// The elements, padded with zeros to `count`.
  init(_ elements: [Float], paddedTo count: Int) throws {
    try self.init(elements + [Float](repeating: 0, count: max(0, count - elements.count)))
  }

  var pointer: UnsafePointer<Float> {
    UnsafePointer(buffer.pointer.assumingMemoryBound(to: Float.self))
  }
  /// The elements of a blob of `shape`, without padding.
  func elements(_ shape: Shape) -> [Float] { Array(elements.prefix(shape.count)) }
  var elements: [Float] { Array(UnsafeBufferPointer(start: pointer, count: buffer.byteCount / 4)) }
}

/// y = scale · x + bias[channel] − mean[channel, row, column].
struct Preprocessing: Sendable {
  var scale: Float
  var bias: [Float]
  /// C·H·W values, or none.
  var mean: [Float]
}
