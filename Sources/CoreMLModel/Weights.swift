import TensorCore

/// The values of one weight, in any storage of the format (`WeightParams`).
///
/// Exactly one of the four storages holds values in a valid file. Their count is not stored: the
/// layer's sizes imply it.
package struct Weights: SpecificationMessage {
  package var floatValue: FloatValues {
    get { storage.content.floatValue }
    set { own.content.floatValue = newValue }
  }
  /// Little-endian half floats.
  package var float16Value: Bytes {
    get { storage.content.float16Value }
    set { own.content.float16Value = newValue }
  }
  /// Codes of `quantization.numberOfBits` bits, most significant bit first.
  package var rawValue: Bytes {
    get { storage.content.rawValue }
    set { own.content.rawValue = newValue }
  }
  package var int8RawValue: Bytes {
    get { storage.content.int8RawValue }
    set { own.content.int8RawValue = newValue }
  }
  package var quantization: Quantization? {
    get { storage.content.quantization }
    set { own.content.quantization = newValue }
  }
  package var isUpdatable: Bool {
    get { storage.content.isUpdatable }
    set { own.content.isUpdatable = newValue }
  }
  package var unknownFields: UnknownFields {
    get { storage.content.unknownFields }
    set { own.content.unknownFields = newValue }
  }

  private struct Content: Sendable, Equatable {
    var floatValue = FloatValues(bytes: Bytes())
    var float16Value = Bytes()
    var rawValue = Bytes()
    var int8RawValue = Bytes()
    var quantization: Quantization?
    var isUpdatable = false
    var unknownFields = UnknownFields()
  }

  /// Recurrent layers have up to 34 weights: with one reference each, they are cheap to copy.
  private final class Storage: @unchecked Sendable {
    // `@unchecked`: written only by its only owner.
    var content: Content
    init(_ content: Content) { self.content = content }
    static let empty = Storage(Content())
  }

  private var storage = Storage.empty

  private var own: Storage {
    mutating get {
      if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.content) }
      return storage
    }
  }

  package static func == (a: Weights, b: Weights) -> Bool {
    a.storage === b.storage || a.storage.content == b.storage.content
  }

  package init() {}

  package init(_ values: FloatValues) { floatValue = values }
  package init(_ values: [Float]) { floatValue = FloatValues(values) }
  /// - Parameter halves: little-endian half floats.
  package init(halves: Bytes) { float16Value = halves }

  /// Whether linear codes have one scale or bias per channel.
  package var hasScalePerChannel: Bool {
    guard case .linear(let scale, let bias)? = quantization?.kind else { return false }
    return max(scale.count, bias.count) > 1
  }

  package static let fields: Fields = [
    .values("floatValue", \.floatValue),
    .bytes("float16Value", \.float16Value),
    .bytes("rawValue", \.rawValue),
    .bytes("int8RawValue", \.int8RawValue),
    .message("quantization", \.quantization),
    .bool("isUpdatable", \.isUpdatable),
  ]

  package mutating func editWeights(
    _ path: String, _ body: (String, inout Weights) throws -> Void
  ) throws { try body(path, &self) }
}

/// How codes are converted to values.
package struct Quantization: SpecificationMessage {
  package enum Kind: Sendable, Equatable {
    /// w = scale · q + bias, with one value or one per output channel; no bias means 0.
    case linear(scale: [Float], bias: [Float])
    /// w = table[q], with 2^numberOfBits entries.
    case lookupTable([Float])
  }

  package var numberOfBits = 0
  package var kind: Kind?
  package var unknownFields = UnknownFields()

  /// Whether linear values are rounded to half precision. Only weights in memory have this, of a
  /// program or for half-precision arithmetic; the format cannot state it.
  package var roundsToHalf = false

  package init() {}

  package init(bits: Int, _ kind: Kind) {
    numberOfBits = bits
    self.kind = kind
  }

  package static let fields: Fields = [
    .int("numberOfBits", \.numberOfBits),
    .choice(
      \.kind,
      [
        .flat(
          "linearQuantization",
          read: { .linear(scale: $0.floats("scale"), bias: $0.floats("bias")) },
          { if case .linear(let scale, let bias) = $0 { (scale, bias) } else { nil } },
          write: {
            $1.set("scale", $0.0)
            $1.set("bias", $0.1)
          }),
        .flat(
          "lookupTableQuantization", read: { .lookupTable($0.floats("floatValue")) },
          { if case .lookupTable(let table) = $0 { table } else { nil } },
          write: { $1.set("floatValue", $0) }),
      ]),
  ]
}

extension NeuralNetworkLayer {
  /// Passes every weight and the path of its field to `body`, except weights in activations. Errors
  /// name the layer.
  package mutating func editWeights(_ body: (String, inout Weights) throws -> Void) throws {
    do { try parameters?.editWeights("", body) } catch let error as ModelError {
      throw error.inLayer(name, class: parameters?.typeName)
    }
  }
}
