/// A layer's fields in readable form: `kernelSize 3×3, stride 2×2, valid (1, 1) (1, 1)`, with
/// no-break spaces inside a field. False flags and empty lists are omitted.
enum AttributeText {
  static func text(_ attributes: JSONObject) -> String {
    // A name and its value stay on one line.
    fragments(attributes).map { $0.replacing(" ", with: "\u{A0}") }.joined(separator: ", ")
  }

  /// The fields' names and values.
  static func fields(_ attributes: JSONObject) -> [(label: String, text: String)] {
    fragments(attributes).map { field in
      let parts = field.split(separator: " ", maxSplits: 1).map(String.init)
      return (parts.first ?? "", parts.count > 1 ? parts[1] : "yes")
    }
  }

  /// The type of a layer, with the function of an activation or the kind of a pooling.
  static func typeText(_ layer: Inspection.Layer) -> String {
    guard let field = fields(layer.attributes).first else { return layer.type }
    if layer.type == "activation" { return field.label }
    return field.label == "type" ? "\(layer.type) \(field.text)" : layer.type
  }

  private static func fragments(_ object: JSONObject) -> [String] {
    object.members.compactMap { fragment($0.name, $0.value) }
  }

  private static func fragment(_ name: String, _ value: JSONValue) -> String? {
    switch value {
    case .bool(let flag): return flag ? name : nil
    case .array(let values) where values.isEmpty: return nil
    case .string(""): return nil
    case .array(let values):
      let sizes = values.compactMap(\.int)
      if sizes.count == values.count, isSize(name), sizes.allSatisfy({ $0 >= 0 }) {
        return "\(name) " + sizes.map(String.init).joined(separator: "×")
      }
      let isList = values.allSatisfy { $0.object == nil }
      let items = values.map(inline)
      return "\(name) " + (isList ? "[\(list(items, ", "))]" : list(items, " "))
    case .object(let object):
      let inner = fragments(object)
      if inner.isEmpty { return name }
      // The only field of a message needs no name.
      if object.members.count == 1, let member = object.members.first {
        switch member.value {
        case .string(let text): return "\(name) \(text)"
        case .array, .object:
          return "\(name) " + inner[0].replacing(member.name + " ", with: "", maxReplacements: 1)
        default: break
        }
      }
      return "\(name) (\(inner.joined(separator: ", ")))"
    default: return "\(name) \(inline(value))"
    }
  }

  private static func inline(_ value: JSONValue) -> String {
    switch value {
    case .object(let object):
      let values = object.members.map(\.value)
      if !values.isEmpty, values.allSatisfy({ $0.double != nil }) {
        return "(\(values.map(inline).joined(separator: ", ")))"
      }
      let inner = fragments(object)
      return inner.count == 1 ? inner[0] : "(\(inner.joined(separator: ", ")))"
    case .double(let number): return numberText(number, digits: 7)
    case .string(let text): return text
    default: return value.text
    }
  }

  /// The items as text, truncated after the first 16.
  private static func list(_ items: [String], _ separator: String) -> String {
    items.prefix(16).joined(separator: separator) + (items.count > 16 ? "\(separator)…" : "")
  }

  /// Whether values with this name are extents along axes.
  private static func isSize(_ name: String) -> Bool {
    ["size", "shape", "stride", "factor"].contains { name.lowercased().hasSuffix($0) }
  }
}
