import CoreMLModel
import MILImport
import TensorCore

/// Writes the operations of a program's function as nodes of a graph.
final class ProgramWriter {
  let program: MILProgram
  let graph: GraphBuilder
  /// The labels of a classifier.
  var labels: [String]?
  /// The results of operations, by their names in the program.
  private var values: [String: GraphValue] = [:]
  private var constants: [String: MILElements] = [:]
  /// Constants that the program stores in compressed form.
  private var expansions: Set<String> = []
  private var initializers: [String: GraphValue] = [:]
  /// Constants that are lists.
  private(set) var lists: [String: MILValue] = [:]
  /// The names in the graph, by the names of the program's outputs.
  private let outputNames: [String: String]
  /// The last values of states, by the states' names.
  private(set) var states: [String: GraphValue] = [:]

  init(_ program: MILProgram, opset: Int, outputNames: [String: String]) {
    (self.program, self.outputNames) = (program, outputNames)
    graph = GraphBuilder(opset: opset)
    for name in outputNames.values.sorted() { _ = graph.unique(name) }
  }

  // MARK: - Values

  func define(_ name: String, _ value: GraphValue) { values[name] = value }

  func setState(_ name: String, _ value: GraphValue) { states[name] = value }

  func find(_ name: String) -> GraphValue? { values[name] }

  /// A value as the input of a node.
  func value(_ name: String) throws -> GraphValue {
    if let value = values[name] { return value }
    if let value = initializers[name] { return value }
    let elements = try constant(name).orThrow(
      ModelError(.malformed, "the value '\(name)' is not defined before it is used"))
    let value = try initializer(elements, name: name)
    initializers[name] = value
    return value
  }

  /// The elements of a constant; nil for other values.
  func constant(_ name: String) throws -> MILElements? {
    if let elements = constants[name] { return elements }
    guard expansions.contains(name) else { return nil }
    try program.forEachConstant(named: [name]) {
      if constants[$0] == nil { constants[$0] = $1 }
    }
    return constants[name]
  }

  func elements(_ value: MILValue) throws -> MILElements {
    try MILElements(value, files: program.weightFiles)
  }

  func initializer(_ elements: MILElements, name: String) throws -> GraphValue {
    let type = try ONNXDataType(elements.type)
    let data: Bytes
    switch type {
    case .float: data = try elements.weights().values(shape: elements.shape).contiguous()
    case .float16: data = try elements.bytes ?? Half.bytes(elements.floats())
    case .double: data = try Bytes(elements.floats().map { Double($0) })
    case .int64: data = try Bytes(elements.ints().map { Int64($0) })
    case .int32: data = try Bytes(elements.ints().map { Int32(clamping: $0) })
    case .bool, .uint8: data = try Bytes(elements.ints().map { UInt8(truncatingIfNeeded: $0) })
    case .int8: data = try Bytes(elements.ints().map { Int8(truncatingIfNeeded: $0) })
    case .int4, .uint4:
      var codes = try elements.ints().map { UInt8(truncatingIfNeeded: $0) & 15 }
      if codes.count % 2 == 1 { codes.append(0) }
      data = Bytes(stride(from: 0, to: codes.count, by: 2).map { codes[$0] | codes[$0 + 1] << 4 })
    }
    return GraphValue(
      name: try graph.initializer(data, type, elements.shape, name: name), type: elements.type,
      shape: elements.shape)
  }

  // MARK: - Operations

  func write(_ block: MILBlock) throws {
    try refuse(block)
    for operation in block.operations {
      do { try write(operation) } catch let error as ModelError {
        throw error.inLayer(operation.label, class: operation.type)
      }
    }
  }

  /// Writes a block inside an operation; names that it defines are local.
  func results(of block: MILBlock, _ inputs: [GraphValue]) throws -> [GraphValue] {
    let outer = (values, constants, expansions, initializers, states.mapValues(\.name))
    defer { (values, constants, expansions, initializers) = (outer.0, outer.1, outer.2, outer.3) }
    try require(
      block.inputs.count == inputs.count,
      "a block takes \(counted(block.inputs.count, "value")), not \(inputs.count)")
    for (input, value) in zip(block.inputs, inputs) { values[input.name] = value }
    try write(block)
    try require(
      states.mapValues(\.name) == outer.4, .unsupported,
      "a loop or branch that changes a state is not supported")
    return try block.outputs.map(value)
  }

  /// Reports all operations without a rule.
  private func refuse(_ block: MILBlock) throws {
    let others = block.operations.filter { $0.type != "const" && onnxRules[$0.type] == nil }
    guard let first = others.first else { return }
    let hint =
      others.contains { $0.type.contains("list") }
      ? "lists are not written in this version" : nil
    let error = ModelError(
      .unsupported,
      others.count == 1
        ? "ONNX has no operator that computes it"
        : "\(others.count) operations have no ONNX operators: "
          + others.prefix(20).map { "'\($0.label)' (\($0.type))" }.joined(separator: ", "),
      hint: hint)
    throw others.count == 1 ? error.inLayer(first.label, class: first.type) : error
  }

  private func write(_ operation: MILOperation) throws {
    guard operation.type != "const" else {
      guard let name = operation.outputs.first?.name, let value = operation.attribute("val") else {
        throw ModelError(.malformed, "the constant has no value")
      }
      if case .tensor? = value.type?.kind {
        constants[name] = try elements(value)
      } else {
        lists[name] = value
      }
      return
    }
    if operation.type.hasPrefix("constexpr_") {
      for output in operation.outputs { expansions.insert(output.name) }
    }
    guard let rule = onnxRules[operation.type] else { return }
    let mark = graph.nodes.count
    let results = try rule(ExportedOperation(operation: operation, program: self))
    for (output, result) in zip(operation.outputs, results) {
      guard let tensor = output.type?.tensor else { continue }
      var value = result
      let name = (graph.depth == 0 ? outputNames[output.name] : nil) ?? graph.unique(output.name)
      if graph.rename(value.name, to: name, since: mark) { value.name = name }
      value.type = tensor.dataType
      value.shape = try tensor.checkedSizes
      values[output.name] = value
    }
  }

  /// Adds the value under the name of an output.
  func output(_ name: String, as other: String) throws {
    let value = try value(name)
    if value.name == other { return }
    let copy = try graph.add("Identity", other, [value.name], [], outputs: 1)[0]
    _ = graph.rename(copy, to: other, since: graph.nodes.count - 1)
  }
}
