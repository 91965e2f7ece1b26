import CoreMLModel
import TensorCore

/// The operations of a block, by the values that they compute, for passes that replace some of
/// them. Operations whose results are no longer used are removed.
final class OperationGraph {
  let builder: ProgramBuilder
  /// The operations, by the names of their first results.
  private(set) var operations: [String: MILOperation] = [:]
  /// The names of the operations in order; new ones are beside those that they belong to.
  private var slots: [[String]] = []
  private var slot: [String: Int] = [:]
  /// The operation that computes a value.
  private var producers: [String: String] = [:]
  private var readers: [String: [String]] = [:]
  /// Values that are results of the block, or that blocks inside it read.
  private var kept: Set<String>
  private var types: [String: MILValueType]
  private var constants: [String: MILValue]
  /// The names of values that results of the block replaced.
  private var renamed: [String: String] = [:]

  /// - Parameters:
  ///   - types: the types of the values around the block.
  ///   - constants: the constants around it.
  init(
    _ block: MILBlock, _ builder: ProgramBuilder, types: [String: MILValueType] = [:],
    constants: [String: MILValue] = [:]
  ) {
    (self.builder, self.types, self.constants) = (builder, types, constants)
    kept = Set(block.outputs)
    for input in block.inputs { self.types[input.name] = input.type }
    for (index, operation) in block.operations.enumerated() {
      let name = operation.outputs.first?.name ?? "#\(index)"
      slots.append([name])
      slot[name] = index
      for block in operation.blocks { kept.formUnion(block.namesRead) }
      insert(operation, name)
    }
  }

  /// The remaining operations in order.
  func block(like block: MILBlock) throws -> MILBlock {
    var result = block
    result.operations = try slots.joined().compactMap { operations[$0] }.map { operation in
      var operation = operation
      operation.blocks = try operation.blocks.map {
        try $0.simplified(builder, types: types, constants: constants)
      }
      return operation
    }
    return result
  }

  private func insert(_ operation: MILOperation, _ name: String) {
    operations[name] = operation
    for output in operation.outputs {
      producers[output.name] = name
      types[output.name] = output.type
    }
    if operation.type == "const" { constants[name] = operation.attribute("val") }
    for input in Set(operation.namesRead) { readers[input, default: []].append(name) }
  }

  private func detach(_ name: String) {
    for input in Set(operations[name]?.namesRead ?? []) { readers[input]?.removeAll { $0 == name } }
  }

  // MARK: - Questions

  /// The names of the current operations, in order, without constants.
  var names: [String] {
    slots.joined().filter { name in operations[name].map { $0.type != "const" } ?? false }
  }

  /// The operation that computes the value, unless it has other results.
  subscript(value: String) -> MILOperation? {
    guard let name = producers[value], let operation = operations[name],
      operation.outputs.count == 1
    else { return nil }
    return operation
  }

  func shape(_ value: String) -> [Int]? { types[value]?.tensor?.shape }
  func type(_ value: String) -> MILDataType? { types[value]?.tensor?.dataType }
  func isConstant(_ value: String) -> Bool { constants[value] != nil }
  func constant(_ value: String) -> MILValue? { constants[value] }

  /// The order of the operations.
  func position(_ value: String) -> (Int, Int) {
    guard let name = producers[value], let index = slot[name] else { return (-1, 0) }
    return (index, slots[index].firstIndex(of: name) ?? 0)
  }

  /// The names of the operations that read the value.
  func users(_ value: String) -> [String] { readers[value] ?? [] }

  /// Whether something outside of the block's operations reads the value.
  func isKept(_ value: String) -> Bool { kept.contains(value) }

  /// Whether the operation `user` alone reads the value.
  func isOnly(_ user: String, of value: String) -> Bool { users(value) == [user] && !isKept(value) }

  /// The argument's value as numbers, if it is a constant in the message.
  func numbers(_ operation: MILOperation, _ argument: String) -> [Float]? {
    operation.name(argument).flatMap { numbers($0) }
  }

  func numbers(_ value: String) -> [Float]? {
    guard let constant = constants[value], case .immediate = constant.content else { return nil }
    return try? MILElements(constant, files: [:]).floats()
  }

  /// A constant of one element.
  func number(_ value: String) -> Double? {
    guard let all = numbers(value), all.count == 1, (shape(value) ?? []).count <= 1 else {
      return nil
    }
    return Double(all[0])
  }

  func ints(_ operation: MILOperation, _ argument: String) -> [Int]? {
    numbers(operation, argument)?.compactMap { Int(exactly: $0) }
  }

  /// The axes of an argument, counted from 0.
  func axes(_ operation: MILOperation, _ argument: String) -> [Int]? {
    guard let x = operation.name("x") ?? operation.name("values"), let rank = shape(x)?.count,
      let axes = ints(operation, argument)
    else { return nil }
    return axes.map { $0 < 0 ? $0 + rank : $0 }
  }

  /// - Parameter value: a name, which a result of the block may have replaced.
  func variable(_ value: String) throws -> Variable {
    let value = renamed[value] ?? value
    guard let type = type(value), let shape = shape(value) else {
      throw ModelError(.internal, "'\(value)' has no type")
    }
    return Variable(name: value, type: type, shape: shape)
  }

  // MARK: - Changes

  /// Replaces the operation that computes a value with those that `make` writes; the last of them
  /// computes the value.
  func replace(_ value: String, _ make: () throws -> Variable) throws {
    guard let name = producers[value] else { return }
    let old = operations[name]
    detach(name)
    operations[name] = nil
    try write(value, beside: name, make)
    for input in old?.namesRead ?? [] { removeIfUnused(input) }
  }

  /// Adds a value, computed by the operations that `make` writes before the operation `name`.
  func add(_ value: String, before name: String, _ make: () throws -> Variable) throws {
    try write(value, beside: name, make)
  }

  private func write(_ value: String, beside name: String, _ make: () throws -> Variable) throws {
    guard let index = slot[name] else { return }
    var (made, result) = try builder.collecting(make)
    let last = try made.indices.last.orThrow(
      ModelError(.internal, "no operation computes '\(value)'"))
    builder.release(result.name)
    result.name = value
    made[last].outputs[0].name = value
    made[last].attributes = [MILAttribute("name", MILValue(value))]
    let position = slots[index].firstIndex(of: name) ?? 0
    let names = made.map { $0.outputs[0].name }
    slots[index].replaceSubrange(position..<position + (value == name ? 1 : 0), with: names)
    for (operation, name) in zip(made, names) {
      slot[name] = index
      insert(operation, name)
    }
  }

  /// Makes all operations read `other` instead of the value. A result of the block keeps its name:
  /// `other` takes it, or a copy does.
  func substitute(_ value: String, _ other: String) throws {
    let other = renamed[other] ?? other
    guard let name = producers[value] else { return }
    renameInUsers(of: value, to: other)
    if !isKept(value) { return removeIfUnused(value) }
    if let owner = producers[other], !isKept(other), !isConstant(other) {
      return rename(other, of: owner, to: value)
    }
    let x = try variable(other)
    try replace(name) { try builder.copy(x, value) }
  }

  /// Gives the value's name to `other`; the value itself is no longer computed.
  private func rename(_ other: String, of owner: String, to value: String) {
    guard var operation = operations[owner], let index = slot[owner], let old = slot[value],
      operations[value]?.outputs.count == 1
    else { return }
    renamed[other] = value
    detach(value)
    let unused = operations[value]?.namesRead ?? []
    operations[value] = nil
    slots[old].removeAll { $0 == value }
    renameInUsers(of: other, to: value)
    detach(owner)
    operations[owner] = nil
    for number in operation.outputs.indices where operation.outputs[number].name == other {
      operation.outputs[number].name = value
    }
    let name = operation.outputs[0].name
    if let position = slots[index].firstIndex(of: owner) { slots[index][position] = name }
    slot[name] = index
    insert(operation, name)
    for input in unused { removeIfUnused(input) }
  }

  /// Makes the operations that read a value read another one.
  private func renameInUsers(of value: String, to other: String) {
    for user in users(value) {
      guard var operation = operations[user] else { continue }
      detach(user)
      for number in operation.inputs.indices { operation.inputs[number].rename([value: other]) }
      insert(operation, user)
    }
  }

  private func removeIfUnused(_ value: String) {
    guard let name = producers[value], let operation = operations[name],
      !operation.changesState,
      operation.outputs.allSatisfy({ users($0.name).isEmpty && !isKept($0.name) })
    else { return }
    detach(name)
    operations[name] = nil
    for input in operation.namesRead { removeIfUnused(input) }
  }
}

extension MILBlock {
  /// The block with fewer operations that compute the same.
  func simplified(
    _ builder: ProgramBuilder, types: [String: MILValueType] = [:],
    constants: [String: MILValue] = [:]
  ) throws -> MILBlock {
    let graph = OperationGraph(self, builder, types: types, constants: constants)
    try graph.recognizeDifferences()
    try graph.recognizeFunctions()
    try graph.recognizeNormalizations()
    try graph.recognizeProducts()
    try graph.moveAxes()
    return try graph.block(like: self)
  }

  /// The names of all values that the block reads, including those of surrounding blocks.
  fileprivate var namesRead: [String] {
    operations.flatMap { $0.namesRead + $0.blocks.flatMap(\.namesRead) } + outputs
  }
}

extension MILOperation {
  /// Whether the operation does more than compute its results.
  fileprivate var changesState: Bool {
    !blocks.isEmpty || ["read_state", "coreml_update_state", "classify"].contains(type)
  }
}
