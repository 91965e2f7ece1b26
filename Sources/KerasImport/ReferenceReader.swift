import ByteFormats
import TensorCore

/// Reads `inbound_nodes`, `input_layers` and `output_layers`.
struct ReferenceReader {
  /// The index of each layer by name.
  let indices: [String: Int]

  /// A list of calls. Each is a list of `[layer, call, tensor, keywords]`, or a single one of
  /// these; in Keras 3, an object with `args` and `kwargs`.
  func calls(_ json: JSONValue) throws -> [ModelDefinition.Call] {
    try (json.array ?? []).map { json in
      var call = ModelDefinition.Call()
      if json["args"] != nil || json["kwargs"] != nil {
        for argument in json["args"]?.array ?? [] {
          call.arguments.positional.append(try self.argument(argument, &call))
        }
        try addKeywords(json["kwargs"], &call)
      } else {
        var keywords: JSONValue?
        let first = try firstArgument(json, &call, &keywords)
        if case .list(let elements) = first, elements.isEmpty { return call }
        call.arguments.positional = [first]
        try addKeywords(keywords, &call)
      }
      return call
    }
  }

  func references(_ json: JSONValue) throws -> [ModelDefinition.Reference] {
    if let object = json.object {
      // Dictionary values are in the order of their sorted keys.
      return try object.members.sorted { $0.name < $1.name }.flatMap { try references($0.value) }
    }
    guard let elements = json.array else { return [] }
    if elements.first?.string != nil { return [try reference(elements)] }
    return try elements.flatMap { element in
      guard element.array != nil || element.object != nil else {
        throw ModelError(.malformed, "\(String(element.text.prefix(80))) does not refer to a layer")
      }
      return try references(element)
    }
  }

  private func reference(_ parts: [JSONValue]) throws -> ModelDefinition.Reference {
    guard parts.count >= 3, let name = parts[0].string, let call = parts[1].int,
      let tensor = parts[2].int, (0..<Limits.layers).contains(call),
      (0..<Limits.layers).contains(tensor)
    else {
      throw ModelError(
        .malformed, "\(String(JSONValue.array(parts).text.prefix(80))) does not refer to a layer")
    }
    let layer = try indices[name].orThrow(
      ModelError(.malformed, "a layer reads from '\(name)', which does not exist"))
    return ModelDefinition.Reference(layer: layer, call: call, tensor: tensor)
  }

  private func add(
    _ parts: [JSONValue], to call: inout ModelDefinition.Call
  ) throws -> CallArgument {
    call.inputs.append(try reference(parts))
    return .tensor(call.inputs.count - 1)
  }

  // MARK: Keras 1 and 2

  /// The first argument of a call; each of its tensors lists the call's other arguments.
  private func firstArgument(
    _ json: JSONValue, _ call: inout ModelDefinition.Call, _ keywords: inout JSONValue?
  ) throws -> CallArgument {
    if let object = json.object {
      return try Self.argument(object) { try firstArgument($0, &call, &keywords) }
    }
    let elements = try json.array.orThrow(
      ModelError(.malformed, "\(String(json.text.prefix(80))) does not refer to a layer"))
    guard let name = elements.first?.string else {
      return .list(try elements.map { try firstArgument($0, &call, &keywords) })
    }
    if keywords == nil, elements.count > 3 { keywords = elements[3] }
    if name == Self.constant, elements.count > 2 { return try argument(elements[2], &call) }
    return try add(elements, to: &call)
  }

  private static let constant = "_CONSTANT_VALUE"

  // MARK: Any argument

  /// Keras numbers the tensors of a dictionary by their sorted names.
  private static func argument(
    _ object: JSONObject, _ read: (JSONValue) throws -> CallArgument
  ) rethrows -> CallArgument {
    var values: [String: CallArgument] = [:]
    for (name, value) in object.members.sorted(by: { $0.name < $1.name }) {
      values[name] = try read(value)
    }
    return .object(
      object.members.compactMap { member in
        values[member.name].map { CallArgument.Member(name: member.name, value: $0) }
      })
  }

  private func addKeywords(_ json: JSONValue?, _ call: inout ModelDefinition.Call) throws {
    for (name, value) in json?.object?.members ?? [] {
      call.arguments.keywords[name] = try argument(value, &call)
    }
  }

  private func argument(
    _ json: JSONValue, _ call: inout ModelDefinition.Call
  ) throws -> CallArgument {
    switch json {
    case .object(let object):
      if object["class_name"]?.string == "__keras_tensor__" {
        return try add(object["config"]?["keras_history"]?.array ?? [], to: &call)
      }
      return try Self.argument(object) { try argument($0, &call) }
    case .array(let elements):
      if let name = elements.first?.string, elements.count == 3 || elements.count == 4,
        elements[1].int != nil
      {
        if name == Self.constant { return try argument(elements[2], &call) }
        if indices[name] != nil, elements[2].int != nil { return try add(elements, to: &call) }
      }
      let arguments = try elements.map { try argument($0, &call) }
      let isConstant = arguments.allSatisfy { if case .value = $0 { true } else { false } }
      return isConstant ? .value(json) : .list(arguments)
    default: return .value(json)
    }
  }
}
