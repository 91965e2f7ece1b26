import CProtobufC
import CSpec
import CoreMLModel
import TensorCore

/// Any Core ML layer, with the names from Core ML's specification.
///
///     let roots = x --> CoreMLLayer("unary", ["type": "SQRT", "epsilon": 1e-6])
///     let sum = [x, y] --> CoreMLLayer("addBroadcastable")
///     let scaled = x --> CoreMLLayer("scale", ["shapeScale": [1], "scale": ["floatValue": [0.5]]])
///
/// Its inputs are `[1, 1, channels, height, width]`, and so is the result, unless the layer returns
/// an array of another rank, which only another `CoreMLLayer` accepts.
public final class CoreMLLayer: Layer, @unchecked Sendable {
  /// - Parameters:
  ///   - type: the type of the layer, such as `softmaxND`.
  ///   - fields: the fields to set, by name; others have Core ML's defaults. Weights are messages
  ///     with a `floatValue`, in Core ML's order.
  ///   - output: the index of the layer's output to return.
  ///   - outputs: the number of the layer's outputs.
  ///   - outputShape: computes the shape of the result if it depends on values.
  public init(
    _ type: String, _ fields: [String: Value] = [:], output: Int = 0, of outputs: Int = 1,
    outputShape: (@Sendable ([TensorShape]) throws -> TensorShape)? = nil, name: String? = nil
  ) {
    super.init(
      name,
      CoreMLDefinition(
        typeName: type, fields: fields, output: output, outputs: max(outputs, output + 1),
        outputShape: outputShape))
  }

  /// The value of a field.
  public indirect enum Value: Sendable {
    /// An integer or a floating-point number.
    case number(Double)
    /// A Boolean.
    case flag(Bool)
    /// A string, or the name of an enumeration case.
    case text(String)
    /// The values of a repeated field.
    case list([Value])
    /// The numbers of a repeated field, as one array.
    case floats([Float])
    /// A message, by its fields.
    case message([String: Value])
  }
}

extension CoreMLLayer.Value: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  /// A floating-point number.
  public init(floatLiteral value: Double) { self = .number(value) }
  /// An integer.
  public init(integerLiteral value: Int) { self = .number(Double(value)) }
  /// A Boolean.
  public init(booleanLiteral value: Bool) { self = .flag(value) }
  /// A string, or the name of an enumeration case.
  public init(stringLiteral value: String) { self = .text(value) }
  /// The values of a repeated field.
  public init(arrayLiteral elements: CoreMLLayer.Value...) { self = .list(elements) }
  /// A message.
  public init(dictionaryLiteral elements: (String, CoreMLLayer.Value)...) {
    self = .message(Dictionary(elements) { _, last in last })
  }
}

struct CoreMLDefinition: LayerDefinition {
  static let typeName = "CoreMLLayer"

  var typeName: String
  var fields: [String: CoreMLLayer.Value]
  var output: Int
  var outputs: Int
  var outputShape: (@Sendable ([TensorShape]) throws -> TensorShape)?

  func write(_ inputs: [WrittenTensor], _ scope: LayerScope) throws -> WrittenTensor {
    let parameters = try parameters()
    let shape: [Int]
    if let outputShape {
      shape = try outputShape(inputs.map(\.shape)).blob ?? []
    } else {
      let shapes = try parameters.blobShapes(inputs.map { try $0.exact ?? $0.knownShape() })
      try require(
        output < shapes.count && outputs <= shapes.count, .mismatch,
        "it has \(counted(shapes.count, "output")), not \(outputs)")
      shape = shapes[output]
    }
    let known = try? TensorShape(blob: shape)
    var result = scope.append(
      parameters, inputs, shape: known ?? TensorShape(array: shape), output: output, of: outputs)
    if known == nil { result.exact = shape }
    return result
  }

  /// Reads the fields as from a file, so each has the type and the default that it has there.
  func parameters() throws -> any LayerParameters {
    try require(
      layerTypes.contains { $0.typeName == typeName }, .unsupported,
      "Core ML has no layer '\(typeName)'")
    let model: [String: CoreMLLayer.Value] = [
      "specificationVersion": 4,
      "neuralNetwork": ["layers": [.message([typeName: .message(fields)])]],
    ]
    let bytes: [UInt8]
    do {
      bytes = try Self.encoded(model, of: spec_model_descriptor())
    } catch var error as ModelError {
      error.field = error.field.map {
        String($0.dropFirst("neuralNetwork.layers.\(typeName).".count))
      }
      throw error
    }
    return try (Model(bytes: Bytes(bytes)).neuralNetwork?.layers.first?.parameters).orThrow(
      ModelError(.internal, "a network without its layer"))
  }

  /// The message in protobuf's wire format.
  private static func encoded(
    _ fields: [String: CoreMLLayer.Value], of message: UnsafePointer<ProtobufCMessageDescriptor>
  ) throws -> [UInt8] {
    var bytes: [UInt8] = []
    let known = UnsafeBufferPointer(
      start: message.pointee.fields, count: Int(message.pointee.n_fields))
    for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
      let field = try known.first { String(cString: $0.name) == name }.orThrow(
        ModelError(
          .mismatch, "no such field", field: name,
          hint: "the fields are " + known.map { String(cString: $0.name) }.joined(separator: ", ")))
      var values = [value]
      if field.label == PROTOBUF_C_LABEL_REPEATED {
        switch value {
        case .list(let list): values = list
        case .floats(let floats): values = floats.map { .number(Double($0)) }
        default: break
        }
      }
      for value in values { try inField(name) { try append(value, field, to: &bytes) } }
    }
    return bytes
  }

  private static func append(
    _ value: CoreMLLayer.Value, _ field: ProtobufCFieldDescriptor, to bytes: inout [UInt8]
  ) throws {
    func varint(_ value: UInt64) {
      var rest = value
      while rest > 0x7F {
        bytes.append(UInt8(rest & 0x7F) | 0x80)
        rest >>= 7
      }
      bytes.append(UInt8(rest))
    }
    func number(_ wireType: UInt64, _ bits: some FixedWidthInteger) {
      varint(UInt64(field.id) << 3 | wireType)
      withUnsafeBytes(of: bits.littleEndian) { bytes.append(contentsOf: $0) }
    }
    func whole(_ value: Int64) {
      varint(UInt64(field.id) << 3)
      varint(UInt64(bitPattern: value))
    }
    func text(_ content: [UInt8]) {
      varint(UInt64(field.id) << 3 | 2)
      varint(UInt64(content.count))
      bytes += content
    }
    switch (field.type, value) {
    case (PROTOBUF_C_TYPE_MESSAGE, .message(let fields)):
      text(
        try encoded(
          fields, of: field.descriptor.assumingMemoryBound(to: ProtobufCMessageDescriptor.self)))
    case (PROTOBUF_C_TYPE_ENUM, .text(let name)):
      let type = field.descriptor.assumingMemoryBound(to: ProtobufCEnumDescriptor.self).pointee
      let cases = UnsafeBufferPointer(start: type.values, count: Int(type.n_values))
      whole(
        Int64(
          try cases.first { String(cString: $0.name) == name }.orThrow(
            ModelError(
              .mismatch, "no case '\(name)'",
              hint: "the cases are "
                + cases.map { String(cString: $0.name) }.joined(separator: ", "))
          )
          .value))
    case (PROTOBUF_C_TYPE_STRING, .text(let content)): text(Array(content.utf8))
    case (PROTOBUF_C_TYPE_BOOL, .flag(let flag)): whole(flag ? 1 : 0)
    case (PROTOBUF_C_TYPE_FLOAT, .number(let value)): number(5, Float(value).bitPattern)
    case (PROTOBUF_C_TYPE_DOUBLE, .number(let value)): number(1, value.bitPattern)
    case (PROTOBUF_C_TYPE_INT64, .number(let value)), (PROTOBUF_C_TYPE_UINT64, .number(let value)),
      (PROTOBUF_C_TYPE_INT32, .number(let value)), (PROTOBUF_C_TYPE_UINT32, .number(let value)):
      whole(
        try Int64(exactly: value).orThrow(ModelError(.mismatch, "\(value) is not a whole number")))
    default: throw ModelError(.mismatch, "not a value of this field: \(value)")
    }
  }
}
