import CoreMLModel
import TensorCore

/// An ONNX model (`ModelProto`).
package struct ONNXModel: SpecificationMessage {
  package var irVersion = 0
  package var producerName = ""
  package var producerVersion = ""
  package var docString = ""
  package var graph: ONNXGraph?
  var opsets: [ONNXOpset] = []
  package var metadata: [ONNXEntry] = []
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .int("ir_version", \.irVersion),
    .string("producer_name", \.producerName),
    .string("producer_version", \.producerVersion),
    .string("doc_string", \.docString),
    .message("graph", \.graph),
    .messages("opset_import", \.opsets),
    .messages("metadata_props", \.metadata),
  ]

  /// The version of the standard operators.
  package var opset: Int { opsets.first { $0.domain.isEmpty }?.version ?? 0 }
}

struct ONNXOpset: SpecificationMessage {
  var domain = ""
  var version = 0
  var unknownFields = UnknownFields()

  static let fields: Fields = [.string("domain", \.domain), .int("version", \.version)]
}

/// A key and its value.
package struct ONNXEntry: SpecificationMessage {
  package var key = ""
  package var value = ""
  package var unknownFields = UnknownFields()

  package init() {}

  init(_ key: String, _ value: String) { (self.key, self.value) = (key, value) }

  package static let fields: Fields = [.string("key", \.key), .string("value", \.value)]
}

package struct ONNXGraph: SpecificationMessage {
  package var nodes: [ONNXNode] = []
  package var name = ""
  package var initializers: [ONNXTensor] = []
  package var inputs: [ONNXValueInfo] = []
  package var outputs: [ONNXValueInfo] = []
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .messages("node", \.nodes),
    .string("name", \.name),
    .messages("initializer", \.initializers),
    .messages("input", \.inputs),
    .messages("output", \.outputs),
  ]

  /// The names of all values that the graph reads, including those of surrounding graphs.
  var namesRead: [String] { nodes.flatMap(\.namesRead) + outputs.map(\.name) }
}

/// An operator with its inputs; an empty name means an omitted input.
package struct ONNXNode: SpecificationMessage {
  package var inputs: [String] = []
  package var outputs: [String] = []
  package var name = ""
  package var type = ""
  package var domain = ""
  var attributes: [ONNXAttribute] = []
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .strings("input", \.inputs),
    .strings("output", \.outputs),
    .string("name", \.name),
    .string("op_type", \.type),
    .string("domain", \.domain),
    .messages("attribute", \.attributes),
  ]

  var namesRead: [String] { inputs + attributes.compactMap(\.graph).flatMap(\.namesRead) }
}

struct ONNXAttribute: SpecificationMessage {
  var name = ""
  var float: Float = 0
  var int = 0
  var string = ""
  var graph: ONNXGraph?
  var floats: [Float] = []
  var ints: [Int] = []
  var strings: [String] = []
  /// The number of the type, which determines the property that holds the value.
  var type = 0
  var unknownFields = UnknownFields()

  static let fields: Fields = [
    .string("name", \.name),
    .float("f", \.float),
    .int("i", \.int),
    .string("s", \.string),
    .message("g", \.graph),
    .floats("floats", \.floats),
    .ints("ints", \.ints),
    .strings("strings", \.strings),
    .int("type", \.type),
  ]
}

/// The value of an attribute in a rule.
enum AttributeValue {
  case float(Float)
  case int(Int)
  case string(String)
  case graph(ONNXGraph)
  case floats([Float])
  case ints([Int])
  case strings([String])

  func attribute(_ name: String) -> ONNXAttribute {
    var result = ONNXAttribute()
    result.name = name
    switch self {
    case .float(let value): (result.type, result.float) = (1, value)
    case .int(let value): (result.type, result.int) = (2, value)
    case .string(let value): (result.type, result.string) = (3, value)
    case .graph(let value): (result.type, result.graph) = (5, value)
    case .floats(let values): (result.type, result.floats) = (6, values)
    case .ints(let values): (result.type, result.ints) = (7, values)
    case .strings(let values): (result.type, result.strings) = (8, values)
    }
    return result
  }
}

/// The name and type of an input or output.
package struct ONNXValueInfo: SpecificationMessage {
  package var name = ""
  var type: ONNXType?
  package var docString = ""
  package var unknownFields = UnknownFields()

  package init() {}

  /// - Parameter sizes: numbers, or names of sizes that are unknown until the model runs.
  init(_ name: String, _ type: ONNXDataType, _ sizes: [ONNXDimension.Size]) {
    self.name = name
    let shape = ONNXShape().with(\.dimensions, sizes.map { ONNXDimension().with(\.size, $0) })
    let tensor = ONNXTensorType().with(\.elementType, type.rawValue).with(\.shape, shape)
    self.type = ONNXType().with(\.tensor, tensor)
  }

  package static let fields: Fields = [
    .string("name", \.name), .message("type", \.type), .string("doc_string", \.docString),
  ]
}

struct ONNXType: SpecificationMessage {
  var tensor: ONNXTensorType?
  var unknownFields = UnknownFields()

  static let fields: Fields = [.choice(\.tensor, [.message("tensor_type", { $0 }, { $0 })])]
}

struct ONNXTensorType: SpecificationMessage {
  var elementType = 0
  var shape: ONNXShape?
  var unknownFields = UnknownFields()

  static let fields: Fields = [
    .int("elem_type", \.elementType), .message("shape", \.shape),
  ]
}

struct ONNXShape: SpecificationMessage {
  var dimensions: [ONNXDimension] = []
  var unknownFields = UnknownFields()

  static let fields: Fields = [.messages("dim", \.dimensions)]
}

struct ONNXDimension: SpecificationMessage {
  enum Size: Sendable, Equatable {
    case number(Int)
    case name(String)
  }

  var size: Size?
  var unknownFields = UnknownFields()

  static let fields: Fields = [
    .choice(
      \.size,
      [
        .plain(
          "dim_value", { .number(try $0.int("dim_value")) },
          { if case .number(let size) = $0 { size } else { nil } },
          { try $0.set("dim_value", $1) }),
        .plain(
          "dim_param", { .name(try $0.string("dim_param")) },
          { if case .name(let name) = $0 { name } else { nil } },
          { try $0.set("dim_param", $1) }),
      ])
  ]
}

/// An initializer.
package struct ONNXTensor: SpecificationMessage {
  package var sizes: [Int] = []
  package var type = 0
  package var name = ""
  /// The elements, little-endian; empty if they are in another file.
  package var data = Bytes()
  /// The location of the elements in another file: `location`, `offset` and `length`.
  package var externalData: [ONNXEntry] = []
  /// 1 if the elements are in another file.
  package var location = 0
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .ints("dims", \.sizes),
    .int("data_type", \.type),
    .string("name", \.name),
    .bytes("raw_data", \.data),
    .messages("external_data", \.externalData),
    .int("data_location", \.location),
  ]
}

/// The types of elements, with their values in the format.
package enum ONNXDataType: Int, Sendable {
  case float = 1
  case uint8 = 2
  case int8 = 3
  case int32 = 6
  case int64 = 7
  case bool = 9
  case float16 = 10
  case double = 11
  case uint4 = 21
  case int4 = 22

  /// The type for a program's values; 16-bit integers become 32-bit, which all operators accept.
  init(_ type: MILDataType) throws {
    switch type {
    case .float32: self = .float
    case .float16: self = .float16
    case .float64: self = .double
    case .bool: self = .bool
    case .int8: self = .int8
    case .uint8: self = .uint8
    case .int16, .uint16, .int32, .uint32: self = .int32
    case .int64: self = .int64
    case .int4: self = .int4
    case .uint4: self = .uint4
    default:
      throw ModelError(.unsupported, "ONNX has no values of type \(type.name)")
    }
  }
}
