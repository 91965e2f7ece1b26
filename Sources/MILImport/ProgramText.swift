import CoreMLModel
import TensorCore

/// A program as text: one operation per line, its arguments in the order of its definition, small
/// constants inline.
package struct ProgramText {
  private let program: MILProgram
  /// The maximum number of elements of a constant that is printed.
  private static let shownElements = 16

  package init(_ program: MILProgram) { self.program = program }

  /// `fp32[1, 3, ?, ?]`.
  package static func type(_ tensor: MILTensorType) -> String {
    list(tensor.dataType, tensor.sizes.map { $0.map(String.init) ?? "?" })
  }

  package static func type(_ type: MILDataType, _ shape: [Int]) -> String {
    list(type, shape.map(String.init))
  }

  private static func list(_ type: MILDataType, _ sizes: [String]) -> String {
    sizes.isEmpty ? type.name : "\(type.name)[\(sizes.joined(separator: ", "))]"
  }

  package static func type(_ type: MILValueType?) -> String {
    switch type?.kind {
    case .tensor(let tensor): Self.type(tensor)
    case .list(let list): "list<\(Self.type(list.type))>"
    case .tuple(let tuple): "(\(tuple.types.map { Self.type($0) }.joined(separator: ", ")))"
    case .dictionary(let dictionary):
      "dictionary<\(Self.type(dictionary.keyType)), \(Self.type(dictionary.valueType))>"
    case .state(let state): "state<\(Self.type(state.wrappedType))>"
    case nil: "unknown"
    }
  }

  package var text: String {
    program.functions.map { entry in
      let name = Self.word(entry.key)
      guard let function = entry.value else { return "\(name)\n" }
      let inputs = function.inputs.map { Self.named($0) }
      return function.specializations.map { block in
        "\(name)[\(Self.word(block.key))](\(inputs.joined(separator: ", "))) {\n"
          + lines(block.value, indent: 1) + "}\n"
      }.joined(separator: "\n")
    }.joined(separator: "\n")
  }

  /// A value's name and type.
  private static func named(_ value: MILNamedType) -> String {
    "\(word(value.name)): \(type(value.type))"
  }

  /// A name, in quotes if it contains other characters than names from common frameworks.
  private static func word(_ name: String) -> String {
    let isPlain = name.unicodeScalars.allSatisfy {
      switch $0 {
      case "!"..."~": !["\"", "\\", "(", ")", "{", "}", ",", "="].contains($0)
      default: $0.properties.isAlphabetic
      }
    }
    return isPlain && !name.isEmpty ? name : name.inQuotes
  }

  private func lines(_ block: MILBlock?, indent: Int) -> String {
    guard let block else { return "" }
    let margin = String(repeating: "  ", count: indent)
    var constants: [String: String] = [:]
    var text = ""
    for operation in block.operations {
      if operation.type == "const", let output = operation.outputs.first,
        let value = operation.attribute("val"), let short = short(value)
      {
        constants[output.name] = short
        continue
      }
      text += margin + line(operation, constants) + "\n"
      for inner in operation.blocks {
        let inputs = inner.inputs.map { Self.named($0) }
        text += "\(margin)  (\(inputs.joined(separator: ", "))) {\n"
        text += lines(inner, indent: indent + 2) + "\(margin)  }\n"
      }
    }
    let outputs = block.outputs.map { constants[$0] ?? Self.word($0) }
    return text + "\(margin)return (\(outputs.joined(separator: ", ")))\n"
  }

  private func line(_ operation: MILOperation, _ constants: [String: String]) -> String {
    if operation.type == "const", operation.inputs.isEmpty, let output = operation.outputs.first,
      let value = operation.attribute("val"), value.type == output.type
    {
      return "\(Self.named(output)) = const(\(location(value)))"
    }
    let outputs = operation.outputs.map { Self.named($0) }
    let result = outputs.isEmpty ? "" : outputs.joined(separator: ", ") + " = "
    let list = arguments(of: operation, constants).map { "\(Self.word($0.key))=\($0.text)" }.joined(
      separator: ", ")
    return "\(result)\(Self.word(operation.type))(\(list))"
  }

  /// Names and values, in the order of the operation's definition.
  ///
  /// - Parameter constants: the texts of constants that are shown inline.
  package func arguments(
    of operation: MILOperation, _ constants: [String: String]
  ) -> [(key: String, text: String)] {
    var arguments = operation.inputs.map { argument -> (key: String, text: String) in
      let values = argument.bindings.map { binding in
        switch binding {
        case .name(let name): constants[name] ?? Self.word(name)
        case .value(let value): short(value) ?? long(value)
        case nil: "nothing"
        }
      }
      let text = values.count == 1 ? values[0] : "(\(values.joined(separator: ", ")))"
      return (argument.key, text)
    }
    arguments += operation.attributes.compactMap { attribute in
      guard attribute.key != "name", let value = attribute.value else { return nil }
      return (attribute.key, short(value) ?? long(value))
    }
    // Maps have no order.
    let order = operationRulesByName[operation.type]?.arguments ?? []
    arguments.sort { a, b in
      let locations = [a, b].map { order.firstIndex(of: $0.key) ?? order.count }
      return locations[0] == locations[1] ? a.key < b.key : locations[0] < locations[1]
    }
    return arguments
  }

  /// The text of a small constant; nil for others.
  package func short(_ value: MILValue) -> String? {
    guard case .immediate(let immediate)? = value.content else { return nil }
    guard case .tensor? = immediate.content else {
      if case .list(let list)? = immediate.content, list.values.count <= Self.shownElements {
        return "[\(list.values.map { short($0) ?? long($0) }.joined(separator: ", "))]"
      }
      return nil
    }
    guard let elements = try? MILElements(value, files: program.weightFiles),
      elements.count <= Self.shownElements
    else { return nil }
    let parts: [String]
    if let texts = elements.strings {
      parts = texts.map(\.inQuotes)
    } else if elements.type == .bool {
      parts = ((try? elements.ints()) ?? []).map { $0 == 0 ? "false" : "true" }
    } else if elements.type.isFloat {
      parts = ((try? elements.floats()) ?? []).map { "\($0)" }
    } else {
      parts = ((try? elements.ints()) ?? []).map(String.init)
    }
    if elements.shape.isEmpty { return parts.first }
    let list = "[\(parts.joined(separator: ", "))]"
    return elements.shape.count == 1 ? list : Self.type(value.type) + "(\(list))"
  }

  /// The type of a constant, and the location of its elements.
  private func long(_ value: MILValue) -> String { "\(Self.type(value.type))(\(location(value)))" }

  private func location(_ value: MILValue) -> String {
    guard case .file(let location)? = value.content else { return "…" }
    return "\(location.fileName.inQuotes), offset \(location.offset)"
  }
}
