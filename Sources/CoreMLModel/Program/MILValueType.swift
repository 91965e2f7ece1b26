import TensorCore

/// The type of a value in a program.
package struct MILValueType: SpecificationMessage {
  package indirect enum Kind: Sendable, Equatable {
    case tensor(MILTensorType)
    case list(MILListType)
    case tuple(MILTupleType)
    case dictionary(MILDictionaryType)
    /// A buffer that persists between predictions.
    case state(MILStateType)
  }

  package var kind: Kind?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .choice(
      \.kind,
      [
        .message("tensorType", { .tensor($0) }, { if case .tensor(let t) = $0 { t } else { nil } }),
        .message("listType", { .list($0) }, { if case .list(let t) = $0 { t } else { nil } }),
        .message("tupleType", { .tuple($0) }, { if case .tuple(let t) = $0 { t } else { nil } }),
        .message(
          "dictionaryType", { .dictionary($0) },
          { if case .dictionary(let t) = $0 { t } else { nil } }),
        .message("stateType", { .state($0) }, { if case .state(let t) = $0 { t } else { nil } }),
      ])
  ]

  /// The type of the tensor, or of the tensor in the state.
  package var tensor: MILTensorType? {
    switch kind {
    case .tensor(let type): type
    case .state(let type): type.wrappedType?.tensor
    default: nil
    }
  }
}

/// A name and its type.
package struct MILNamedType: SpecificationMessage {
  package var name = ""
  package var type: MILValueType?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.string("name", \.name), .message("type", \.type)]
}

/// The types of elements, with their values in the specification.
package enum MILDataType: Int, Sendable, CaseIterable {
  case unused = 0
  case bool = 1
  case string = 2
  case float16 = 10
  case float32 = 11
  case float64 = 12
  case bfloat16 = 13
  case int8 = 21
  case int16 = 22
  case int32 = 23
  case int64 = 24
  case int4 = 25
  case uint8 = 31
  case uint16 = 32
  case uint32 = 33
  case uint64 = 34
  case uint4 = 35
  case uint2 = 36
  case uint1 = 37
  case uint6 = 38
  case uint3 = 39
  case float8E4M3FN = 40
  case float8E5M2 = 41

  /// Bits per element in a weight file; nil for types that are never in one.
  package var bitWidth: Int? {
    switch self {
    case .float16, .bfloat16, .int16, .uint16: 16
    case .float32, .int32, .uint32: 32
    case .float64, .int64, .uint64: 64
    case .int8, .uint8, .bool, .float8E4M3FN, .float8E5M2: 8
    case .int4, .uint4: 4
    case .uint1: 1
    case .uint2: 2
    case .uint3: 3
    case .uint6: 6
    case .unused, .string: nil
    }
  }

  package var isFloat: Bool { [.float16, .float32, .float64, .bfloat16].contains(self) }

  package var isInteger: Bool {
    [.int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64].contains(self)
  }

  /// The name in MIL text.
  package var name: String {
    switch self {
    case .float16: "fp16"
    case .float32: "fp32"
    case .float64: "fp64"
    case .bfloat16: "bf16"
    default: "\(self)"
    }
  }
}

package struct MILTensorType: SpecificationMessage {
  package var dataType = MILDataType.unused
  package var rank = 0
  package var dimensions: [MILDimension] = []
  package var attributes: [MILAttribute] = []
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .value("dataType", \.dataType),
    .int("rank", \.rank),
    .messages("dimensions", \.dimensions),
    .messages("attributes", \.attributes),
  ]

  /// The sizes; unknown ones are nil.
  package var sizes: [Int?] {
    dimensions.map { if case .constant(let size) = $0.kind { size } else { nil } }
  }

  /// The sizes; nil if one is unknown.
  package var shape: [Int]? {
    let known = sizes.compactMap { $0 }
    return known.count == dimensions.count ? known : nil
  }

  /// Whether the type allows arrays of this shape.
  package func allows(_ shape: [Int]) -> Bool {
    func match(_ sizes: ArraySlice<Int?>, _ shape: ArraySlice<Int>) -> Bool {
      sizes.count == shape.count && zip(sizes, shape).allSatisfy { $0 == nil || $0 == $1 }
    }
    guard let index = dimensions.firstIndex(where: { $0.kind == .unknown(isVariadic: true) }) else {
      return match(sizes[...], shape[...])
    }
    let rest = dimensions.count - index - 1
    return shape.count >= index + rest && match(sizes[..<index], shape[..<index])
      && match(sizes.suffix(rest), shape.suffix(rest))
  }
}

/// The size of an axis.
package struct MILDimension: SpecificationMessage {
  package enum Kind: Sendable, Equatable {
    case constant(Int)
    /// Unknown until the program runs; with `isVariadic`, any number of axes.
    case unknown(isVariadic: Bool)
  }

  package var kind: Kind?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .choice(
      \.kind,
      [
        .flat(
          "constant", read: { .constant(try $0.int("size")) },
          { if case .constant(let size) = $0 { size } else { nil } },
          write: { try $1.set("size", $0) }),
        .flat(
          "unknown", read: { .unknown(isVariadic: try $0.int("variadic") != 0) },
          { if case .unknown(let isVariadic) = $0 { isVariadic } else { nil } },
          write: { try $1.set("variadic", $0 ? 1 : 0) }),
      ])
  ]
}

package struct MILListType: SpecificationMessage {
  package var type: MILValueType?
  package var length: MILDimension?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.message("type", \.type), .message("length", \.length)]
}

package struct MILTupleType: SpecificationMessage {
  package var types: [MILValueType] = []
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.messages("types", \.types)]
}

package struct MILDictionaryType: SpecificationMessage {
  package var keyType: MILValueType?
  package var valueType: MILValueType?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .message("keyType", \.keyType), .message("valueType", \.valueType),
  ]
}

package struct MILStateType: SpecificationMessage {
  package var wrappedType: MILValueType?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.message("wrappedType", \.wrappedType)]
}
