import TensorCore

/// A value in a program, in the message or in a weight file.
package struct MILValue: SpecificationMessage {
  package indirect enum Content: Sendable, Equatable {
    case immediate(MILImmediate)
    case file(MILFileValue)
  }

  package var docString = ""
  package var type: MILValueType?
  package var content: Content?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .string("docString", \.docString),
    .message("type", \.type),
    .choice(
      \.content,
      [
        .message(
          "immediateValue", { .immediate($0) },
          { if case .immediate(let value) = $0 { value } else { nil } }),
        .message("blobFileValue", { .file($0) }, { if case .file(let v) = $0 { v } else { nil } }),
      ]),
  ]
}

/// The location of a value in a weight file: the file's path, in which `@model_path` is the model's
/// folder, and the byte offset of the description of the values.
package struct MILFileValue: SpecificationMessage {
  package var fileName = ""
  package var offset = 0
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.string("fileName", \.fileName), .int("offset", \.offset)]
}

/// A value in the message.
package struct MILImmediate: SpecificationMessage {
  package indirect enum Content: Sendable, Equatable {
    case tensor(MILTensorValue)
    case tuple(MILValues)
    case list(MILValues)
    case dictionary(MILDictionary)
  }

  package var content: Content?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .choice(
      \.content,
      [
        .message("tensor", { .tensor($0) }, { if case .tensor(let v) = $0 { v } else { nil } }),
        .message("tuple", { .tuple($0) }, { if case .tuple(let v) = $0 { v } else { nil } }),
        .message("list", { .list($0) }, { if case .list(let v) = $0 { v } else { nil } }),
        .message(
          "dictionary", { .dictionary($0) },
          { if case .dictionary(let v) = $0 { v } else { nil } }),
      ])
  ]
}

/// The elements of a list or a tuple.
package struct MILValues: SpecificationMessage {
  package var values: [MILValue] = []
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.messages("values", \.values)]
}

package struct MILDictionary: SpecificationMessage {
  package struct Pair: SpecificationMessage {
    package var key: MILValue?
    package var value: MILValue?
    package var unknownFields = UnknownFields()

    package init() {}

    package static let fields: Fields = [.message("key", \.key), .message("value", \.value)]
  }

  package var values: [Pair] = []
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.messages("values", \.values)]
}

/// Elements in the message, in the storage that the file uses.
package struct MILTensorValue: SpecificationMessage {
  package enum Content: Sendable, Equatable {
    case floats(FloatValues)
    /// Integers of 32 bits or fewer.
    case ints([Int])
    case bools([Bool])
    case strings([String])
    case longInts([Int])
    case doubles([Double])
    /// Little-endian elements of any type, such as half floats.
    case bytes(Bytes)
  }

  package var content: Content?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .choice(
      \.content,
      [
        .flat(
          "floats", read: { .floats($0.floatValues("values")) },
          { if case .floats(let values) = $0 { values } else { nil } },
          write: { $1.set("values", $0) }),
        .flat(
          "ints", read: { .ints(try $0.ints("values")) },
          { if case .ints(let values) = $0 { values } else { nil } },
          write: { try $1.set("values", $0) }),
        .flat(
          "bools", read: { .bools($0.bools("values")) },
          { if case .bools(let values) = $0 { values } else { nil } },
          write: { $1.set("values", $0) }),
        .flat(
          "strings", read: { .strings(try $0.strings("values")) },
          { if case .strings(let values) = $0 { values } else { nil } },
          write: { try $1.set("values", $0) }),
        .flat(
          "longInts", read: { .longInts(try $0.ints("values")) },
          { if case .longInts(let values) = $0 { values } else { nil } },
          write: { try $1.set("values", $0) }),
        .flat(
          "doubles", read: { .doubles($0.doubles("values")) },
          { if case .doubles(let values) = $0 { values } else { nil } },
          write: { $1.set("values", $0) }),
        .flat(
          "bytes", read: { .bytes($0.bytes("values")) },
          { if case .bytes(let values) = $0 { values } else { nil } },
          write: { $1.set("values", $0) }),
      ])
  ]
}
