import CoreMLModel
import TensorCore

/// A value in the graph being written, or one that may still be added to it.
struct GraphValue {
  /// The name in the graph; empty for an omitted input.
  var name: String
  var type: MILDataType
  /// The sizes; unknown ones are nil.
  var shape: [Int?]

  static let missing = GraphValue(name: "", type: .unused, shape: [])

  var rank: Int { shape.count }
  /// The shape if all sizes are known.
  var sizes: [Int]? {
    let known = shape.compactMap { $0 }
    return known.count == rank ? known : nil
  }
}

/// Writes the nodes and initializers of a graph.
final class GraphBuilder {
  let opset: Int
  private(set) var nodes: [ONNXNode] = []
  private(set) var initializers: [ONNXTensor] = []
  /// The number of graphs around the current one.
  private(set) var depth = 0
  private var names = NamePool { "_\($0)" }
  /// Existing initializers by contents.
  private var known: [Key: String] = [:]

  private struct Key: Hashable {
    var type: ONNXDataType
    var shape: [Int]
    var data: [UInt8]
  }

  init(opset: Int) { self.opset = opset }

  /// Throws if `what` needs a newer opset.
  func require(opset needed: Int, _ what: String) throws {
    if opset < needed { throw NewerOpsetNeeded(opset: needed, what: what) }
  }

  func unique(_ name: String) -> String { names.take(name) }

  /// Adds a node, whose outputs get unique names.
  func add(
    _ type: String, _ label: String, _ inputs: [String], _ attributes: [(String, AttributeValue)],
    outputs: Int
  ) throws -> [String] {
    try TensorCore.require(
      nodes.count < 4 * Limits.layers, .limitExceeded,
      "the graph has more than \(4 * Limits.layers) nodes")
    var node = ONNXNode()
    node.type = type
    node.name = unique("\(label)/\(type)")
    node.inputs = inputs
    while node.inputs.last == "" { node.inputs.removeLast() }
    node.outputs = (0..<outputs).map {
      unique($0 == 0 ? "\(label)_\(type)" : "\(label)_\(type)_\($0)")
    }
    node.attributes = attributes.map { $1.attribute($0) }
    nodes.append(node)
    return node.outputs
  }

  /// The nodes that `body` adds, which are not part of this graph.
  func nested(_ body: () throws -> Void) rethrows -> [ONNXNode] {
    let outer = nodes
    nodes = []
    depth += 1
    defer {
      nodes = outer
      depth -= 1
    }
    try body()
    return nodes
  }

  /// Renames a value that a node since `mark` produces; returns false if none does.
  func rename(_ name: String, to new: String, since mark: Int) -> Bool {
    guard let position = nodes[mark...].lastIndex(where: { $0.outputs.contains(name) }) else {
      return false
    }
    nodes[position].outputs = nodes[position].outputs.map { $0 == name ? new : $0 }
    for index in nodes.indices[position...] {
      nodes[index].inputs = nodes[index].inputs.map { $0 == name ? new : $0 }
    }
    names.remove([name])
    return true
  }

  /// Adds an initializer with these elements, or reuses an equal one; returns its name.
  ///
  /// - Parameter name: the initializer's name; small initializers are shared regardless of it.
  func initializer(
    _ data: Bytes, _ type: ONNXDataType, _ shape: [Int], name: String
  ) throws -> String {
    let key =
      data.count <= 256 ? Key(type: type, shape: shape, data: data.array(of: UInt8.self)) : nil
    if let key, let name = known[key] { return name }
    var tensor = ONNXTensor()
    tensor.name = unique(name)
    tensor.type = type.rawValue
    tensor.sizes = shape
    tensor.data = data
    initializers.append(tensor)
    if let key { known[key] = tensor.name }
    return tensor.name
  }

  /// Adds an initializer that is the value of an omitted input.
  func addDefault(_ tensor: ONNXTensor) { initializers.append(tensor) }

  /// Operators whose outputs are optional.
  private static let optionalOutputs: Set = ["LSTM", "GRU", "RNN"]

  /// Removes the nodes and initializers that the outputs do not depend on.
  func prune(keeping outputs: Set<String>, defaults: Set<String>) {
    var needed = outputs
    var kept: [ONNXNode] = []
    for var node in nodes.reversed() where node.outputs.contains(where: needed.contains) {
      needed.formUnion(node.namesRead)
      if Self.optionalOutputs.contains(node.type) {
        node.outputs = node.outputs.map { needed.contains($0) ? $0 : "" }
        while node.outputs.last == "" { node.outputs.removeLast() }
      }
      kept.append(node)
    }
    nodes = kept.reversed()
    initializers.removeAll { !needed.contains($0.name) && !defaults.contains($0.name) }
  }
}

/// Thrown if an operator needs a newer opset.
struct NewerOpsetNeeded: Error {
  var opset: Int
  var what: String
}
