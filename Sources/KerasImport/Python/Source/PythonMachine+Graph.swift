import ByteFormats
import Formulas
import TensorCore

extension PythonObject {
  var layerName: String { (self["_name"] ?? self["name"])?.string ?? className.lowercased() }

  /// Whether the object is a Sequential or functional model.
  var isModel: Bool {
    type == nil && (layerClass == "Sequential" || layerClass == "Model") || model != nil
  }
}

extension PythonMachine {
  /// The graph that records calls; nil inside a layer, or if no function builds a network.
  var graph: PythonGraph? {
    guard let graph = layers?.graph, !graph.isHidden else { return nil }
    return graph
  }

  /// Records everything that `body` computes from tensors as one node.
  func recorded(
    _ values: [PythonSymbol], of object: PythonObject? = nil, _ body: () throws -> PythonSymbol
  ) throws -> PythonSymbol {
    guard let graph, graph.node == nil, values.contains(where: \.holdsTensor) else {
      return try body()
    }
    let node = PythonGraph.Node(object, values.flatMap(names))
    graph.node = node
    defer { graph.node = nil }
    let result = try named(body())
    let made = Set(node.steps.flatMap(\.outputs))
    for name in node.steps.flatMap(\.inputs)
    where !made.contains(name) && !node.inputs.contains(name) { node.inputs.append(name) }
    // The last step of a Lambda gets its name.
    if let object, !node.steps.isEmpty, node.steps.allSatisfy({ $0.object == nil }),
      graph.nodes(of: object).isEmpty
    {
      node.steps[node.steps.count - 1].fields["name"] = .string(object.layerName)
    }
    graph.add(node)
    return result
  }

  /// The names of the tensors in a value.
  func names(_ symbol: PythonSymbol) -> [String] {
    switch symbol {
    case .expression(let expression): expression.names.sorted()
    case .dictionary(let members): members.members.flatMap { names($0.value) }
    default: (symbol.elements ?? []).flatMap(names)
    }
  }

  /// The value with each computation replaced by a named tensor.
  func named(_ symbol: PythonSymbol) throws -> PythonSymbol {
    switch symbol {
    case .expression(let expression): return .expression(try settled(expression))
    case .tuple(let elements): return .tuple(try elements.map(named))
    case .list(let list): list.elements = try list.elements.map(named)
    default: break
    }
    return symbol
  }

  /// The result of a computation, with one operation per function.
  func operations(_ expression: Expression) throws -> Expression {
    guard let tensors, let node = graph?.node else { throw Self.malformed }
    var inputs: [String] = []
    var operands: [Expression] = []
    var arguments = CallArguments()
    for operand in expression.operands {
      if let number = operand.number {
        operands.append(operand)
        arguments.positional.append(.value(.double(number)))
      } else if case .name(let name) = operand.node, let array = constants[name] {
        operands.append(operand)
        arguments.positional.append(.value(PythonTensors.json(array)))
      } else {
        let settled = try operations(leaf: operand)
        guard case .name(let name) = settled.node else { throw Self.malformed }
        operands.append(settled)
        arguments.positional.append(.tensor(inputs.count))
        inputs.append(name)
      }
    }
    let function: String
    let whole: Expression
    switch expression.node {
    case .apply(let element, _):
      let names: [ElementFunction: String] = [.tanhGelu: "gelu", .choose: "where"]
      function = names[element] ?? element.rawValue
      if function == "gelu" {
        arguments.keywords["approximate"] = .value(.bool(element == .tanhGelu))
      }
      whole = try .apply(element, operands)
    case .reduce(let reduction, _, let axes, let keepsAxes):
      function = reduction.rawValue
      arguments.keywords["axis"] = .value(axes.map { .array($0.map { .int($0) }) } ?? .null)
      arguments.keywords["keepdims"] = .value(.bool(keepsAxes))
      whole = try Expression(.reduce(reduction, operands[0], axes: axes, keepsAxes: keepsAxes))
    case .slice(_, let items):
      function = "getitem"
      arguments.positional.append(.value(.array(items.map(\.json))))
      whole = try Expression(.slice(operands[0], items))
    case .name, .number: throw Self.malformed
    }
    guard OperationTable.operation(named: function) != nil else {
      throw Self.unsupported("it calls '\(function)' with a tensor outside a layer")
    }
    let result = tensors.add(try tensors.tensor(whole, self), "\(whole)", self)
    guard case .name(let output) = result.node else { throw Self.malformed }
    node.steps.append(PythonGraph.Step(function, arguments, inputs, [output]))
    return result
  }

  private func operations(leaf: Expression) throws -> Expression {
    if case .name = leaf.node { return leaf }
    return try operations(leaf)
  }

  /// The result of a computation outside layers; nil if nothing is recorded.
  func built(_ expression: Expression) throws -> Expression? {
    guard graph != nil else { return nil }
    return try recorded([.expression(expression)]) { .expression(try operations(expression)) }
      .expression
  }

  // MARK: Layers

  func call(
    _ object: PythonObject, _ positional: [PythonSymbol], _ keywords: Keywords
  ) throws -> PythonSymbol {
    let values = positional + keywords.map(\.value)
    guard let graph, let tensors, values.contains(where: \.holdsTensor) else {
      return try applied(object, positional, keywords)
    }
    return try recorded(values, of: object) {
      let activation = object.type == nil ? object["activation"] : nil
      if object.type == nil,
        object.layerClass == "Lambda" || object.layerClass == "Activation" && activation != nil
      {
        return try applied(object, positional, keywords)
      }
      let second = positional.dropFirst().first ?? .none
      if object.type == nil, case .bool(true) = second {
        throw Self.unsupported("it calls a layer with training=True")
      }
      for (name, value) in keywords where name == "training" || name == "mask" {
        guard value.isNone || value.equals(.bool(false)) == true else {
          throw Self.unsupported("it calls a layer with \(name)=\(PythonText.text(value))")
        }
      }
      let rest = keywords.filter { !["training", "mask"].contains($0.name) }
      if object.layerClass == "Embedding", let name = values.flatMap(names).first {
        tensors.readAsIndices(name)
      }
      let (arguments, _, inputs) = try tensors.arguments(positional, rest, self)
      if object.isModel, object.inputShape == nil {
        object.inputShape = inputs.first.flatMap { tensors.tensors[$0]?.shape }
      }
      graph.isHidden = true
      if activation != nil { object["activation"] = nil }
      defer {
        graph.isHidden = false
        if let activation { object["activation"] = activation }
      }
      var result = try renamed(applied(object, positional, keywords))
      graph.node?.steps.append(.init(object, arguments, inputs, names(result)))
      graph.isHidden = false
      if let activation { result = try call(activation, [result], []) }
      return result
    }
  }

  /// The tensors that a layer returns, under new names.
  private func renamed(_ symbol: PythonSymbol) throws -> PythonSymbol {
    guard let tensors else { throw Self.malformed }
    if case .expression(let expression) = symbol {
      return .expression(tensors.add(try tensors.tensor(settled(expression), self), "", self))
    }
    guard let elements = symbol.elements else {
      throw Self.unsupported("it calls a layer that does not return tensors")
    }
    return .list(PythonList(try elements.map(renamed)))
  }

  /// The configuration of a layer: the arguments that its class was called with.
  func configuration(of object: PythonObject) throws -> JSONObject {
    guard let type = object.type, !object.isModel else {
      return object.isModel ? JSONObject() : object.fields
    }
    var names: ArraySlice<String> = []
    if case .function(let function)? = try type.member("__init__", self)?.value {
      names = function.code.variables.prefix(function.code.argumentCount).dropFirst()
    }
    guard object.made.positional.count <= names.count || names.isEmpty else {
      throw Self.unsupported("the class \(object.className) takes arguments without names")
    }
    var fields = object.made.positional.isEmpty ? JSONObject() : object.fields
    for (name, value) in zip(names, object.made.positional) { fields[name] = try json(value) }
    for (name, value) in object.made.keywords { fields[name] = try json(value) }
    return fields
  }
}

extension Expression.SliceItem {
  /// The item in the form that operations use.
  fileprivate var json: JSONValue {
    switch self {
    case .index(let index): .int(index)
    case .newAxis: .null
    case .ellipsis: .members(["class_name": .string("__ellipsis__")])
    case .range(let start, let end, let step):
      .members([
        "start": start.map { .int($0) } ?? .null, "stop": end.map { .int($0) } ?? .null,
        "step": step == 1 ? .null : .int(step),
      ])
    }
  }
}

extension JSONValue {
  fileprivate static func members(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
    var object = JSONObject()
    for (name, value) in members { object[name] = value }
    return .object(object)
  }
}
