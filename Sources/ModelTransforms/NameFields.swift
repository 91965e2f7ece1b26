import ByteFormats
import CoreMLModel
import TensorCore

/// The locations of blob and feature names in a message that is copied without parsing: its fields
/// by their numbers in the specification.
indirect enum NameFields {
  case name
  case message([UInt32: NameFields])
  /// `NeuralNetwork`, whose layers may contain networks.
  case network

  private static let branch = NameFields.message([1: .network, 2: .network])
  private static let loop = NameFields.message([2: .name, 3: .network, 4: .network])
  private static let loss = NameFields.message([1: .name, 2: .name])

  private var fields: [UInt32: NameFields] {
    switch self {
    case .name: [:]
    case .message(let fields): fields
    case .network: [1: .message([2: .name, 3: .name, 605: Self.branch, 615: Self.loop])]
    }
  }

  /// The positions in a layer with that field number; nil if it contains no names.
  static func layer(_ field: UInt32) -> NameFields? {
    switch field {
    case 605: branch
    case 615: loop
    default: nil
    }
  }

  /// `NetworkUpdateParameters`: the losses name a blob and a target.
  static let updateParameters = NameFields.message([1: .message([10: loss, 11: loss])])

  /// The positions in a model with that field number; nil if it contains no names.
  static func model(_ field: UInt32) -> NameFields? {
    switch field {
    case 304: names([10, 11, 12, 13, 20, 21, 22, 23])  // bayesianProbitRegressor
    case 501: names([10, 11, 12, 13, 20, 21])  // itemSimilarityRecommender
    case 2001: names([20, 21, 22, 23])  // wordTagger
    default: nil
    }
  }

  /// Models that name features in code: mlProgram, customModel, linkedModel, serializedModel.
  static let unreadableModels: Set<UInt32> = [502, 555, 556, 3000]

  private static func names(_ fields: [UInt32]) -> NameFields {
    .message(Dictionary(uniqueKeysWithValues: fields.map { ($0, .name) }))
  }
}

extension NameFields {
  /// The message with `rename` applied to every name.
  func rewriting(_ payload: Bytes, _ rename: (String) -> String) throws -> Bytes {
    Bytes(try payload.withUnsafeBytes { try rewritten($0, depth: 0, rename) })
  }

  /// Every name in the message.
  func names(in payload: Bytes) throws -> Set<String> {
    var names: Set<String> = []
    _ = try rewriting(payload) { name in
      names.insert(name)
      return name
    }
    return names
  }

  private func rewritten(
    _ bytes: UnsafeRawBufferPointer, depth: Int, _ rename: (String) -> String
  ) throws -> [UInt8] {
    if case .name = self { return Array(rename(String(decoding: bytes, as: UTF8.self)).utf8) }
    try require(
      depth < Limits.protobufDepth, .limitExceeded,
      "messages are nested more than \(Limits.protobufDepth) levels deep")
    let fields = self.fields
    var result: [UInt8] = []
    var position = 0
    while position < bytes.count {
      let field = try ProtobufWire.field(bytes, at: position, end: bytes.count)
      if let nested = fields[field.number], field.wireType == ProtobufWire.delimited {
        let inner = try nested.rewritten(
          UnsafeRawBufferPointer(rebasing: bytes[field.value]), depth: depth + 1, rename)
        ProtobufWire.append(key: field.number, field.wireType, to: &result)
        ProtobufWire.append(varint: UInt64(inner.count), to: &result)
        result += inner
      } else {
        result += bytes[field.range]
      }
      position = field.range.upperBound
    }
    return result
  }
}
