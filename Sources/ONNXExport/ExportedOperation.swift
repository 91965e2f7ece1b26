import CoreMLModel
import MILImport
import TensorCore

/// Writes an operation of a program as ONNX operators, and returns its results.
typealias ONNXRule = @Sendable (ExportedOperation) throws -> [GraphValue]

/// The rule of an operation with one result.
func one(_ rule: @escaping @Sendable (ExportedOperation) throws -> GraphValue) -> ONNXRule {
  { [try rule($0)] }
}

/// Every operation that ONNX has operators for, by family.
let onnxRules: [String: ONNXRule] = [
  namesakeRules, activationRules, unaryRules, binaryRules, reductionRules, convolutionRules,
  poolingRules, normalizationRules, matrixRules, shapeRules, slicingRules, joiningRules,
  resizingRules, gatheringRules, recurrentRules, quantizationRules, randomRules, detectionRules,
  controlRules, interfaceRules,
].reduce(into: [:]) { $0.merge($1) { first, _ in first } }

/// An operation of a program that is being written: its arguments, and the nodes that it becomes.
struct ExportedOperation: OperationArguments {
  let operation: MILOperation
  let program: ProgramWriter

  var graph: GraphBuilder { program.graph }
  var label: String { operation.label }
  /// The name from which names of nodes are derived.
  private var name: String { operation.outputs.first?.name ?? label }

  // MARK: - Arguments

  private func bindings(_ name: String) -> [MILBinding.Content] {
    if let value = operation.attribute(name), operation.argument(name) == nil {
      return [.value(value)]
    }
    return (operation.argument(name) ?? []).compactMap { $0 }
  }

  /// The values of an argument; empty if it is missing.
  func values(_ name: String) throws -> [GraphValue] {
    try inArgument(name) {
      try bindings(name).map { content in
        switch content {
        case .name(let value): return try program.value(value)
        case .value(let value):
          return try program.initializer(program.elements(value), name: "\(self.name)_\(name)")
        }
      }
    }
  }

  func optional(_ name: String) throws -> GraphValue? { try values(name).first }

  func value(_ name: String) throws -> GraphValue {
    try optional(name).orThrow(missing(name))
  }

  /// The elements of an argument that is constant; nil if it is missing or depends on the inputs.
  func constant(_ name: String) throws -> MILElements? {
    try inArgument(name) {
      switch bindings(name).first {
      case .name(let value)?: try program.constant(value)
      case .value(let value)?: try program.elements(value)
      case nil: nil
      }
    }
  }

  /// The elements of an argument that must be constant; nil if it is missing.
  package func elements(_ name: String) throws -> MILElements? {
    if let elements = try constant(name) { return elements }
    try require(
      bindings(name).isEmpty, .unsupported,
      "the argument depends on the inputs, which its ONNX operator does not allow", field: name)
    return nil
  }

  /// Integers of 32 bits, whose products cannot overflow.
  package func ints(_ name: String) throws -> [Int]? {
    try inArgument(name) {
      guard let values = try elements(name)?.ints() else { return nil }
      try require(values.allSatisfy { Int32(exactly: $0) != nil }, "a number beyond 32 bits")
      return values
    }
  }
  func int(_ name: String, _ missing: Int) throws -> Int { try ints(name)?.first ?? missing }
  /// A list with one number for each of `count` axes.
  func list(_ name: String, count: Int) throws -> [Int] {
    let list = try ints(name) ?? [Int](repeating: 1, count: count)
    try require(list.count == count, "\(list) for \(count) axes", field: name)
    return list
  }
  func axis(_ name: String, of x: GraphValue, _ missing: Int) throws -> Int {
    try ArrayShape.axis(int(name, missing), rank: x.rank, name)
  }

  func unsupported(_ message: String, field: String? = nil) -> ModelError {
    ModelError(.unsupported, message, field: field)
  }

  /// The declared type and sizes of a result.
  func declared(_ index: Int = 0) throws -> GraphValue {
    guard operation.outputs.indices.contains(index),
      let tensor = operation.outputs[index].type?.tensor
    else { throw ModelError(.malformed, "the operation does not declare its results") }
    return GraphValue(name: "", type: tensor.dataType, shape: try tensor.checkedSizes)
  }

  // MARK: - Nodes

  /// Adds an operator with one result, which has the type and shape of the first input unless
  /// specified otherwise.
  func add(
    _ type: String, _ inputs: [GraphValue], _ attributes: [(String, AttributeValue)] = [],
    type resultType: MILDataType? = nil, shape: [Int?]? = nil
  ) throws -> GraphValue {
    try addAll(type, inputs, attributes, outputs: 1, type: resultType, shape: shape)[0]
  }

  func addAll(
    _ type: String, _ inputs: [GraphValue], _ attributes: [(String, AttributeValue)] = [],
    outputs: Int, type resultType: MILDataType? = nil, shape: [Int?]? = nil
  ) throws -> [GraphValue] {
    try graph.add(type, name, inputs.map(\.name), attributes, outputs: outputs).map {
      GraphValue(
        name: $0, type: resultType ?? inputs.first?.type ?? .float32,
        shape: shape ?? inputs.first?.shape ?? [])
    }
  }

  /// A list of integers as an input.
  func list(_ values: [Int]) throws -> GraphValue { try integers(values, [values.count]) }

  func integers(_ values: [Int], _ shape: [Int]) throws -> GraphValue {
    try program.initializer(MILElements(values, shape, .int64), name: "\(name)_list")
  }

  /// A number of the given type.
  func scalar(_ value: Float, _ type: MILDataType) throws -> GraphValue {
    try array([value], [], type)
  }

  func array(_ values: [Float], _ shape: [Int], _ type: MILDataType) throws -> GraphValue {
    let elements =
      try type.isFloat
      ? MILElements(values, shape, type)
      : MILElements(
        values.map { value in
          let whole = try Int32(exactly: value.rounded(.towardZero)).orThrow(
            unsupported("\(value) beside values of type \(type.name)"))
          return Int(whole)
        }, shape, type)
    return try program.initializer(elements, name: "\(name)_constant")
  }

  func cast(_ x: GraphValue, to type: MILDataType) throws -> GraphValue {
    let (old, new) = (try ONNXDataType(x.type), try ONNXDataType(type))
    if old == new { return x }
    return try add("Cast", [x], [("to", .int(new.rawValue))], type: type)
  }

  /// An argument of integers, as an input of a node.
  func sizes(_ name: String) throws -> GraphValue {
    if let values = try constant(name)?.ints() { return try list(values) }
    return try cast(value(name), to: .int64)
  }

  func reshape(_ x: GraphValue, _ shape: [Int]) throws -> GraphValue {
    if x.sizes == shape { return x }
    return try add("Reshape", [x, list(shape)], shape: shape.map { $0 < 0 ? nil : $0 })
  }

  func transpose(_ x: GraphValue, _ axes: [Int]) throws -> GraphValue {
    try require(axes.sorted() == Array(0..<x.rank), "the axes \(axes) for rank \(x.rank)")
    if axes == Array(0..<axes.count) { return x }
    return try add("Transpose", [x], [("perm", .ints(axes))], shape: axes.map { x.shape[$0] })
  }

  func unsqueeze(_ x: GraphValue, _ axes: [Int]) throws -> GraphValue {
    var shape = x.shape
    for axis in axes.sorted() { shape.insert(1, at: min(axis, shape.count)) }
    return try add("Unsqueeze", [x, list(axes)], shape: shape)
  }

  func squeeze(_ x: GraphValue, _ axes: [Int]) throws -> GraphValue {
    if axes.isEmpty { return x }
    let shape = x.shape.indices.filter { !axes.contains($0) }.map { x.shape[$0] }
    return try add("Squeeze", [x, list(axes)], shape: shape)
  }

  func binary(_ type: String, _ x: GraphValue, _ y: GraphValue) throws -> GraphValue {
    try add(type, [x, y], shape: x.rank >= y.rank ? x.shape : y.shape)
  }

  func binary(_ type: String, _ x: GraphValue, _ y: Float) throws -> GraphValue {
    try add(type, [x, scalar(y, x.type)])
  }
}

extension MILTensorType {
  /// The sizes; unknown ones are nil.
  var checkedSizes: [Int?] {
    get throws {
      try require(
        sizes.count <= Limits.rank
          && sizes.allSatisfy { $0.map { (0...Limits.dimension).contains($0) } ?? true },
        "the sizes are \(sizes.map { $0.map { "\($0)" } ?? "?" }.joined(separator: ", "))")
      return sizes
    }
  }
}
