extension CaffeBlob {
  /// A `BlobProto`, with values in place in the file.
  /// - Throws: `.malformed` if sizes and values do not agree.
  package init(_ message: CaffeMessage) throws {
    // As in Blob::ShapeEquals, which looks at `shape` only without the earlier fields.
    let legacy = ["num", "channels", "height", "width"]
    isLegacy = legacy.contains(where: message.has)
    if isLegacy {
      shape = try legacy.map { name in
        let size = message.integer(name) ?? 0
        try require(size >= 0, "a blob has the size \(size)", field: "blobs.\(name)")
        return size
      }
    } else {
      shape = try (message.message("shape")?.values("dim") ?? []).map { value in
        guard let size = value.integer, (0...Limits.dimension).contains(size) else {
          throw ModelError(
            .malformed, "a blob has the size \(value.text)", field: "blobs.shape.dim")
        }
        return size
      }
    }
    let (storage, count) = try Self.storage(message)
    self.storage = storage
    let expected = try checkedProduct(shape, limit: Limits.tensorElements)
    try require(
      count == expected || count == 0,
      "a blob of shape \(shape) has \(count) values, not \(expected)", field: "blobs")
  }

  private static func storage(_ message: CaffeMessage) throws -> (Storage, count: Int) {
    let doubles = try joined(message.values("double_data"), 8)
    let singles = try joined(message.values("data"), 4)
    try require(
      doubles.count + singles.count == 0 || !message.has("raw_data"), .unsupported,
      "a blob has values in two fields, of which Caffe and NVIDIA's Caffe read different ones",
      field: "blobs.raw_data")
    if doubles.count > 0 { return (.double(doubles), doubles.count / 8) }
    if singles.count > 0 { return (.single(FloatValues(bytes: singles)), singles.count / 4) }
    guard case .bytes(let raw)? = message.value("raw_data"), raw.count > 0 else {
      return (.single(FloatValues([])), 0)
    }
    switch message.symbol("raw_data_type") {
    case "FLOAT16": return (.half(raw), raw.count / 2)
    case "FLOAT": return (.single(FloatValues(bytes: raw)), raw.count / 4)
    case "DOUBLE": return (.double(raw), raw.count / 8)
    case let type:
      throw ModelError(
        .unsupported, "values of type \(type ?? "?") are not supported",
        field: "blobs.raw_data_type", hint: "FLOAT16, FLOAT and DOUBLE are supported")
    }
  }

  /// The numbers of a field, which may come in several pieces, and one by one in text format.
  private static func joined(_ values: [CaffeValue], _ width: Int) throws -> Bytes {
    if values.count == 1 {
      switch values[0] {
      case .floats(let bytes) where width == 4: return bytes
      case .doubles(let bytes) where width == 8: return bytes
      default: break
      }
    }
    let numbers = values.flatMap { $0.numbers ?? [] }
    return width == 4 ? Bytes(numbers.map { Float($0) }) : Bytes(numbers)
  }
}
