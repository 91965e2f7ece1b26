import TensorCore

/// An entry of a message's table: the schema fields that it covers, and how to read and write them.
package struct Field<Message>: @unchecked Sendable {
  // `@unchecked`: key paths and functions without captured state.
  let names: [String]
  /// The Swift types of the fields that are messages.
  let types: [String: any EncodedMessage.Type]
  let read: (inout Message, MessageReader) throws -> Void
  let write: (Message, MessageWriter) throws -> Void
  /// Passes the weights in the field to a function; nil if the field cannot hold weights.
  let editWeights: EditWeights?
  /// The description of the weights in the field; nil if the field is not a weight.
  private(set) var weight: WeightField<Message>?

  typealias EditWeights = (
    inout Message, String, (String, inout Weights) throws -> Void
  ) throws -> Void

  init(
    _ names: [String], types: [String: any EncodedMessage.Type] = [:],
    editWeights: EditWeights? = nil,
    read: @escaping (inout Message, MessageReader) throws -> Void,
    write: @escaping (Message, MessageWriter) throws -> Void
  ) {
    (self.editWeights, self.names, self.types, self.read) = (editWeights, names, types, read)
    self.write = write
  }

  private init<Value>(
    _ name: String, _ path: WritableKeyPath<Message, Value>,
    _ read: @escaping (MessageReader) throws -> Value,
    _ write: @escaping (MessageWriter, Value) throws -> Void
  ) {
    self.init(
      [name], read: { $0[keyPath: path] = try read($1) },
      write: { try write($1, $0[keyPath: path]) })
  }
}

extension Field {
  package static func int(_ name: String, _ path: WritableKeyPath<Message, Int>) -> Self {
    Self(name, path, { try $0.int(name) }, { try $0.set(name, $1) })
  }

  static func bool(_ name: String, _ path: WritableKeyPath<Message, Bool>) -> Self {
    Self(name, path, { try $0.int(name) != 0 }, { try $0.set(name, $1 ? 1 : 0) })
  }

  package static func float(_ name: String, _ path: WritableKeyPath<Message, Float>) -> Self {
    Self(name, path, { $0.float(name) }, { $0.set(name, $1) })
  }

  static func double(_ name: String, _ path: WritableKeyPath<Message, Double>) -> Self {
    Self(name, path, { $0.double(name) }, { $0.set(name, $1) })
  }

  static func doubles(_ name: String, _ path: WritableKeyPath<Message, [Double]>) -> Self {
    Self(name, path, { $0.doubles(name) }, { $0.set(name, $1) })
  }

  package static func string(_ name: String, _ path: WritableKeyPath<Message, String>) -> Self {
    Self(name, path, { try $0.string(name) }, { try $0.set(name, $1) })
  }

  package static func bytes(_ name: String, _ path: WritableKeyPath<Message, Bytes>) -> Self {
    Self(name, path, { $0.bytes(name) }, { $0.set(name, $1) })
  }

  static func values(_ name: String, _ path: WritableKeyPath<Message, FloatValues>) -> Self {
    Self(name, path, { $0.floatValues(name) }, { $0.set(name, $1) })
  }

  package static func ints(_ name: String, _ path: WritableKeyPath<Message, [Int]>) -> Self {
    Self(name, path, { try $0.ints(name) }, { try $0.set(name, $1) })
  }

  static func bools(_ name: String, _ path: WritableKeyPath<Message, [Bool]>) -> Self {
    Self(name, path, { $0.bools(name) }, { $0.set(name, $1) })
  }

  package static func floats(_ name: String, _ path: WritableKeyPath<Message, [Float]>) -> Self {
    Self(name, path, { $0.floats(name) }, { $0.set(name, $1) })
  }

  package static func strings(_ name: String, _ path: WritableKeyPath<Message, [String]>) -> Self {
    Self(name, path, { try $0.strings(name) }, { try $0.set(name, $1) })
  }

  /// An enumeration with the raw values of the file.
  package static func value<Value: RawRepresentable<Int> & CaseIterable>(
    _ name: String, _ path: WritableKeyPath<Message, Value>
  ) -> Self {
    Self(name, path, { try $0.value(name) }, { try $0.set(name, $1.rawValue) })
  }

  /// An enumeration wrapped in a message.
  package static func value<Value: RawRepresentable<Int> & CaseIterable>(
    _ name: String, in inner: String, _ path: WritableKeyPath<Message, Value?>
  ) -> Self {
    Self(
      name, path, { try $0.nested(name)?.value(inner) },
      { writer, value in
        guard let value else { return }
        let nested = try writer.nested(name)
        try nested.set(inner, value.rawValue)
        try nested.finish()
      })
  }

  package static func message<Value: SpecificationMessage>(
    _ name: String, _ path: WritableKeyPath<Message, Value?>
  ) -> Self {
    Self(
      [name], types: [name: Value.self],
      editWeights: { try $0[keyPath: path]?.editWeights($1.isEmpty ? name : "\($1).\(name)", $2) },
      read: { $0[keyPath: path] = try $1.message(name) },
      write: { try $1.set(name, $0[keyPath: path]) })
  }

  package static func messages<Value: SpecificationMessage>(
    _ name: String, _ path: WritableKeyPath<Message, [Value]>
  ) -> Self {
    Self(
      [name], types: [name: Value.self],
      editWeights: { message, outer, body in
        for index in message[keyPath: path].indices {
          let inner = "\(name)[\(index)]"
          try message[keyPath: path][index].editWeights(
            outer.isEmpty ? inner : "\(outer).\(inner)", body)
        }
      }, read: { $0[keyPath: path] = try $1.messages(name) },
      write: { try $1.set(name, $0[keyPath: path]) })
  }

  /// Weights with the shape that the other fields imply.
  ///
  /// - Parameter channelAxis: the axis along which quantization may vary.
  static func weights(
    _ name: String, _ path: WritableKeyPath<Message, Weights?>,
    isNeeded: @escaping (Message) -> Bool = { _ in true },
    channelAxis: @escaping (Message) -> Int = { _ in 0 }, _ shape: @escaping (Message) -> [Int]
  ) -> Self {
    var field = message(name, path)
    field.weight = WeightField(
      name: name, path: path, isNeeded: isNeeded, channelAxis: channelAxis, shape: shape)
    return field
  }

  /// A message that is carried through unread.
  static func opaque(_ name: String, _ path: WritableKeyPath<Message, OpaqueMessage?>) -> Self {
    Self(
      [], read: { $0[keyPath: path] = $1.takeOpaque([name]) },
      write: { $1.add($0[keyPath: path]) })
  }

  /// At most one of several fields; `opaque` handles those without an option.
  package static func choice<Value>(
    _ path: WritableKeyPath<Message, Value?>, _ options: [Choice<Value>],
    opaque: (embed: (OpaqueMessage) -> Value, extract: (Value) -> OpaqueMessage?)? = nil
  ) -> Self {
    let types = options.reduce(into: [String: any EncodedMessage.Type]()) { types, option in
      types[option.name] = option.type
    }
    return Self(
      options.map(\.name), types: types,
      read: { message, reader in
        if let option = options.first(where: { reader.isChosen($0.name) }) {
          message[keyPath: path] = try option.read(reader)
        } else if let opaque, let first = options.first {
          message[keyPath: path] = reader.takeOpaque(reader.rivals(of: first.name))
            .map(opaque.embed)
        }
      },
      write: { message, writer in
        guard let value = message[keyPath: path] else { return }
        if let carried = opaque?.extract(value) { return writer.add(carried) }
        for option in options where try option.write(value, writer) { return }
        throw ModelError(.internal, "no way to write \(value)")
      })
  }
}

/// A weight of a layer, as described by the layer's other fields.
struct WeightField<Message> {
  let name: String
  let path: WritableKeyPath<Message, Weights?>
  let isNeeded: (Message) -> Bool
  let channelAxis: (Message) -> Int
  let shape: (Message) -> [Int]

  /// The weight of `message`; nil if it has none.
  func named(_ message: Message) -> NamedWeights? {
    message[keyPath: path].map {
      NamedWeights(name, shape(message), $0, channelAxis: channelAxis(message))
    }
  }
}

/// One option of a choice.
package struct Choice<Value>: @unchecked Sendable {
  let name: String
  let type: (any EncodedMessage.Type)?
  let read: (MessageReader) throws -> Value
  /// Writes the value if it is this option; returns whether it is.
  let write: (Value, MessageWriter) throws -> Bool

  package static func message<Inner: SpecificationMessage>(
    _ name: String, _ embed: @escaping (Inner) -> Value, _ extract: @escaping (Value) -> Inner?
  ) -> Self {
    Self(
      name: name, type: Inner.self, read: { embed(try $0.message(name) ?? Inner()) },
      write: { value, writer in
        guard let inner = extract(value) else { return false }
        try writer.set(name, inner)
        return true
      })
  }

  /// A message whose fields are read and written as part of its parent; `type` has the table for
  /// nested messages.
  static func flat<Inner>(
    _ name: String, type: (any EncodedMessage.Type)? = nil,
    read: @escaping (MessageReader) throws -> Value,
    _ extract: @escaping (Value) -> Inner?,
    write: @escaping (Inner, MessageWriter) throws -> Void
  ) -> Self {
    Self(
      name: name, type: type,
      read: { reader in
        guard let nested = try reader.nested(name) else {
          throw ModelError(.internal, "'\(name)' is missing")
        }
        return try inField(name) { try read(nested) }
      },
      write: { value, writer in
        guard let inner = extract(value) else { return false }
        let nested = try writer.nested(name)
        try write(inner, nested)
        try nested.finish()
        return true
      })
  }

  /// A message without fields.
  static func empty(_ name: String, _ value: Value) -> Self where Value: Equatable {
    flat(name, read: { _ in value }, { $0 == value ? () : nil }, write: { _, _ in })
  }

  /// A message whose field `map` is a list of keys and values.
  static func map<Entry>(
    _ name: String, _ embed: @escaping ([Entry]) -> Value,
    _ extract: @escaping (Value) -> [Entry]?, read: @escaping (MessageReader) throws -> Entry,
    write: @escaping (Entry, MessageWriter) throws -> Void
  ) -> Self {
    flat(
      name, read: { embed(try $0.entries("map").map(read)) }, extract,
      write: { entries, writer in
        try writer.nestedArray("map", count: entries.count) { try write(entries[$0], $1) }
      })
  }

  /// A message that contains floats.
  static func floats(
    _ name: String, _ inner: [String], _ embed: @escaping ([Float]) -> Value,
    _ extract: @escaping (Value) -> [Float]?
  ) -> Self {
    flat(
      name, read: { reader in embed(inner.map { reader.float($0) }) }, extract,
      write: { values, writer in
        for (name, value) in zip(inner, values) { writer.set(name, value) }
      })
  }

  /// A field that is not a message.
  package static func plain<Inner>(
    _ name: String, _ read: @escaping (MessageReader) throws -> Value,
    _ extract: @escaping (Value) -> Inner?,
    _ write: @escaping (MessageWriter, Inner) throws -> Void
  ) -> Self {
    Self(
      name: name, type: nil, read: read,
      write: { value, writer in
        guard let inner = extract(value) else { return false }
        try write(writer, inner)
        return true
      })
  }
}

/// Adds the field's name to errors.
package func inField<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
  do { return try body() } catch let error as ModelError { throw error.inside(name) }
}

extension Field {
  /// The same field for an outer message that contains `Message` and is written together with it.
  func lifted<Outer>(to path: WritableKeyPath<Outer, Message>) -> Field<Outer> {
    Field<Outer>(
      names, types: types, read: { try read(&$0[keyPath: path], $1) },
      write: { try write($0[keyPath: path], $1) })
  }
}
