import Assay
import CAssay

/// Reads the inputs of one prediction from C.
struct InputReader {
  /// The memory of inputs that are read in place.
  private(set) var borrowed = BorrowedMemory()
  /// Whether the model computes in double precision.
  private let isExact: Bool

  init(_ model: Model) { isExact = model.usesFeatures }

  mutating func read(_ value: assay_value) throws -> (name: String, value: FeatureValue) {
    let name = String(cString: try argument(value.name, "inputs[].name"))
    do { return (name, try content(value)) } catch let error as ModelError {
      throw error.inside(name)
    }
  }

  private mutating func content(_ value: assay_value) throws -> FeatureValue {
    switch Int(value.kind) {
    case ASSAY_KIND_NUMBER: return try number(value)
    case ASSAY_KIND_ARRAY: return try value.rank == 0 ? number(value) : array(value)
    case ASSAY_KIND_IMAGE: return .image(try image(value))
    case ASSAY_KIND_TEXT:
      let text = try argument(value.data, "data").assumingMemoryBound(to: CChar.self)
      return .string(String(cString: text))
    case ASSAY_KIND_DICTIONARY: return .dictionary(try dictionary(value))
    default: throw ModelError(.usage, "unknown kind \(value.kind)")
    }
  }

  private func number(_ value: assay_value) throws -> FeatureValue {
    var value = value
    value.rank = 0
    let view = try ElementView(value)
    if view.type == .int64, let data = value.data {
      return .int(Int(data.loadUnaligned(as: Int64.self)))
    }
    let number = try Self.doubles(view)[0]
    if view.type.isInteger, let whole = Int(exactly: number) { return .int(whole) }
    return .double(number)
  }

  private mutating func array(_ value: assay_value) throws -> FeatureValue {
    let view = try ElementView(value)
    // Double precision shows whether a value exceeds single precision.
    if isExact || view.type == .float64 {
      return .numbers(NumberArray(shape: view.shape, try Self.doubles(view)))
    }
    if let floats = view.floats {
      borrowed.add(UnsafeRawBufferPointer(floats))
      return .array(Tensor(borrowing: floats, shape: view.shape))
    }
    return .array(try Tensor(checkedShape: view.shape) { try view.convert(to: $0) })
  }

  private static func doubles(_ view: ElementView) throws -> [Double] {
    var numbers = [Double](repeating: 0, count: view.count)
    try numbers.withUnsafeMutableBufferPointer { try view.convert(to: $0) }
    return numbers
  }

  private func image(_ value: assay_value) throws -> Image {
    let view = try ElementView(value)
    let shape = view.shape
    try require(
      view.type == .uint8 && (shape.count == 2 || shape.count == 3 && [1, 3].contains(shape[2]))
        && shape.prefix(2).allSatisfy((1...Limits.imageSide).contains), .mismatch,
      "an array of type \(view.type.rawValue) and shape \(shape) is not an image",
      hint: "give bytes, [height, width] or [height, width, 3]")
    return Image(
      width: shape[1], height: shape[0], channelCount: shape.count == 2 ? 1 : shape[2],
      samples: try view.rows())
  }

  private func dictionary(_ value: assay_value) throws -> [FeatureKey: Double] {
    let view = try ElementView(value)
    try require(view.shape.count == 1, .mismatch, "the numbers of a dictionary must have one axis")
    let numbers = try Self.doubles(view)
    let keys: [FeatureKey] =
      if let texts = value.text_keys {
        try numbers.indices.map { .string(String(cString: try argument(texts[$0], "text_keys"))) }
      } else if let keys = value.number_keys {
        numbers.indices.map { .int(Int(keys[$0])) }
      } else if numbers.isEmpty {
        []
      } else {
        throw ModelError(.usage, "the dictionary has neither text_keys nor number_keys")
      }
    return Dictionary(zip(keys, numbers), uniquingKeysWith: { $1 })
  }
}

/// The caller's memory that tensors of one prediction refer to.
struct BorrowedMemory {
  private var ranges: [Range<UInt>] = []

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    let start = UInt(bitPattern: bytes.baseAddress)
    ranges.append(start..<start + UInt(bytes.count))
  }

  /// Copies values in the caller's memory, since a model may return an input unchanged.
  func owned(_ value: FeatureValue) -> FeatureValue {
    guard case .array(let tensor) = value else { return value }
    let address = tensor.withUnsafeElements { UInt(bitPattern: $0.baseAddress) }
    guard ranges.contains(where: { $0.contains(address) }) else { return value }
    return .array(Tensor(shape: tensor.shape, tensor.elements))
  }
}
