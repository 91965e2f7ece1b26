import ByteFormats
import CProtobufC
import TensorCore

extension NeuralNetwork {
  /// For each layer, the fields of its parameters by their names in the specification and in its
  /// order, with typed values: an enumeration is the name of its case, a message an object. Omits
  /// weights, nested networks, and the content of layers carried through unread.
  package func layerAttributes() throws -> [JSONObject] {
    let bare = try layers.map {
      var layer = $0.parameters is OpaqueLayer ? NeuralNetworkLayer() : try $0.withoutWeights()
      layer.name = ""
      layer.input = []
      layer.output = []
      if var control = layer.parameters as? any ControlLayer {
        control.networks = []
        layer.parameters = control
      }
      return layer
    }
    let model = Model().with(\.description, nil)
      .with(\.type, .neuralNetwork(NeuralNetwork().with(\.layers, bare)))
    let values = try model.withUnpacked {
      ProtobufValues.object($0)["neuralNetwork"]?["layers"]?.array
    }
    guard let values, values.count == layers.count else {
      throw ModelError(.malformed, "the layers cannot be printed")
    }
    return values.map { layer in
      // The first object is the layer type's message; the fields before it belong to every layer.
      layer.object?.members.lazy.compactMap { $0.value.object }.first ?? JSONObject()
    }
  }
}

/// An unpacked message as a tree of values.
private enum ProtobufValues {
  /// All numbers, flags, names and lists, and the messages that are set, except weights.
  static func object(_ message: UnsafeRawPointer) -> JSONObject {
    var object = JSONObject()
    guard let descriptor = message.load(as: ProtobufCMessage.self).descriptor else { return object }
    for index in 0..<Int(descriptor.pointee.n_fields) {
      let field = descriptor.pointee.fields + index
      let type = field.pointee.messageType
      if type.map({ String(cString: $0.pointee.short_name) }) == "WeightParams" { continue }
      let elements = ProtobufText.elements(of: field, in: message)
      let values = elements.compactMap { value(field, at: $0) }
      let name = String(cString: field.pointee.name)
      if type?.isMapEntry == true {
        object[name] = .object(map(values))
      } else if field.pointee.label == PROTOBUF_C_LABEL_REPEATED {
        object[name] = .array(values)
      } else if let value = values.first {
        object[name] = value
      }
    }
    return object
  }

  /// The entries by key; a value that is a choice of types is unwrapped.
  private static func map(_ entries: [JSONValue]) -> JSONObject {
    var object = JSONObject()
    for entry in entries {
      let value = entry["value"] ?? .null
      object[entry["key"]?.string ?? entry["key"]?.text ?? ""] =
        value.object.map { $0.members.count == 1 ? $0.members[0].value : value } ?? value
    }
    return object
  }

  private static func value(
    _ field: UnsafePointer<ProtobufCFieldDescriptor>, at address: UnsafeRawPointer
  ) -> JSONValue? {
    switch field.pointee.type {
    case PROTOBUF_C_TYPE_MESSAGE:
      return address.load(as: UnsafeRawPointer?.self).map { .object(object($0)) }
    case PROTOBUF_C_TYPE_BOOL: return .bool(address.load(as: Int32.self) != 0)
    case PROTOBUF_C_TYPE_STRING:
      return .string(String(decoding: ProtobufText.string(at: address), as: UTF8.self))
    case PROTOBUF_C_TYPE_BYTES:
      return .string("\(address.load(as: ProtobufCBinaryData.self).len) bytes")
    case PROTOBUF_C_TYPE_ENUM: return .string(ProtobufText.scalar(field, at: address))
    default:
      // The shortest decimal that identifies the number.
      let text = ProtobufText.scalar(field, at: address)
      return Int(text).map { .int($0) } ?? Double(text).map { .double($0) } ?? .string(text)
    }
  }
}
