import ByteFormats
import CProtobufC
import CSpec
import Synchronization

/// The schema of `Model` for the wire walkers, built from the generated descriptors and the tables:
/// fields missing from every table are carried through.
package enum SpecificationSchema {
  package static let model = Builder().schema(descriptor, Model.self)

  /// The schema of another message with a table.
  package static func schema(
    _ message: UnsafePointer<ProtobufCMessageDescriptor>, _ type: any EncodedMessage.Type
  ) -> ProtobufSchema {
    Builder().schema(message, type)
  }

  static var descriptor: UnsafePointer<ProtobufCMessageDescriptor> { spec_model_descriptor() }

  /// Creates one schema per message type and table.
  private final class Builder: Sendable {
    private struct Key: Hashable {
      var descriptor: UInt
      var type: ObjectIdentifier?
    }

    private let schemas = Mutex<[Key: ProtobufSchema]>([:])

    /// - Parameter type: the message's Swift type; a message without one is read in full as part of
    ///   its parent.
    func schema(_ message: Descriptor, _ type: (any EncodedMessage.Type)?) -> ProtobufSchema {
      let address = UInt(bitPattern: message)
      let key = Key(descriptor: address, type: type.map { ObjectIdentifier($0) })
      return schemas.withLock { schemas in
        if let schema = schemas[key] { return schema }
        let schema = ProtobufSchema(
          name: String(cString: message.pointee.short_name),
          structByteCount: Int(message.pointee.sizeof_message),
          fields: { Descriptor(bitPattern: address).map { self.fields($0, type) } ?? [] })
        schemas[key] = schema
        return schema
      }
    }

    private func fields(
      _ message: Descriptor, _ type: (any EncodedMessage.Type)?
    ) -> [ProtobufSchema.Field] {
      let names = type?.readNames
      let types = type?.readTypes ?? [:]
      return (0..<Int(message.pointee.n_fields)).map { index in
        let field = message.pointee.fields[index]
        let name = String(cString: field.name)
        let isCarried = names.map { !$0.contains(name) } ?? false
        return ProtobufSchema.Field(
          number: field.id, name: name,
          kind: isCarried && field.messageType != nil ? .bytes : kind(field, types[name]),
          isRepeated: field.label == PROTOBUF_C_LABEL_REPEATED,
          choice: field.isInChoice ? Int(field.quantifier_offset) : nil, isCarried: isCarried)
      }
    }

    private func kind(
      _ field: ProtobufCFieldDescriptor, _ type: (any EncodedMessage.Type)?
    ) -> ProtobufSchema.Kind {
      if let inner = field.messageType { return .message(schema(inner, type)) }
      return switch field.type {
      case PROTOBUF_C_TYPE_FLOAT, PROTOBUF_C_TYPE_FIXED32, PROTOBUF_C_TYPE_SFIXED32: .fixed32
      case PROTOBUF_C_TYPE_DOUBLE, PROTOBUF_C_TYPE_FIXED64, PROTOBUF_C_TYPE_SFIXED64: .fixed64
      case PROTOBUF_C_TYPE_STRING: .string
      case PROTOBUF_C_TYPE_BYTES: .bytes
      default: .varint
      }
    }
  }
}

private typealias Descriptor = UnsafePointer<ProtobufCMessageDescriptor>
