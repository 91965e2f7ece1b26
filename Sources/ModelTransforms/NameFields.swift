import ByteFormats
import CoreMLModel
import TensorCore

/// The locations of blob and feature names in a message that is copied without parsing: its fields
/// by their numbers in the specification.
indirect enum NameFields {
  case name
  case message([UInt32: NameFields])

  private static let loss = NameFields.message([1: .name, 2: .name])

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
    Bytes(try payload.withUnsafeBytes { try rewritten($0, rename) })
  }

  private func rewritten(
    _ bytes: UnsafeRawBufferPointer, _ rename: (String) -> String
  ) throws -> [UInt8] {
    guard case .message(let fields) = self else {
      return Array(rename(String(decoding: bytes, as: UTF8.self)).utf8)
    }
    var result: [UInt8] = []
    var position = 0
    while position < bytes.count {
      let field = try ProtobufWire.field(bytes, at: position, end: bytes.count)
      if let nested = fields[field.number], field.wireType == ProtobufWire.delimited {
        let inner = try nested.rewritten(
          UnsafeRawBufferPointer(rebasing: bytes[field.value]), rename)
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
