import TensorCore

/// An ML Program: functions of operations on typed, named values (`MILSpec.Program`).
///
/// Everything is kept as in the file, including the order of maps, so writing a program reproduces
/// the bytes that were read.
package struct MILProgram: SpecificationMessage {
  package var version = 0
  package var functions: [MILFunctionEntry] = []
  package var docString = ""
  package var attributes: [MILAttribute] = []
  /// The contents of the weight files that values refer to. They are not part of the message.
  package var weightFiles: [String: MILWeightFile] = [:]
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .int("version", \.version),
    .messages("functions", \.functions),
    .string("docString", \.docString),
    .messages("attributes", \.attributes),
  ]

  package func function(_ name: String) -> MILFunction? {
    functions.first { $0.key == name }?.value
  }
}

/// A function and its name.
package struct MILFunctionEntry: SpecificationMessage {
  package var key = ""
  package var value: MILFunction?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.string("key", \.key), .message("value", \.value)]
}

/// A function: its inputs, and a body for each supported set of operations.
package struct MILFunction: SpecificationMessage {
  package var inputs: [MILNamedType] = []
  /// The set of operations of the body to run, such as `CoreML7`.
  package var opset = ""
  package var specializations: [MILBlockEntry] = []
  package var attributes: [MILAttribute] = []
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .messages("inputs", \.inputs),
    .string("opset", \.opset),
    .messages("specializations", \.specializations),
    .messages("attributes", \.attributes),
  ]

  /// The body for `opset`.
  package var body: MILBlock? { specializations.first { $0.key == opset }?.value }
}

/// A body of a function and its set of operations.
package struct MILBlockEntry: SpecificationMessage {
  package var key = ""
  package var value: MILBlock?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.string("key", \.key), .message("value", \.value)]
}

/// Operations in the order of execution, and the names of the block's results.
package struct MILBlock: SpecificationMessage {
  package var inputs: [MILNamedType] = []
  package var outputs: [String] = []
  package var operations: [MILOperation] = []
  package var attributes: [MILAttribute] = []
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .messages("inputs", \.inputs),
    .strings("outputs", \.outputs),
    .messages("operations", \.operations),
    .messages("attributes", \.attributes),
  ]
}

/// An operation with named arguments, such as `conv`.
package struct MILOperation: SpecificationMessage {
  package var type = ""
  package var inputs: [MILArgumentEntry] = []
  package var outputs: [MILNamedType] = []
  package var blocks: [MILBlock] = []
  package var attributes: [MILAttribute] = []
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .string("type", \.type),
    .messages("inputs", \.inputs),
    .messages("outputs", \.outputs),
    .messages("blocks", \.blocks),
    .messages("attributes", \.attributes),
  ]

  /// What the argument is bound to; nil if the operation lacks it.
  package func argument(_ name: String) -> [MILBinding.Content?]? {
    inputs.first { $0.key == name }?.bindings
  }

  /// The names of the argument's values.
  package func names(_ argument: String) -> [String] {
    inputs.first { $0.key == argument }?.names ?? []
  }

  /// The name of the argument's first value.
  package func name(_ argument: String) -> String? { names(argument).first }

  /// The names of the arguments' values.
  package var namesRead: [String] { inputs.flatMap(\.names) }

  /// Transforms every value that the operation holds directly.
  package mutating func mapValues(_ change: (MILValue) throws -> MILValue) rethrows {
    for index in attributes.indices {
      attributes[index].value = try attributes[index].value.map(change)
    }
    for index in inputs.indices {
      try inputs[index].mapBindings {
        if case .value(let value) = $0 { .value(try change(value)) } else { $0 }
      }
    }
  }

  package func attribute(_ name: String) -> MILValue? { attributes.first { $0.key == name }?.value }

  /// The name to report: the attribute `name`, or else the name of the first output.
  package var label: String {
    if case .immediate(let value)? = attribute("name")?.content,
      case .tensor(let tensor)? = value.content, case .strings(let names)? = tensor.content,
      let name = names.first
    {
      return name
    }
    return outputs.first?.name ?? ""
  }
}

/// An argument of an operation and its name.
package struct MILArgumentEntry: SpecificationMessage {
  package var key = ""
  package var value: MILArgument?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.string("key", \.key), .message("value", \.value)]
}

/// One value, or several for an argument that takes a list.
package struct MILArgument: SpecificationMessage {
  package var arguments: [MILBinding] = []
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.messages("arguments", \.arguments)]
}

/// The name of a value, or a value itself.
package struct MILBinding: SpecificationMessage {
  package enum Content: Sendable, Equatable {
    case name(String)
    case value(MILValue)
  }

  package var content: Content?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .choice(
      \.content,
      [
        .plain(
          "name", { .name(try $0.string("name")) },
          { if case .name(let name) = $0 { name } else { nil } }, { try $0.set("name", $1) }),
        .message("value", { .value($0) }, { if case .value(let v) = $0 { v } else { nil } }),
      ])
  ]
}

/// An attribute of a program, function, block, operation or type.
package struct MILAttribute: SpecificationMessage {
  package var key = ""
  package var value: MILValue?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.string("key", \.key), .message("value", \.value)]
}
