import CoreMLModel
import ModelTransforms
import TensorCore

/// Writes the operations of a function in order.
final class ProgramBuilder {
  /// Constants with at least this many elements are stored in the weight file.
  private static let storedElements = 10

  let target: ProgramTarget
  private let isTargetFixed: Bool
  /// The path of the weight file in a package.
  let weightFile: String
  /// Whether sizes are unknown until the program runs.
  let hasOpenSizes: Bool
  private(set) var operations: [MILOperation] = []
  var weights = MILWeightFileWriter()
  private var names = NamePool { "_\($0)" }
  /// Variables in single precision that become the largest numbers of half precision, not infinity:
  /// a softmax of nothing but −∞, as of a row that a mask excludes, is not a number.
  var saturating: Set<String> = []
  /// Existing casts and reshapes of variables.
  private var views: [ViewKey: Variable] = [:]

  private struct ViewKey: Hashable {
    var name: String
    var type: MILDataType
    var shape: [Int]
  }

  init(_ target: ProgramTarget, isFixed: Bool, weightFile: String, hasOpenSizes: Bool = false) {
    (self.target, isTargetFixed, self.hasOpenSizes) = (target, isFixed, hasOpenSizes)
    self.weightFile = "@model_path/weights/" + weightFile
  }

  /// Throws if `what` needs a newer target than this.
  func requireTarget(_ needed: ProgramTarget, _ what: String) throws {
    if target >= needed { return }
    if !isTargetFixed { throw NewerTargetNeeded(target: needed) }
    throw ModelError(
      .unsupported, "an ML Program for \(target.rawValue) cannot contain \(what)",
      hint: "use \(setting: "target") \(needed.rawValue)")
  }

  /// Whether the target is `needed` or newer. Requests that target if none was chosen.
  func hasTarget(_ needed: ProgramTarget) throws -> Bool {
    if target < needed, !isTargetFixed { throw NewerTargetNeeded(target: needed) }
    return target >= needed
  }

  // MARK: - Names

  /// A unique identifier: letters, digits and underscores, not starting with a digit.
  func uniqueName(_ name: String) -> String { names.take(MILProgram.identifier(name)) }

  /// Reserves the names of a block's values.
  func reserve(_ block: MILBlock) { names.insert(block.valueNames) }

  /// Releases the name of a value so that it can be written again.
  func release(_ name: String) { names.remove([name]) }

  /// Renames a variable that was written since `mark`.
  func rename(_ variable: Variable, to name: String, since mark: Int = 0) -> Variable {
    release(variable.name)
    let name = uniqueName(name)
    for index in operations.indices[mark...] {
      operations[index].renameValues([variable.name: name])
    }
    var renamed = variable
    renamed.name = name
    for (key, view) in views {
      var (key, view) = (key, view)
      views[key] = nil
      if key.name == variable.name { key.name = name }
      if view.name == variable.name { view.name = name }
      views[key] = view
    }
    return renamed
  }

  /// Whether an operation since `mark` produces the variable.
  func wrote(_ variable: Variable, since mark: Int) -> Bool {
    operations[mark...].contains { $0.outputs.contains { $0.name == variable.name } }
  }

  // MARK: - Operations

  /// Adds an operation and returns its results.
  ///
  /// - Parameters:
  ///   - label: the name of the layer, from which names are derived.
  ///   - type: the type of numeric arguments.
  ///   - outputs: the types and shapes of the results.
  func add(
    _ operation: String, _ label: String, _ arguments: [(String, Argument)], type: MILDataType,
    outputs: [(type: MILDataType, shape: [Int])]
  ) throws -> [Variable] {
    let name = uniqueName("\(label)_\(operation)")
    let inputs = try arguments.map { key, argument in
      MILArgumentEntry(key, try bindings(argument, name: "\(name)_\(key)", type))
    }
    let variables = outputs.enumerated().map { index, output in
      Variable(
        name: index == 0 ? name : uniqueName("\(name)_\(index)"), type: output.type,
        shape: output.shape)
    }
    let outputs = variables.map { MILNamedType($0.name, MILValueType($0)) }
    try append(MILOperation(operation, name: name, inputs: inputs, outputs: outputs))
    return variables
  }

  /// Adds an operation with one result, of the type of the numeric arguments unless specified.
  func add(
    _ operation: String, _ label: String, _ arguments: [(String, Argument)], type: MILDataType,
    result: MILDataType? = nil, shape: [Int]
  ) throws -> Variable {
    try add(operation, label, arguments, type: type, outputs: [(result ?? type, shape)])[0]
  }

  /// A block of an operation: the operations that `make` writes, and the variables that it returns
  /// as results.
  ///
  /// - Parameter inputs: the block's own inputs.
  func block(_ inputs: [Variable] = [], _ make: () throws -> [Variable]) throws -> MILBlock {
    let (outer, known) = (operations, views)
    defer { (operations, views) = (outer, known) }
    operations = []
    let results = try make()
    var block = MILBlock()
    block.inputs = inputs.map { MILNamedType($0.name, MILValueType($0)) }
    // A block must return its own values, each only once.
    var own = Set(
      operations.filter { $0.type != "const" }.flatMap { $0.outputs.map(\.name) })
    block.outputs = try results.map { result in
      try own.remove(result.name) ?? copy(result, result.name).name
    }
    block.operations = operations
    return block
  }

  /// The block with its operations replaced by those that `make` writes.
  func rewriting(_ block: MILBlock, _ make: () throws -> Void) throws -> MILBlock {
    var result = block
    result.operations = try collecting(make).operations
    return result
  }

  /// Returns the operations that `make` writes instead of adding them.
  func collecting<Result>(
    _ make: () throws -> Result
  ) throws -> (operations: [MILOperation], result: Result) {
    let outer = operations
    defer { operations = outer }
    operations = []
    let result = try make()
    return (operations, result)
  }

  /// Adds an operation with blocks and returns its results.
  func add(
    _ operation: String, _ label: String, _ arguments: [(String, Argument)], blocks: [MILBlock],
    outputs: [(type: MILDataType, shape: [Int])]
  ) throws -> [Variable] {
    let results = try add(operation, label, arguments, type: .float32, outputs: outputs)
    operations[operations.count - 1].blocks = blocks
    return results
  }

  func append(_ operation: MILOperation) throws {
    try require(
      operations.count < Limits.layers, .limitExceeded,
      "the program has more than \(Limits.layers) operations")
    operations.append(operation)
  }

  private func bindings(
    _ argument: Argument, name: String, _ type: MILDataType
  ) throws -> [MILBinding.Content] {
    let value: MILValue
    switch argument {
    case .variable(let variable): return [.name(variable.name)]
    case .variables(let variables): return variables.map { .name($0.name) }
    case .int(let int): value = MILValue(ints: [int], [])
    case .ints(let ints): value = MILValue(ints: ints, [ints.count])
    case .number(let number): value = MILValue(numbers: [number], [], type)
    case .flag(let flag): value = MILValue(flags: [flag], [])
    case .flags(let flags): value = MILValue(flags: flags, [flags.count])
    case .text(let text): value = MILValue(text)
    }
    return [.name(try constant(value, name: name).name)]
  }

  /// Adds a `const` operation.
  func constant(_ value: MILValue, name: String) throws -> Variable {
    let name = uniqueName(name)
    try append(MILOperation(constant: value, name: name))
    let type = value.type?.tensor
    return Variable(name: name, type: type?.dataType ?? .unused, shape: type?.shape ?? [])
  }

  /// A numeric constant, in the weight file if it is large.
  func constant(
    _ values: FloatValues, _ shape: [Int], _ type: MILDataType, name: String
  ) throws -> Variable {
    let count = try checkedProduct(shape, limit: Limits.tensorElements)
    let value: MILValue
    if count < Self.storedElements {
      value = try MILValue(numbers: values.array(), shape, type)
    } else if type == .float16 {
      value = try stored(Half.bytes(values.array()), type, shape, count: count)
    } else {
      value = MILValue(type, shape, file: weightFile, offset: try weights.append(values))
    }
    return try constant(value, name: name)
  }

  /// The elements as stored in the weight file.
  func stored(_ bytes: Bytes, _ type: MILDataType, _ shape: [Int], count: Int) throws -> MILValue {
    let offset = try weights.append(bytes, type, count: count)
    return MILValue(type, shape, file: weightFile, offset: offset)
  }

  // MARK: - Views

  /// The variable, cast to another type.
  func cast(_ variable: Variable, to type: MILDataType) throws -> Variable {
    if variable.type == type { return variable }
    return try view(variable, type, variable.shape) {
      var value = variable
      if type == .float16, variable.type == .float32, saturating.contains(variable.name) {
        value = try add(
          "clip", "\(variable.name)_clip",
          [("x", .variable(variable)), ("alpha", .number(-65504)), ("beta", .number(65504))],
          type: .float32, shape: variable.shape)
      }
      return try add(
        "cast", "\(variable.name)_to_\(type.name)",
        [("x", .variable(value)), ("dtype", .text(type.name))], type: type, shape: variable.shape)
    }
  }

  /// The variable, reshaped.
  func reshape(_ variable: Variable, to shape: [Int]) throws -> Variable {
    if variable.shape == shape { return variable }
    try require(
      checkedProduct(variable.shape) == checkedProduct(shape), .internal,
      "\(variable.shape) as \(shape)")
    return try view(variable, variable.type, shape) { try reshaped(variable, to: shape) }
  }

  /// The same, always with a new operation.
  func reshaped(_ variable: Variable, to shape: [Int]) throws -> Variable {
    let change = ShapeChange(from: variable.shape, to: shape)
    return try add(
      change.operation, variable.name, [("x", .variable(variable)), change.argument],
      type: variable.type, shape: shape)
  }

  func copy(_ variable: Variable, _ label: String) throws -> Variable {
    try add(
      "identity", label, [("x", .variable(variable))], type: variable.type, shape: variable.shape)
  }

  private func view(
    _ variable: Variable, _ type: MILDataType, _ shape: [Int], _ make: () throws -> Variable
  ) rethrows -> Variable {
    let key = ViewKey(name: variable.name, type: type, shape: shape)
    if let view = views[key] { return view }
    let view = try make()
    views[key] = view
    return view
  }
}

/// The operation that reshapes, which only adds or removes axes of length 1 if that suffices.
private struct ShapeChange {
  var operation: String
  var argument: (String, Argument)

  init(from old: [Int], to new: [Int]) {
    if let axes = Self.addedAxes(from: old, to: new) {
      (operation, argument) = ("expand_dims", ("axes", .ints(axes)))
    } else if let axes = Self.addedAxes(from: new, to: old) {
      (operation, argument) = ("squeeze", ("axes", .ints(axes)))
    } else {
      (operation, argument) = ("reshape", ("shape", .ints(new)))
    }
  }

  /// The axes of length 1 to add to `old` to get `new`; nil if the shapes differ in other ways.
  private static func addedAxes(from old: [Int], to new: [Int]) -> [Int]? {
    guard new.count > old.count else { return nil }
    var axes: [Int] = []
    var position = 0
    for (axis, size) in new.enumerated() {
      // If several axes qualify, the last ones are the new ones.
      if position < old.count, old[position] == size {
        position += 1
      } else if size == 1 {
        axes.append(axis)
      } else {
        return nil
      }
    }
    return position == old.count ? axes : nil
  }
}
