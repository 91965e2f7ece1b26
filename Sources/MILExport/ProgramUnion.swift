import CoreMLModel
import TensorCore

/// Merges two programs that were written for different input sizes: sizes that differ become
/// unknown.
struct ProgramUnion {
  /// The sizes of each value; nil if they differ.
  private(set) var sizes: [String: [Int?]] = [:]
  /// The sizes in the two programs.
  private var own: [String: ([Int], [Int])] = [:]
  /// Integer constants that differ, by name: the index of the operation, and both values.
  private var differing: [String: (index: Int, ([Int], [Int]))] = [:]

  mutating func program(_ a: MILProgram, _ b: MILProgram) throws -> MILProgram {
    guard var function = a.functions.first?.value, let other = b.functions.first?.value,
      var block = function.body, let otherBlock = other.body
    else { throw ModelError(.internal, "a program without a function") }
    try require(
      a.weightFiles == b.weightFiles, .unsupported, "constants depend on the sizes of the inputs",
      hint: Self.hint)
    function.inputs = try zip(function.inputs, other.inputs).map { try union($0, $1) }
    try unite(&block, otherBlock)
    function.specializations[0].value = block
    var program = a
    program.functions[0].value = function
    return program
  }

  /// Merges two blocks.
  private mutating func unite(_ block: inout MILBlock, _ other: MILBlock) throws {
    let outer = differing
    defer { differing = outer }
    differing = [:]
    block.inputs = try zip(block.inputs, other.inputs).map { try union($0, $1) }
    for index in 0..<max(block.operations.count, other.operations.count) {
      guard block.operations.indices.contains(index), other.operations.indices.contains(index),
        Self.isSame(block.operations[index], other.operations[index])
      else {
        let positions = block.operations.indices
        throw Self.error(
          positions.contains(index) ? block.operations[index] : block.operations.last)
      }
      for position in block.operations[index].blocks.indices {
        try unite(
          &block.operations[index].blocks[position], other.operations[index].blocks[position])
      }
      try unite(&block.operations, index, other.operations[index])
    }
    if let (index, _) = differing.values.min(by: { $0.index < $1.index }) {
      throw Self.error(block.operations[index])
    }
  }

  private static let hint =
    "use \(setting: "fixedSizes") to write the program for the default sizes only"

  private static func error(_ operation: MILOperation?) -> ModelError {
    ModelError(
      .unsupported,
      "the operation '\(operation?.outputs.first?.name ?? "")' depends on the sizes of the inputs",
      hint: hint)
  }

  private static func isSame(_ a: MILOperation, _ b: MILOperation) -> Bool {
    a.type == b.type && a.inputs == b.inputs && a.outputs.map(\.name) == b.outputs.map(\.name)
      && a.blocks.count == b.blocks.count
  }

  private mutating func union(_ a: MILNamedType, _ b: MILNamedType) throws -> MILNamedType {
    guard case .tensor(var tensor)? = a.type?.kind, case .tensor(let other)? = b.type?.kind else {
      return a
    }
    try require(
      tensor.dimensions.count == other.dimensions.count, .unsupported,
      "the rank of '\(a.name)' depends on the sizes of the inputs", hint: Self.hint)
    for axis in tensor.dimensions.indices where tensor.dimensions[axis] != other.dimensions[axis] {
      tensor.dimensions[axis].kind = .unknown(isVariadic: false)
    }
    sizes[a.name] = tensor.dimensions.map(\.size)
    own[a.name] = (a.sizes, b.sizes)
    var result = a
    result.type?.kind = .tensor(tensor)
    return result
  }

  /// Merges two operations.
  private mutating func unite(
    _ operations: inout [MILOperation], _ index: Int, _ other: MILOperation
  ) throws {
    let operation = operations[index]
    if operation.type == "const" {
      guard operation.attributes != other.attributes else { return }
      guard let a = operation.wholeNumbers, let b = other.wholeNumbers, a.count == b.count,
        let name = operation.outputs.first?.name
      else { throw Self.error(operation) }
      differing[name] = (index, (a, b))
      return
    }
    operations[index].outputs = try zip(operation.outputs, other.outputs).map { try union($0, $1) }
    for input in operation.inputs {
      guard let name = input.names.first, let (position, values) = differing[name] else { continue }
      let numbers = try resolved(input.key, operation, values).orThrow(Self.error(operation))
      operations[position].setWholeNumbers(numbers)
      differing[name] = nil
    }
  }

  /// Values that are valid for all sizes; nil if there are none.
  private func resolved(
    _ argument: String, _ operation: MILOperation, _ values: ([Int], [Int])
  ) -> [Int]? {
    var numbers = values.0
    let positions = numbers.indices.filter { values.0[$0] != values.1[$0] }
    switch (operation.type, argument) {
    case ("reshape", "shape"):
      guard positions.count == 1 else { return nil }
      numbers[positions[0]] = -1
      return numbers
    case ("slice_by_index", "end"):
      // The distance from the end of the axis may be the same for all sizes.
      guard let x = operation.name("x"), let sizes = own[x]
      else { return nil }
      for position in positions {
        let distance = values.0[position] - sizes.0[position]
        guard distance < 0, distance == values.1[position] - sizes.1[position] else { return nil }
        numbers[position] = distance
      }
      return numbers
    default: return nil
    }
  }
}

extension MILDimension {
  fileprivate var size: Int? { if case .constant(let size)? = kind { size } else { nil } }
}

extension MILNamedType {
  fileprivate var sizes: [Int] {
    guard case .tensor(let tensor)? = type?.kind else { return [] }
    return tensor.dimensions.map { $0.size ?? 0 }
  }
}

extension MILOperation {
  /// The immediate elements of a constant.
  fileprivate var wholeNumbers: [Int]? {
    guard
      case .immediate(let immediate)? = attributes.first(where: { $0.key == "val" })?.value?.content,
      case .tensor(let tensor)? = immediate.content, case .ints(let numbers)? = tensor.content
    else { return nil }
    return numbers
  }

  fileprivate mutating func setWholeNumbers(_ numbers: [Int]) {
    guard let position = attributes.firstIndex(where: { $0.key == "val" }),
      let type = attributes[position].value?.type, case .tensor(let tensor)? = type.kind
    else { return }
    attributes[position].value = MILValue(ints: numbers, tensor.rank == 0 ? [] : [numbers.count])
  }
}
