import ByteFormats
import TensorCore

/// A call of an operation, with arguments by position or by name.
struct OperationCall: Sendable {
  let layer: LayerCall
  /// Arguments that Keras 3 stores in the operation's configuration.
  private let fields: JSONObject

  init(_ layer: LayerCall, fields: JSONObject) {
    self.layer = layer
    self.fields = fields
  }

  var name: String { layer.name }

  /// A tensor, or numbers known at conversion time.
  enum Operand: Sendable {
    case tensor(KerasTensor)
    case constant(JSONValue)

    var scalar: Double? { if case .constant(let value) = self { value.double } else { nil } }

    /// A known size as a constant.
    var asNumber: Operand {
      guard case .tensor(let tensor) = self, let number = tensor.sizes?.number else { return self }
      return .constant(.double(number))
    }
  }

  /// The argument at `position` or with one of the names; nil if it is absent or null.
  func argument(_ position: Int?, _ names: String...) -> CallArgument? { argument(position, names) }

  private func argument(_ position: Int?, _ names: [String]) -> CallArgument? {
    var found: CallArgument?
    for name in names where found == nil { found = layer.arguments.keywords[name] }
    if found == nil, let position, position < layer.arguments.positional.count {
      found = layer.arguments.positional[position]
    }
    for name in names where found == nil { found = fields[name].map { .value($0) } }
    if case .value(.null)? = found { return nil }
    return found
  }

  /// The operand at `position` or with one of the names.
  func operand(_ position: Int, _ names: String...) throws -> Operand {
    guard let argument = argument(position, names) else {
      throw layer.error("argument \(names.first ?? "\(position)") is missing")
    }
    return try operand(argument)
  }

  func operand(_ argument: CallArgument) throws -> Operand {
    if case .tensor(let position) = argument { return .tensor(layer.inputs[position]) }
    return .constant(try constant(argument))
  }

  /// The first argument, which must be a tensor.
  var input: KerasTensor {
    get throws {
      guard case .tensor(let tensor) = try operand(0, "x", "input", "inputs", "tensor") else {
        throw layer.unsupported("operations on constants are not supported")
      }
      try layer.require(tensor.sizes == nil, unsupported: "operations on shapes are not supported")
      return tensor
    }
  }

  /// The first argument, which must be a list of tensors and constants of equal rank.
  func inputs(_ network: inout KerasWriter) throws -> [KerasTensor] {
    guard case .list(let elements)? = argument(0, "values", "xs", "inputs", "x") else {
      return [try input]
    }
    let operands = try elements.map { try operand($0) }
    let tensors = operands.compactMap { operand -> KerasTensor? in
      if case .tensor(let tensor) = operand { tensor } else { nil }
    }
    guard let like = tensors.first, tensors.allSatisfy({ $0.sizes == nil }) else {
      throw layer.unsupported("operations on constants are not supported")
    }
    return try operands.enumerated().map { index, operand in
      try tensor(operand, like: like, &network, "__constant_\(index)__")
    }
  }

  // MARK: Constants

  func constant(_ position: Int?, _ names: String...) throws -> JSONValue? {
    try argument(position, names).map(constant)
  }

  /// The value of an argument. A tensor of known sizes has these sizes as its value.
  private func constant(_ argument: CallArgument) throws -> JSONValue {
    switch argument {
    case .value(let value): return value
    case .tensor(let position):
      let sizes = layer.inputs[position].sizes
      let numbers = sizes?.values.compactMap { size -> JSONValue? in
        size.known.map { .int($0) } ?? size.number.map { .double($0) }
      }
      guard let sizes, let numbers, numbers.count == sizes.values.count else {
        throw layer.unsupported("an argument computed at run time is not supported")
      }
      return sizes.isScalar ? numbers.first ?? .null : .array(numbers)
    case .list(let elements): return .array(try elements.map(constant))
    case .object(let members):
      var object = JSONObject()
      for member in members { object[member.name] = try constant(member.value) }
      return .object(object)
    }
  }

  func int(_ position: Int?, _ names: String..., default standard: Int) throws -> Int {
    guard let value = try argument(position, names).map(constant) else { return standard }
    guard let int = value.int, int.magnitude <= Limits.dimension else { throw bad(names, value) }
    return int
  }

  func double(_ position: Int?, _ names: String..., default standard: Double) throws -> Double {
    guard let value = try argument(position, names).map(constant) else { return standard }
    guard let double = value.double else { throw bad(names, value) }
    return double
  }

  func bool(_ position: Int?, _ names: String..., default standard: Bool) throws -> Bool {
    guard let value = try argument(position, names).map(constant) else { return standard }
    guard let bool = value.bool ?? value.int.map({ $0 != 0 }) else { throw bad(names, value) }
    return bool
  }

  func string(_ position: Int?, _ names: String..., default standard: String) throws -> String {
    guard let value = try argument(position, names).map(constant) else { return standard }
    guard let string = value.string else { throw bad(names, value) }
    return string
  }

  /// An integer or a list of integers; nil if the argument is missing.
  func ints(_ position: Int?, _ names: String...) throws -> [Int]? {
    guard let value = try argument(position, names).map(constant) else { return nil }
    let elements = value.int.map { [.int($0)] } ?? value.array ?? []
    let numbers = elements.compactMap(\.int)
    guard numbers.count == elements.count, value.int != nil || value.array != nil,
      numbers.allSatisfy({ $0.magnitude <= Limits.dimension })
    else { throw bad(names, value) }
    return numbers
  }

  /// A shape of integers and possibly unknown sizes; nil if the argument is missing.
  func shape(_ position: Int?, _ names: String...) throws -> [SymbolicSize]? {
    guard let argument = argument(position, names) else { return nil }
    func sizes(_ argument: CallArgument) throws -> [SymbolicSize] {
      if case .tensor(let position) = argument, let sizes = layer.inputs[position].sizes {
        return sizes.values
      }
      if case .list(let elements) = argument { return try elements.flatMap(sizes) }
      let value = try constant(argument)
      return try (value.array ?? [value]).map { element in
        guard let int = element.int, int.magnitude <= Limits.dimension else {
          throw bad(names, value)
        }
        return .known(int)
      }
    }
    return try sizes(argument)
  }

  private func bad(_ names: [String], _ value: JSONValue) -> ModelError {
    layer.unsupported(
      "\(names.first ?? "an argument") = \(String(value.text.prefix(60))) is not supported")
  }

  // MARK: Replacement layers

  /// A call of a layer that replaces the operation.
  func call(_ inputs: [KerasTensor], _ suffix: String = "") -> LayerCall {
    LayerCall(
      name: name + suffix, className: layer.className, inputs: inputs, version: layer.version,
      weights: [], preferredImage: layer.preferredImage)
  }

  /// Applies the Keras layer `className` with this configuration to the tensors.
  func convert(
    _ inputs: [KerasTensor], as className: String, _ fields: KeyValuePairs<String, JSONValue>,
    weights: [(String, FloatValues)] = [], into network: inout KerasWriter
  ) throws -> [KerasTensor] {
    var object = JSONObject()
    for (name, value) in fields { object[name] = value }
    return try convert(inputs, as: className, object, weights: weights, into: &network)
  }

  func convert(
    _ inputs: [KerasTensor], as className: String, _ object: JSONObject,
    weights: [(String, FloatValues)] = [], into network: inout KerasWriter
  ) throws -> [KerasTensor] {
    let type = try layer.version.layerType(className).orThrow(
      layer.unsupported("layer class '\(className)' is not supported"))
    let configuration = LayerConfiguration(
      name: name, className: layer.className, kind: className, fields: object,
      version: layer.version)
    let weights = weights.map { name, values in
      StoredWeight(name: name, storedName: name, shape: values.shape) { values }
    }
    return try layer.with(name: name, inputs: inputs, weights: weights).outputs(
      of: type.configured(configuration), configuration, into: &network)
  }

  /// The nonnegative index of an axis; negative ones count from the end. Throws for the batch axis.
  func axis(_ axis: Int, of tensor: KerasTensor) throws -> Int { try layer.axis(axis, of: tensor) }
}

extension KerasWriter {
  /// The tensor in one of the layouts that layers expect as input.
  mutating func settled(_ tensor: KerasTensor, for name: String) -> KerasTensor {
    switch tensor.rank {
    case 2 where tensor.layout != .indices: relaid(tensor, to: .vector, for: name)
    case 3: standard(tensor, for: name)
    case 4 where tensor.layout != .imageChannelsFirst: relaid(tensor, to: .image, for: name)
    case 5 where tensor.layout != .imageSequenceChannelsFirst:
      relaid(tensor, to: .imageSequence, for: name)
    default: tensor
    }
  }
}
