import ByteFormats
import CProtobufC
import CSpec

/// The schema of `Model` for the wire walkers, made of the generated descriptors and of the tables:
/// what no table reads is carried.
enum SpecificationSchema {
  static let model: ProtobufSchema = {
    let builder = Builder()
    builder.collectTypes(descriptor, Model.self)
    return builder.schema(descriptor)
  }()

  static var descriptor: UnsafePointer<ProtobufCMessageDescriptor> { spec_model_descriptor() }

  private final class Builder {
    /// The Swift types of messages. Those without one are read in place, completely.
    private var types: [Descriptor: any EncodedMessage.Type] = [:]
    private var schemas: [Descriptor: ProtobufSchema] = [:]

    func collectTypes(_ descriptor: Descriptor, _ type: any EncodedMessage.Type) {
      if types[descriptor] != nil { return }
      types[descriptor] = type
      for (name, inner) in type.readTypes {
        guard let descriptor = descriptor.field(name).pointee.messageType else { continue }
        collectTypes(descriptor, inner)
      }
    }

    func schema(_ descriptor: Descriptor) -> ProtobufSchema {
      if let schema = schemas[descriptor] { return schema }
      let schema = ProtobufSchema(
        name: String(cString: descriptor.pointee.short_name),
        structByteCount: Int(descriptor.pointee.sizeof_message))
      schemas[descriptor] = schema
      let names = types[descriptor]?.readNames
      schema.define(
        (0..<Int(descriptor.pointee.n_fields)).map { index in
          let field = descriptor.pointee.fields[index]
          let name = String(cString: field.name)
          let isCarried = names.map { !$0.contains(name) } ?? false
          return ProtobufSchema.Field(
            number: field.id, name: name,
            kind: isCarried && field.messageType != nil ? .bytes : kind(field),
            isRepeated: field.label == PROTOBUF_C_LABEL_REPEATED,
            choice: field.isInChoice ? Int(field.quantifier_offset) : nil, isCarried: isCarried)
        })
      return schema
    }

    private func kind(_ field: ProtobufCFieldDescriptor) -> ProtobufSchema.Kind {
      if let inner = field.messageType { return .message(schema(inner)) }
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
