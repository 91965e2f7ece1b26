import CProtobufC
import TensorCore
import TestSupport
import Testing

@testable import CoreMLModel

/// Messages with every field of the schema set, plus an unknown field, read back byte for byte, so
/// that every field is decoded and encoded, or preserved.
struct EveryFieldTests {
  @Test(arguments: 0..<160) func layersComeBack(variant: Int) throws {
    try check(Generator(variant: variant, modelType: "neuralNetwork"))
  }

  @Test(arguments: 0..<40) func modelTypesComeBack(variant: Int) throws {
    try check(Generator(variant: variant, modelType: nil))
    try check(Generator(variant: variant, modelType: "neuralNetworkClassifier"))
  }

  private func check(_ generator: Generator) throws {
    let bytes = generator.message(SpecificationSchema.descriptor, depth: 0)
    let model = try Model(bytes: Bytes(bytes))
    #expect(try model.encoded() == bytes)
  }

  /// Damaged messages produce a model or an error, for every kind of layer in turn.
  @Test(arguments: 0..<160) func damagedOnesDoNotTrap(variant: Int) {
    let generator = Generator(variant: variant, modelType: "neuralNetwork")
    let bytes = generator.message(SpecificationSchema.descriptor, depth: 0)
    var random = SplitMix64(seed: UInt64(variant))
    for _ in 0..<5 { HostileModelTests.exercise(bytes.withBytesReplaced(&random)) }
  }

  /// Every type in the list is decoded, not only preserved.
  @Test func allLayerTypesAreRead() throws {
    var types: Set<String> = []
    for variant in 0..<160 {
      let generator = Generator(variant: variant, modelType: "neuralNetwork")
      let bytes = generator.message(SpecificationSchema.descriptor, depth: 0)
      for layer in try Model(bytes: Bytes(bytes)).neuralNetwork?.layers ?? [] {
        if let parameters = layer.parameters { types.insert(parameters.typeName) }
      }
    }
    #expect(types == Set(layerTypes.map { $0.typeName }))
  }
}

/// Generates the encodings.
struct Generator {
  let variant: Int
  /// The kind of model; nil means that of the variant.
  let modelType: String?

  func message(
    _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>, depth: Int, occurrence: Int = 0
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    let name = String(cString: descriptor.pointee.short_name)
    var choices: [UInt32: [ProtobufCFieldDescriptor]] = [:]
    let fields = (0..<Int(descriptor.pointee.n_fields)).map { descriptor.pointee.fields[$0] }
    for field in fields where field.isInChoice {
      choices[field.quantifier_offset, default: []].append(field)
    }
    for field in fields {
      if field.isInChoice, chosen(choices[field.quantifier_offset] ?? [], name, depth) != field.id {
        continue
      }
      if field.type == PROTOBUF_C_TYPE_MESSAGE, depth > 8 { continue }
      bytes += encoded(field, depth: depth, occurrence: occurrence)
    }
    // A map's entries and values cannot keep unknown fields.
    if !name.hasSuffix("Entry"), name != "CustomLayerParamValue" { bytes += key(9999, 0) + [0x2A] }
    return bytes
  }

  private func chosen(_ members: [ProtobufCFieldDescriptor], _ message: String, _ depth: Int)
    -> UInt32
  {
    if message == "Model" {
      let name = depth == 0 ? modelType : "identity"
      if let name, let member = members.first(where: { String(cString: $0.name) == name }) {
        return member.id
      }
    }
    return members[variant % members.count].id
  }

  private func encoded(
    _ field: ProtobufCFieldDescriptor, depth: Int, occurrence: Int
  ) -> [UInt8] {
    let isRepeated = field.label == PROTOBUF_C_LABEL_REPEATED
    let values = (0..<(isRepeated ? 2 : 1)).map {
      value(field, depth: depth, occurrence: isRepeated ? $0 : occurrence)
    }
    let isScalar = values[0].wireType != 2
    if isRepeated, isScalar {
      let payload = values.flatMap(\.bytes)
      return key(field.id, 2) + varint(payload.count) + payload
    }
    return values.flatMap { value in
      key(field.id, value.wireType) + (isScalar ? [] : varint(value.bytes.count)) + value.bytes
    }
  }

  private func value(
    _ field: ProtobufCFieldDescriptor, depth: Int, occurrence: Int
  ) -> (wireType: Int, bytes: [UInt8]) {
    switch field.type {
    case PROTOBUF_C_TYPE_FLOAT:
      (5, withUnsafeBytes(of: Float(field.id) + 0.5) { Array($0) })
    case PROTOBUF_C_TYPE_DOUBLE:
      (1, withUnsafeBytes(of: Double(field.id) + 0.25) { Array($0) })
    case PROTOBUF_C_TYPE_STRING: (2, Array("text \(field.id) \(occurrence)".utf8))
    case PROTOBUF_C_TYPE_BYTES: (2, [UInt8](repeating: UInt8(field.id & 0xFF), count: 5))
    case PROTOBUF_C_TYPE_BOOL: (0, [1])
    case PROTOBUF_C_TYPE_ENUM:
      (0, varint(lastValue(of: field)))
    case PROTOBUF_C_TYPE_MESSAGE:
      (2, message(field.messageType!, depth: depth + 1, occurrence: occurrence))
    default: (0, varint(Int(field.id) + occurrence))
    }
  }

  private func lastValue(of field: ProtobufCFieldDescriptor) -> Int {
    let type = field.descriptor.assumingMemoryBound(to: ProtobufCEnumDescriptor.self).pointee
    return Int(type.values[Int(type.n_values) - 1].value)
  }

  private func key(_ number: UInt32, _ wireType: Int) -> [UInt8] {
    varint(Int(number) << 3 | wireType)
  }

  private func varint(_ value: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }
}
