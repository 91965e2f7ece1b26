import ImportSupport
import TensorCore

/// Reads `inbound_nodes`, `input_layers` and `output_layers`.
struct ReferenceReader {
  /// Index of each layer by its name.
  let indices: [String: Int]

  /// A list of calls, each a list of `[layer, call, tensor, arguments]`; a lone reference may stand
  /// for a list of one.
  func calls(_ json: JSONValue) throws -> [[ModelDefinition.Reference]] {
    try (json.array ?? []).map { call in
      if let arguments = call["args"] {
        var found: [ModelDefinition.Reference] = []
        try collectTensors(arguments, into: &found, depth: 0)
        return found
      }
      return try references(call)
    }
  }

  func references(_ json: JSONValue) throws -> [ModelDefinition.Reference] {
    guard let elements = json.array else { return [] }
    if elements.first?.string != nil { return [try reference(elements)] }
    return try elements.map { element in
      guard let parts = element.array else {
        throw ModelError(.malformed, "\(String(element.text.prefix(80))) refers to no layer")
      }
      return try reference(parts)
    }
  }

  private func reference(_ parts: [JSONValue]) throws -> ModelDefinition.Reference {
    guard parts.count >= 3, let name = parts[0].string, let call = parts[1].int,
      let tensor = parts[2].int, (0..<Limits.layers).contains(call),
      (0..<Limits.layers).contains(tensor)
    else {
      throw ModelError(
        .malformed, "\(String(JSONValue.array(parts).text.prefix(80))) refers to no layer")
    }
    guard let layer = indices[name] else {
      throw ModelError(.malformed, "a layer takes its input from '\(name)', which does not exist")
    }
    return ModelDefinition.Reference(layer: layer, call: call, tensor: tensor)
  }

  /// Keras 3 describes the arguments of a call as values, tensors among them.
  private func collectTensors(
    _ json: JSONValue, into found: inout [ModelDefinition.Reference], depth: Int
  ) throws {
    if json["class_name"]?.string == "__keras_tensor__" {
      found.append(try reference(json["config"]?["keras_history"]?.array ?? []))
      return
    }
    for element in json.array ?? [] {
      try collectTensors(element, into: &found, depth: depth + 1)
    }
  }
}
