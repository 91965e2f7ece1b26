import TensorCore

/// The values of one weight in whichever storage the file uses (`WeightParams`).
///
/// Exactly one of the four storages holds values in a valid file. Their count is not stored: the
/// layer's sizes imply it.
public struct Weights: SpecificationMessage {
  public var floatValue = FloatValues(bytes: Bytes())
  /// Little-endian half floats.
  public var float16Value = Bytes()
  /// Codes of `quantization.numberOfBits` bits, most significant bit first.
  public var rawValue = Bytes()
  public var int8RawValue = Bytes()
  public var quantization: Quantization?
  public var isUpdatable = false
  public var unknownFields = UnknownFields()

  public init() {}

  public init(_ values: FloatValues) { floatValue = values }
  public init(_ values: [Float]) { floatValue = FloatValues(values) }
}

/// How codes become values.
public struct Quantization: SpecificationMessage {
  public enum Kind: Sendable, Equatable {
    /// w = scale · q + bias; one value, or one for each output channel; no bias means 0.
    case linear(scale: [Float], bias: [Float])
    /// w = table[q], with 2^numberOfBits entries.
    case lookupTable([Float])
  }

  public var numberOfBits = 0
  public var kind: Kind?
  public var unknownFields = UnknownFields()

  public init() {}
}

extension Weights: EncodedMessage {
  static let fields: [Field<Self>] = [
    .values("floatValue", \.floatValue),
    .bytes("float16Value", \.float16Value),
    .bytes("rawValue", \.rawValue),
    .bytes("int8RawValue", \.int8RawValue),
    .message("quantization", \.quantization),
    .bool("isUpdatable", \.isUpdatable),
  ]
}

extension Quantization: EncodedMessage {
  static let fields: [Field<Self>] = [
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

extension Weights {
  mutating func editWeights(
    _ path: String, _ body: (String, inout Weights) throws -> Void
  ) throws { try body(path, &self) }
}

extension NeuralNetworkLayer {
  /// Hands every weight, with the path of its field, to `body`; those in activations excepted.
  /// Errors name the layer.
  public mutating func editWeights(_ body: (String, inout Weights) throws -> Void) throws {
    guard var parameters = parameters as? any LayerParameters & EncodedMessage else { return }
    do { try parameters.editWeights("", body) } catch let error as ModelError {
      throw error.inLayer(name, class: parameters.typeName)
    }
    self.parameters = parameters
  }
}
