import ByteFormats
import TensorCore

extension PythonMachine {
  private static let baseNames: Set<String> = ["Layer", "Model"]

  func make(
    _ type: PythonClass, _ positional: [PythonSymbol], _ keywords: Keywords
  ) throws -> PythonSymbol {
    guard let layers else { throw Self.malformed }
    let object = try layers.object(type)
    object.made = (positional, keywords)
    try initialize(object, after: nil, positional, keywords)
    return .object(object)
  }

  private func initialize(
    _ object: PythonObject, after: PythonClass?, _ positional: [PythonSymbol],
    _ keywords: Keywords
  ) throws {
    if let type = object.type {
      if let member = try type.member("__init__", after: after, self) {
        _ = try call(member.value, [.object(object)] + positional, keywords)
        return
      }
      guard let base = try type.layerClass() else {
        guard positional.isEmpty, keywords.isEmpty else {
          throw Self.unsupported("\(object.className) takes no arguments")
        }
        return
      }
      if Self.baseNames.contains(base) {
        if base == "Model", graph != nil, try connect(object, positional, keywords) { return }
        guard positional.isEmpty else {
          throw Self.unsupported("the base class \(base) gets arguments without names")
        }
        for (name, value) in keywords {
          switch name {
          case "name", "trainable": object[name] = value
          case "dtype":
            guard value.isNone || value.string == "float32" else {
              throw Self.unsupported("its dtype is \(PythonText.text(value))")
            }
          case "activity_regularizer", "dynamic", "autocast", "input_shape", "batch_input_shape",
            "batch_shape", "build_input_shape":
            break
          default:
            throw Self.unsupported("the base class \(base) gets the unknown argument '\(name)'")
          }
        }
        self.name(object)
        return
      }
      object.layerClass = base
    }
    guard let className = object.layerClass else { throw Self.malformed }
    for (name, value) in keywords where ["name", "trainable"].contains(name) && !value.isNone {
      object[name] = value
    }
    name(object)
    func keyword(_ name: String) -> PythonSymbol? { keywords.first { $0.name == name }?.value }
    if className == "Sequential" {
      let layers = try (positional.first ?? keyword("layers")).map {
        $0.isNone ? [] : try elements($0)
      }
      object["layers"] = .list(PythonList(layers ?? []))
      return
    }
    if className == "Lambda" {
      guard keyword("mask")?.isNone ?? true, positional.count < 3 else {
        throw Self.unsupported("its Lambda has a function for the mask")
      }
      object["function"] = positional.first ?? keyword("function")
      object["arguments"] = keyword("arguments")
      return
    }
    /// An argument as JSON; an activation from a source file is called after the layer.
    func argument(_ value: PythonSymbol, isActivation: Bool) throws -> JSONValue {
      switch value {
      case .object(let inner) where className == "TimeDistributed" && inner.isModel:
        object["layer"] = value
        return .null
      case .function, .bound, .object:
        guard isActivation else { return try json(value) }
        object["activation"] = value
        return .string("linear")
      case .library where isActivation:
        guard let known = try? json(value) else {
          object["activation"] = value
          return .string("linear")
        }
        return known
      default: return try json(value)
      }
    }
    let place = ["Activation": 0, "Dense": 1][className]
    let isRecurrent = ["LSTM", "GRU", "SimpleRNN"].contains(className)
    // TensorFlow 1 has other defaults, and its last releases write the version of 2.0.
    if isRecurrent, className != "SimpleRNN", tensors?.call.version.isAtLeast(2, 3) != true {
      for name in ["recurrent_activation", "reset_after"].prefix(className == "GRU" ? 2 : 1)
      where !keywords.contains(where: { $0.name == name }) {
        throw Self.unsupported(
          "its \(className) has no '\(name)', whose default is another in TensorFlow 1")
      }
    }
    var positional = positional
    // Keras without TensorFlow interprets Conv2D(8, 3, 3) as Keras 1 does.
    if className.hasPrefix("Conv2D"), positional.count == 3, positional[1].int != nil,
      positional[2].int != nil, tensors?.call.version.isTensorFlowKeras == false
    {
      positional = [positional[0], .tuple(Array(positional[1...]))]
    }
    object.fields = try KerasClass.fields(
      className,
      positional.enumerated().map { try argument($1, isActivation: $0 == place) },
      keywords.filter { !["name", "dtype", graph == nil ? "" : "weights"].contains($0.name) }.map {
        ($0.name, try argument($0.value, isActivation: $0.name == "activation" && !isRecurrent))
      })
    if className == "LeakyReLU", positional.isEmpty, object.fields["alpha"] == nil,
      object.fields["negative_slope"] == nil
    {
      object.fields["alpha"] = .double(0.3)
    }
  }

  /// A Keras layer that a source creates; nil for other functions.
  func kerasLayer(
    _ path: String, _ positional: [PythonSymbol], _ keywords: Keywords
  ) throws -> PythonSymbol? {
    if path.hasPrefix("keras.layers."), let name = path.split(separator: ".").last,
      let className = Self.functions[String(name)],
      let inputs = positional.first ?? keywords.first(where: { $0.name == "inputs" })?.value
    {
      let layer = try kerasLayer(
        "keras.layers." + className, Array(positional.dropFirst()),
        keywords.filter { $0.name != "inputs" })
      return try layer.map { try call($0, [inputs], []) }
    }
    guard let layers, let className = KerasClass.name(path), !Self.baseNames.contains(className)
    else { return nil }
    // A Dense layer computes all steps at once.
    if className == "TimeDistributed", case .object(let inner)? = positional.first,
      inner.layerClass == "Dense", inner.type == nil, layers.graph == nil
    {
      return positional[0]
    }
    let object = try layers.object(nil)
    object.layerClass = className
    try initialize(object, after: nil, positional, keywords)
    return .object(object)
  }

  /// Functions that call a layer.
  static let functions = [
    "add": "Add", "subtract": "Subtract", "multiply": "Multiply", "average": "Average",
    "maximum": "Maximum", "minimum": "Minimum", "concatenate": "Concatenate", "dot": "Dot",
  ]

  // MARK: Attributes

  func attribute(_ name: String, of object: PythonObject) throws -> PythonSymbol {
    if object.isModel, let value = try built(name, of: object) { return value }
    if let value = object[name] { return value }
    if let type = object.type, let member = try type.member(name, self) {
      return try bound(member, object)
    }
    switch name {
    case "name": return .string(object.className.lowercased())
    case "trainable": return .bool(true)
    case "dtype", "compute_dtype", "variable_dtype", "dtype_policy":
      return .string("float32")
    case "built": return .bool(object.isBuilt)
    case "supports_masking", "stateful": return .bool(false)
    case "weights", "trainable_weights", "non_trainable_weights", "variables",
      "trainable_variables", "losses":
      return .library(Self.weights)
    case "__class__": if let type = object.type { return .type(type) }
    case "output": if let output = try built(name, of: object) { return output }
    default: if let setting = try setting(name, of: object) { return setting }
    }
    return .method(.object(object), name)
  }

  private func bound(_ member: PythonClass.Member, _ object: PythonObject) throws -> PythonSymbol {
    switch member.kind {
    case .property: return try call(member.value, [.object(object)], [])
    case .ofNothing: return member.value
    case .ofClass: return object.type.map { .bound(member.value, .type($0)) } ?? member.value
    case .plain:
      guard case .function = member.value else { return member.value }
      return .bound(member.value, .object(object))
    }
  }

  /// An attribute of `super()`.
  func attribute(
    _ name: String, of object: PythonObject, after type: PythonClass
  ) throws -> PythonSymbol {
    if name != "__init__", let member = try object.type?.member(name, after: type, self) {
      return try bound(member, object)
    }
    return .method(.parent(object, type), name)
  }

  func attribute(_ name: String, of type: PythonClass) throws -> PythonSymbol {
    guard let member = try type.member(name, self) else {
      throw Self.unsupported("it uses '.\(name)' of the class \(type.definition.name)")
    }
    return member.kind == .ofClass ? .bound(member.value, .type(type)) : member.value
  }

  // MARK: Calls

  /// A method of Keras's base classes.
  func method(
    _ name: String, of object: PythonObject, after type: PythonClass?,
    _ positional: [PythonSymbol], _ keywords: Keywords
  ) throws -> PythonSymbol {
    switch name {
    case "__init__": try initialize(object, after: type, positional, keywords)
    case "add_weight", "add_variable": return try weight(of: object, positional, keywords)
    case "add_loss", "add_metric", "add_update": break
    case "compute_mask" where ["Embedding", nil].contains(object.layerClass):
      if object.layerClass == "Embedding", let indices = positional.first {
        return object.fields["mask_zero"]?.bool == true
          ? try call(.library("tf.not_equal"), [indices, .int(0)], []) : .none
      }
      return positional.dropFirst().first ?? keywords.first { $0.name == "mask" }?.value ?? .none
    case "build":
      object.isBuilt = true
      if let shape = (positional.first ?? keywords.first?.value)?.elements {
        object.inputShape = shape.map(\.int)
      }
    case "__setattr__" where positional.count == 2:
      try set(positional[0].string ?? "", of: .object(object), to: positional[1])
    case "convolution_op":
      return try call(
        .library("keras.ops.conv"), positional,
        ["strides", "padding", "dilation_rate"].map { ($0, try attribute($0, of: object)) })
    case "compile", "load_weights", "save_weights", "save": break
    case "get_layer" where object.isModel: return try layer(of: object, positional, keywords)
    case "__call__" where type == nil: return try call(object, positional, keywords)
    case "add":
      guard case .list(let list)? = object["layers"], let first = positional.first else {
        throw Self.unsupported("it calls '.add' of the layer \(object.className)")
      }
      list.elements = try bounded(list.elements + [first])
      object.model = nil
    case "call", "__call__":
      guard object.layerClass != nil else {
        throw Self.unsupported("it calls the 'call' of a base class")
      }
      return try kerasCall(object, positional, keywords)
    default:
      throw Self.unsupported("it calls '.\(name)' of the layer \(object.className)")
    }
    return .none
  }

  private func kerasCall(
    _ object: PythonObject, _ positional: [PythonSymbol], _ keywords: Keywords
  ) throws -> PythonSymbol {
    var given: Keywords = []
    for (name, value) in keywords {
      if name == "mask", case .expression = value, positional.count == 1,
        case .expression = positional[0], !["Sequential", "Lambda"].contains(object.layerClass)
      {
        given.append((name, value))
      } else if name == "training" || name == "mask" {
        let isOff = value.isNone || name == "training" && value.equals(.bool(false)) == true
        guard isOff else {
          throw Self.unsupported("it calls a layer with \(name)=\(PythonText.text(value))")
        }
      } else {
        given.append((name, value))
      }
    }
    if object.layerClass == "Sequential" {
      guard positional.count == 1, given.isEmpty else {
        throw Self.unsupported("it calls a Sequential with unknown arguments")
      }
      return try calledLayers(object).reduce(positional[0]) { try call($1, [$0], []) }
    }
    if let outputs = try alias(object, positional) { return outputs }
    if let output = try overridden(object, positional) { return output }
    if object["layer"] != nil || object["activation"] != nil {
      if !isRecipe { try tensors?.refuseMasks(of: positional) }
    }
    if let outputs = try stepwise(object, positional) { return outputs }
    if object.layerClass == "Lambda", let function = object["function"] {
      if case .dictionary(let members)? = object["arguments"] {
        given += members.members.map { ($0.key, $0.value) }
      }
      return try call(function, positional, given)
    }
    guard let tensors else { throw Self.malformed }
    guard let activation = object["activation"], object.layerClass != nil else {
      return try tensors.call(object, positional, given, self)
    }
    let result =
      object.layerClass == "Activation"
      ? positional : [try tensors.call(object, positional, given, self)]
    return try call(activation, result, [])
  }

  func applied(
    _ object: PythonObject, _ positional: [PythonSymbol], _ keywords: Keywords
  ) throws -> PythonSymbol {
    if case .expression(let x)? = positional.first, let className = object.layerClass,
      layers?.graph == nil, !["Sequential", "Activation", "Lambda"].contains(className)
    {
      object.inputShape = try tensors?.tensor(settled(x), self).shape ?? object.inputShape
    }
    guard let type = object.type else { return try kerasCall(object, positional, keywords) }
    if let member = try type.member("__call__", self) {
      return try call(member.value, [.object(object)] + positional, keywords)
    }
    if !object.isBuilt {
      object.isBuilt = true
      if let build = try type.member("build", self), case .function(let builder) = build.value {
        let count = builder.code.argumentCount - 1
        let tensors = positional + keywords.map(\.value).filter(\.holdsTensor)
        let shapes = try tensors.prefix(max(1, count)).map { try shape(of: $0) }
        _ = try call(build.value, [.object(object)] + shapes, [])
        object.isBuilt = true
      }
    }
    guard let member = try type.member("call", self), case .function(let function) = member.value
    else {
      guard object.layerClass != nil else {
        throw Self.unsupported("the class \(object.className) has no method 'call'")
      }
      return try kerasCall(object, positional, keywords)
    }
    if type.tracesCall, tensors?.call.version.isAtLeast(3, 0) == true,
      let layers, layers.objectCount > 1 || layers.weightCount > 0
    {
      throw Self.unsupported(
        "its call is a tf.function, with which Keras 3 predicts from the weights of the first call, "
          + "not from those of the file")
    }
    let code = function.code
    let names = code.variables.prefix(code.argumentCount + code.keywordOnlyCount)
    // The masks of the layer itself are handled elsewhere.
    if try object.number > 1 && object !== root
      && (names.contains("mask") || type.member("compute_mask", self) != nil
        || truth(attribute("supports_masking", of: object)))
    {
      let isStated =
        type.definition.name.hasPrefix(Self.writtenLayers)
        && keywords.contains { $0.name == "mask" && !$0.value.isNone }
      if !isRecipe, !isStated { try tensors?.refuseMasks(of: positional) }
    }
    var given = keywords.filter {
      !["training", "mask"].contains($0.name) || names.contains($0.name)
    }
    for (name, value) in [("training", PythonSymbol.bool(false)), ("mask", .none)] {
      let place = names.firstIndex(of: name) ?? 0
      let hasStandard = place >= code.argumentCount - function.defaults.count
      if place > positional.count, !given.contains(where: { $0.name == name }),
        name == "training" || !hasStandard
      {
        given.append((name, value))
      }
    }
    return try call(member.value, [.object(object)] + positional, given)
  }
}
