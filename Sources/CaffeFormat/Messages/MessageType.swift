import CProtobufC
import CSpec

/// A message type of the schema, built from the generated descriptor.
package final class MessageType: @unchecked Sendable {
  // `@unchecked`: `fields` is set once, before the type is shared.
  package let name: String
  package private(set) var fields: [FieldType] = []
  private var byName: [String: Int] = [:]
  private var byNumber: [UInt32: Int] = [:]

  /// Caffe's `NetParameter`.
  package static let network: MessageType = {
    var types: [Descriptor: MessageType] = [:]
    return type(caffe_network_descriptor(), &types)
  }()

  /// Caffe's `LayerParameter`.
  package static let layer = network.message("layer")
  /// Caffe's `BlobProto`.
  package static let blob = layer.message("blobs")

  private init(name: String) { self.name = name }

  package subscript(name: String) -> FieldType? { byName[name].map { fields[$0] } }
  package subscript(number: UInt32) -> FieldType? { byNumber[number].map { fields[$0] } }

  /// Precondition: the schema has the field, and its type is a message.
  package func message(_ name: String) -> MessageType {
    guard case .message(let type)? = self[name]?.kind else {
      preconditionFailure("\(self.name) has no message \(name)")
    }
    return type
  }

  private typealias Descriptor = UnsafePointer<ProtobufCMessageDescriptor>

  private static func type(
    _ descriptor: Descriptor, _ types: inout [Descriptor: MessageType]
  ) -> MessageType {
    if let known = types[descriptor] { return known }
    let type = MessageType(name: String(cString: descriptor.pointee.short_name))
    types[descriptor] = type
    for index in 0..<Int(descriptor.pointee.n_fields) {
      let field = descriptor.pointee.fields[index]
      type.byName[String(cString: field.name)] = index
      type.byNumber[field.id] = index
      type.fields.append(FieldType(field, kind: kind(field, &types)))
    }
    return type
  }

  private static func kind(
    _ field: ProtobufCFieldDescriptor, _ types: inout [Descriptor: MessageType]
  ) -> FieldType.Kind {
    switch field.type {
    case PROTOBUF_C_TYPE_FLOAT: .float
    case PROTOBUF_C_TYPE_DOUBLE: .double
    case PROTOBUF_C_TYPE_BOOL: .bool
    case PROTOBUF_C_TYPE_STRING: .string
    case PROTOBUF_C_TYPE_BYTES: .bytes
    case PROTOBUF_C_TYPE_UINT32: .integer(0...Int(UInt32.max))
    case PROTOBUF_C_TYPE_UINT64: .integer(0...Int.max)
    case PROTOBUF_C_TYPE_INT64: .integer(Int.min...Int.max)
    case PROTOBUF_C_TYPE_ENUM:
      .enumeration(
        EnumerationType(field.descriptor.assumingMemoryBound(to: ProtobufCEnumDescriptor.self)))
    case PROTOBUF_C_TYPE_MESSAGE:
      .message(
        type(field.descriptor.assumingMemoryBound(to: ProtobufCMessageDescriptor.self), &types))
    default: .integer(Int(Int32.min)...Int(Int32.max))
    }
  }
}

/// A field of a message type.
package final class FieldType: Sendable {
  package enum Kind: Sendable {
    case integer(ClosedRange<Int>)
    case float
    case double
    case bool
    case string
    case bytes
    case enumeration(EnumerationType)
    case message(MessageType)
  }

  package let name: String
  package let kind: Kind
  package let isRepeated: Bool
  /// The value if a message lacks the field: the schema's default, or zero; nil for messages.
  package let standard: CaffeValue?

  fileprivate init(_ field: ProtobufCFieldDescriptor, kind: Kind) {
    name = String(cString: field.name)
    self.kind = kind
    isRepeated = field.label == PROTOBUF_C_LABEL_REPEATED
    let value = field.default_value
    func load<Value: BitwiseCopyable>(_ zero: Value) -> Value {
      value?.loadUnaligned(as: Value.self) ?? zero
    }
    standard =
      switch kind {
      case .integer(let range):
        switch (range.lowerBound < 0, range.upperBound > Int(UInt32.max)) {
        case (true, true): .integer(Int(load(Int64(0))))
        case (true, false): .integer(Int(load(Int32(0))))
        case (false, true): .integer(Int(clamping: load(UInt64(0))))
        case (false, false): .integer(Int(load(UInt32(0))))
        }
      case .float: .number(Double(load(Float(0))))
      case .double: .number(load(0.0))
      case .bool: .bool(load(Int32(0)) != 0)
      case .string:
        .string(value.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) } ?? "")
      case .bytes: .bytes(.init())
      case .enumeration(let type): type.value(Int(load(type.first))).map { .symbol($0, nil) }
      case .message: nil
      }
  }
}

/// An enumeration of the schema.
package struct EnumerationType: Sendable {
  private let numbers: [String: Int]
  private let names: [Int: String]
  fileprivate let first: Int32

  fileprivate init(_ descriptor: UnsafePointer<ProtobufCEnumDescriptor>) {
    var numbers: [String: Int] = [:]
    var names: [Int: String] = [:]
    for index in 0..<Int(descriptor.pointee.n_values) {
      let value = descriptor.pointee.values[index]
      let name = String(cString: value.name)
      numbers[name] = Int(value.value)
      if names[Int(value.value)] == nil { names[Int(value.value)] = name }
    }
    self.numbers = numbers
    self.names = names
    first = descriptor.pointee.n_values > 0 ? Int32(descriptor.pointee.values[0].value) : 0
  }

  package func number(_ name: String) -> Int? { numbers[name] }
  package func value(_ number: Int) -> String? { names[number] }
  package var allNames: [String] { numbers.sorted { $0.value < $1.value }.map(\.key) }
}
