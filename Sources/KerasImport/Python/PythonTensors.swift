import ByteFormats
import CoreMLModel
import Formulas
import ImportSupport
import TensorCore

/// The tensors that a Python function computes, as layers of a network.
final class PythonTensors {
  var network: KerasWriter
  let call: LayerCall
  /// The tensors by their names in expressions.
  var tensors: [String: KerasTensor] = [:]
  /// The masks that tensors contain.
  var masks: [String: StepMask] = [:]
  /// A description of each step that has become a layer.
  var log: [String] = []
  /// The step whose layer gets the Lambda's name; nil while it is unknown.
  private let last: Int?
  /// The step that computes the outputs.
  private(set) var lastStep: Int?
  /// The names of the tensors among the arguments that are being read.
  private var names: [String] = []

  init(_ network: KerasWriter, _ call: LayerCall, _ names: [String], last: Int?) {
    self.network = network
    self.call = call
    self.last = last
    for (name, input) in zip(names, call.inputs) { tensors[name] = input }
  }

  var isChannelsFirst: Bool { call.preferredImage == .channelsFirst }

  /// The maximum number of layers of one function.
  static let stepLimit = 2048
  /// The maximum number of layers of a network that a function builds.
  static let networkLimit = 1 << 14

  /// A tensor that is used only for its shape.
  func placeholder(_ shape: [Int?]) throws -> KerasTensor {
    let known = try InputShape(declared: shape, requested: nil, name: "input", layer: "input")
    return KerasTensor(
      blob: network.reserve("input"), shape: known.sizes,
      layout: try known.layout(.channelsLast, isIndices: false))
  }

  /// Makes an input a sequence of indices.
  func readAsIndices(_ name: String) {
    if tensors[name]?.layout == .vector { tensors[name]?.layout = .indices }
  }

  func name(_ kind: String) throws -> String {
    let limit = call.className == "Model" ? Self.networkLimit : Self.stepLimit
    try require(log.count < limit, .limitExceeded, "it computes too much")
    if log.count == last { return call.name }
    return "\(call.name)__\(kind)_\(log.count + 1)__"
  }

  /// The tensor that a computation produces.
  func tensor(_ expression: Expression, _ machine: PythonMachine) throws -> KerasTensor {
    if case .name(let name) = expression.node, let tensor = tensors[name] { return tensor }
    let names = expression.names.sorted()
    let inputs = names.filter { tensors[$0] != nil }
    guard !inputs.isEmpty else { throw PythonMachine.unsupported("it does not return a tensor") }
    var formula = LayerFormula(expression, inputs: inputs)
    formula.weights = names.compactMap { name in
      machine.constants[name].map { (name, $0) }
    }
    let layer = call.with(
      name: try name("formula"), inputs: inputs.compactMap { tensors[$0] }, weights: [])
    let before = network
    do { return try FormulaConversion(formula: formula).convert(layer, into: &network)[0] } catch {
      network = before
      try machine.take(steps: expression.count)
      // A formula's arrays take the layout of its tensors, so computing parts first may help.
      let parts = try? expression.operands.map { part in
        try part.names.contains { tensors[$0] != nil } ? settled(part, machine) : part
      }
      guard let parts, parts != expression.operands,
        let whole = try? tensor(expression.with(operands: parts), machine)
      else {
        network = before
        throw error
      }
      return whole
    }
  }

  /// The name of a computation's result, which is computed only once.
  func settled(_ expression: Expression, _ machine: PythonMachine) throws -> Expression {
    if case .name = expression.node { return expression }
    if let built = try machine.built(expression) { return built }
    let tensor = try tensor(expression, machine)
    return add(tensor, "\(expression)", machine)
  }

  /// - Parameter mask: the mask of a Keras layer's output; functions drop masks.
  func add(
    _ tensor: KerasTensor, _ text: String, _ machine: PythonMachine, mask: StepMask? = nil
  ) -> Expression {
    let name = machine.unusedName("t")
    tensors[name] = tensor
    tensors[name]?.mask = mask
    log.append("\(name) = \(text)")
    return .name(name)
  }

  // MARK: Calls

  /// The result of a library function; nil if only formulas support it.
  func call(
    _ path: String, _ positional: [PythonSymbol], _ keywords: PythonMachine.Keywords,
    _ machine: PythonMachine
  ) throws -> PythonSymbol? {
    if let other = try special(path, positional, keywords, machine) { return other }
    if let other = try weighted(path, positional, keywords, machine) {
      guard machine.graph == nil else { throw PythonMachine.unsupported("it calls \(path)") }
      return other
    }
    guard let signature = signature(path, keywords) else { return nil }
    var (positional, keywords) = (positional, keywords)
    if machine.layers != nil, path.hasSuffix("einsum") || path.hasSuffix("matmul") {
      positional = try positional.map { operand in
        guard case .array(let array) = operand, array.shape.count > 2, array.shape[0] == 1 else {
          return operand
        }
        return .expression(add(try constant(array), "a constant", machine))
      }
    }
    // A shape's None is the batch, which the file's network fixed where the source was run.
    let named = keywords.firstIndex { $0.name.hasSuffix("shape") }
    let others = keywords.filter { !$0.name.hasSuffix("shape") }.map(\.value)
    if path.hasSuffix("reshape"), case .expression(let x)? = positional.first ?? others.first,
      let shape = (positional.dropFirst().first ?? named.map { keywords[$0].value })?.elements,
      shape.first?.isNone == true, !machine.hidesSizes,
      try machine.sizes(of: x, path).first == .batch(times: 1)
    {
      let known = PythonSymbol.tuple([.unknownSize(.batch(times: 1))] + shape.dropFirst())
      if positional.count > 1 {
        positional[1] = known
      } else if let named {
        keywords[named].value = known
      }
    }
    let values = positional + keywords.map(\.value)
    guard values.contains(where: \.holdsTensor) else { return nil }
    let (arguments, inputs, names) =
      signature.parameters.first?.names == ["*"]
      ? try self.arguments(positional, [], machine)
      : try self.arguments([], bound(signature, path, positional, keywords), machine)
    let text = PythonText.call(path, positional, keywords)
    let short = path.split(separator: ".").last.map(String.init) ?? path
    var layer = LayerCall(
      name: try name(short), className: short, inputs: inputs, version: call.version, weights: [],
      preferredImage: call.preferredImage)
    layer.arguments = arguments
    let (className, fields): (String?, JSONObject)
    let outputs: [KerasTensor]
    do {
      (className, fields) = try kind(signature.target, layer)
      outputs = try convert(className, fields, layer)
    } catch let error as ModelError {
      throw ModelError(error.code, "\(path): \(error.message)")
    }
    let isList = ["split", "unstack", "moments", "top_k"].contains(short)
    let symbols = outputs.enumerated().map { index, tensor -> PythonSymbol in
      if let sizes = tensor.sizes {
        return sizes.scalar.map { PythonSymbol($0) } ?? .sizes(sizes.values)
      }
      return .expression(add(tensor, text + (isList ? "[\(index)]" : ""), machine))
    }
    machine.graph?.node?.add(className, fields, arguments, names, symbols)
    return isList ? .list(PythonList(symbols)) : symbols.first
  }

  private func signature(_ path: String, _ keywords: PythonMachine.Keywords) -> PythonSignature? {
    // Of all modules named `image`, only TensorFlow 1's has a function with `align_corners`.
    if path == "image.resize", keywords.contains(where: { $0.name == "align_corners" }) {
      return .of("tf.image1.resize")
    }
    // Keras before 2.3 runs only on TensorFlow 1, whose function samples at the corners of pixels.
    let isVersion1 = !call.version.isTensorFlowKeras && !call.version.isAtLeast(2, 3)
    if path == "tf.image.resize", isVersion1 { return .of("tf.image.resize_images") }
    return .of(path)
  }

  private func bound(
    _ signature: PythonSignature, _ path: String, _ positional: [PythonSymbol],
    _ keywords: PythonMachine.Keywords
  ) throws -> [(name: String, value: PythonSymbol)] {
    let parameters = signature.parameters
    guard positional.count <= parameters.count else {
      throw PythonMachine.unsupported("it calls \(path) with \(positional.count) arguments")
    }
    var values = [PythonSymbol?](repeating: nil, count: parameters.count)
    for (index, value) in positional.enumerated() { values[index] = value }
    for (name, value) in keywords where name != "name" {
      guard let index = parameters.firstIndex(where: { $0.names.contains { $0 == name } }) else {
        throw PythonMachine.unsupported("it calls \(path) with '\(name)'")
      }
      values[index] = value
    }
    var bound: [(name: String, value: PythonSymbol)] = []
    for (parameter, value) in zip(parameters, values) {
      let standard = try parameter.standard.map { try PythonSymbol($0) }
      let name = String(parameter.names[0])
      if parameter.isFixed {
        if let value, !value.isNone, let standard, value.equals(standard) != true {
          throw PythonMachine.unsupported("it calls \(path) with \(name)=\(PythonText.text(value))")
        }
      } else if let value = value ?? standard {
        bound.append((name, value))
      }
    }
    return bound
  }

  /// The arguments, the tensors among them, and the tensors' names.
  func arguments(
    _ positional: [PythonSymbol], _ keywords: PythonMachine.Keywords, _ machine: PythonMachine
  ) throws -> (CallArguments, inputs: [KerasTensor], names: [String]) {
    var (arguments, inputs) = (CallArguments(), [KerasTensor]())
    names = []
    arguments.positional = try positional.map { try argument($0, &inputs, machine) }
    for (name, value) in keywords {
      arguments.keywords[name] = try argument(value, &inputs, machine)
    }
    return (arguments, inputs, names)
  }

  /// A value as an argument of operations.
  func argument(
    _ symbol: PythonSymbol, _ inputs: inout [KerasTensor], _ machine: PythonMachine
  ) throws -> CallArgument {
    switch symbol {
    case .none, .null: return .value(.null)
    case .bool(let value): return .value(.bool(value))
    case .int(let value): return .value(.int(value))
    case .double(let value): return .value(.double(value))
    case .string(let text): return .value(.string(text))
    case .unknownSize(let size):
      inputs.append(KerasTensor(sizes: KnownSizes(size)))
      if let node = machine.graph?.node { names.append(try node.add(size, of: names.first)) }
      return .tensor(inputs.count - 1)
    case .expression(let expression):
      let settled = try machine.settled(expression)
      inputs.append(try tensor(settled, machine))
      names += settled.names
      return .tensor(inputs.count - 1)
    case .array(let array) where !array.elements.isEmpty: return .value(Self.json(array))
    case .tuple, .list, .sizes:
      let elements = try (symbol.elements ?? []).map { try argument($0, &inputs, machine) }
      let list = CallArgument.list(elements)
      return list.tensors.isEmpty ? .value(list.constant ?? .null) : list
    default: throw PythonMachine.unsupported("it calls a function with an unknown value")
    }
  }

  static func json(_ array: FormulaArray) -> JSONValue {
    guard let count = array.shape.first, count > 0 else {
      return .double(array.elements.first ?? 0)
    }
    let (rest, size) = (Array(array.shape.dropFirst()), array.elements.count / count)
    return .array(
      (0..<count).map {
        json(FormulaArray(rest, Array(array.elements[$0 * size..<($0 + 1) * size])))
      })
  }

  /// The layer class and the fields of a target; nil for the class of an operation.
  private func kind(
    _ target: PythonSignature.Target, _ layer: LayerCall
  ) throws -> (className: String?, fields: JSONObject) {
    var fields = JSONObject()
    switch target {
    case .operation(let operation):
      if layer.className == "dot", layer.inputs.count > 1 {
        throw PythonMachine.unsupported("a product of two tensors mixes their batches")
      }
      fields["function"] = .string(operation.names[0])
      return (nil, fields)
    case .layer(var className):
      for (name, value) in layer.arguments.keywords.sorted(by: { $0.key < $1.key })
      where value.tensors.isEmpty { fields[name] = value.constant }
      if let mode = fields["pool_mode"] {
        let classes = ["max": "MaxPooling2D", "avg": "AveragePooling2D"]
        guard let pooling = mode.string.flatMap({ classes[$0] }) else {
          throw PythonMachine.unsupported("it pools with pool_mode=\(mode.text)")
        }
        className = pooling
        fields["pool_mode"] = nil
      }
      if className == "UpSampling2D" {
        fields["size"] = .array(["height_factor", "width_factor"].map { fields[$0] ?? .null })
      }
      if className == "Dot", fields["axes"]?.isNull ?? true {
        fields["axes"] = .array(layer.inputs.enumerated().map { .int($1.rank - 1 - $0) })
      }
      guard layer.inputs.allSatisfy({ $0.sizes == nil }) else {
        throw PythonMachine.unsupported("it calls a layer with a size that is unknown")
      }
      return (className, fields)
    }
  }

  private func convert(
    _ className: String?, _ fields: JSONObject, _ layer: LayerCall
  ) throws -> [KerasTensor] {
    if let className {
      return try OperationCall(layer, fields: JSONObject()).convert(
        layer.inputs, as: className, fields, into: &network)
    }
    let configuration = LayerConfiguration(
      name: layer.name, className: layer.className, fields: fields, version: layer.version)
    return try layer.outputs(
      of: KerasOperationLayer.configured(configuration), configuration, into: &network)
  }

  /// Whether a slice covers the whole batch.
  private static func isBatch(_ axis: Int, _ begin: PythonSymbol, _ end: PythonSymbol) -> Bool {
    guard axis == 0, begin.int == 0, case .unknownSize(.batch(times: 1)) = end else { return false }
    return true
  }

  /// Functions without an equivalent operation in Keras.
  private func special(
    _ path: String, _ arguments: [PythonSymbol], _ keywords: PythonMachine.Keywords,
    _ machine: PythonMachine
  ) throws -> PythonSymbol? {
    func value(_ index: Int, _ names: String...) -> PythonSymbol? {
      keywords.first { names.contains($0.name) }?.value
        ?? (index < arguments.count ? arguments[index] : nil)
    }
    switch path {
    case "tf.slice", "keras.backend.slice":
      guard let x = value(0, "input_", "x"), let begin = value(1, "begin", "start")?.elements,
        let size = value(2, "size")?.elements, begin.count == size.count
      else { return nil }
      let items = try zip(begin, size).enumerated().map { axis, bounds -> PythonSymbol in
        let (begin, size) = bounds
        if Self.isBatch(axis, begin, size) { return .slice(.none, .none, .none) }
        guard let start = begin.int else {
          throw PythonMachine.unsupported("its slice bounds are not integers")
        }
        guard let count = size.int else {
          throw PythonMachine.unsupported("its slice bounds are not integers")
        }
        if count < 0 { return .slice(start == 0 ? .none : .int(start), .none, .none) }
        return .slice(.int(start), .int(start &+ count), .none)
      }
      return try machine.element(.tuple(items), of: x)
    case "tf.strided_slice":
      guard keywords.allSatisfy({ !$0.name.hasSuffix("mask") || $0.value.int == 0 }),
        arguments.count <= 4, let x = value(0, "input_", "input"),
        let begin = value(1, "begin")?.elements, let end = value(2, "end")?.elements,
        begin.count == end.count
      else { return nil }
      let steps = value(3, "strides")?.elements ?? begin.map { _ in .int(1) }
      guard steps.count == begin.count else { return nil }
      let items = zip(zip(begin, end), steps).enumerated().map { axis, item -> PythonSymbol in
        let (bounds, step) = item
        // An end past the axis means the whole axis.
        if Self.isBatch(axis, bounds.0, bounds.1)
          || bounds.0.int == 0 && bounds.1.int ?? 0 >= 1 << 24
        {
          return .slice(.none, .none, step)
        }
        return .slice(bounds.0, bounds.1, step)
      }
      return try machine.element(.tuple(items), of: x)
    default: return nil
    }
  }

  // MARK: Results

  /// The tensors that a function returns.
  func outputs(_ symbol: PythonSymbol, _ machine: PythonMachine) throws -> [KerasTensor] {
    var symbols = Self.leaves(symbol)
    // Drops sizes and similar values after the tensors, which a layer's source may also return.
    while machine.layers != nil, symbols.count > 1, let last = symbols.last,
      last.double != nil || last.isNone
    {
      symbols.removeLast()
    }
    let outputs = try symbols.map { symbol -> KerasTensor in
      if machine.graph == nil, case .array(let array) = symbol, array.shape.count > 2,
        array.shape[0] == 1
      {
        return try constant(array)
      }
      guard case .expression(let expression) = symbol else {
        throw PythonMachine.unsupported("it does not return a tensor")
      }
      return try tensor(settled(expression, machine), machine)
    }
    try require(!outputs.isEmpty, .unsupported, "it does not return a tensor")
    lastStep = log.count - 1
    return outputs
  }
}
