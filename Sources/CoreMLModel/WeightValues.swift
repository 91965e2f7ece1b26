import TensorCore

extension Weights {
  /// How many values the storage holds at most; 0 where there is none.
  ///
  /// Codes that do not fill their last byte leave room for some more than there are.
  public var storedCount: Int {
    if floatValue.count > 0 { return floatValue.count }
    if float16Value.count > 0 { return float16Value.count / 2 }
    if int8RawValue.count > 0 { return int8RawValue.count }
    let bits = quantization?.numberOfBits ?? 0
    return (1...8).contains(bits) ? rawValue.count * 8 / bits : rawValue.count
  }

  /// The values, as many as `shape` has elements, in its row-major order; per-channel quantisation
  /// goes by its first axis.
  public func values(shape: [Int]) throws -> FloatValues {
    let count = try checkedProduct(shape, limit: Limits.tensorElements)
    let values = try values(count: count, outputChannels: shape.first ?? 1)
    if values.shape == shape { return values }
    return (values.isContiguous ? values : FloatValues(values.array())).shaped(shape)
  }

  /// The `count` values in file order.
  ///
  /// Single precision is not copied. Half precision and integers are decoded:
  /// w = scale · q + bias, or w = table[q].
  ///
  /// - Parameter outputChannels: how many parts of equal size have a scale and bias of their own.
  /// - Throws: `.malformed` where the storage does not hold that many.
  public func values(count: Int, outputChannels: Int) throws -> FloatValues {
    let storages = [
      ("floatValue", floatValue.count > 0), ("float16Value", float16Value.count > 0),
      ("rawValue", rawValue.count > 0), ("int8RawValue", int8RawValue.count > 0),
    ].filter(\.1).map(\.0)
    guard storages.count <= 1 else {
      throw ModelError(.malformed, "values in \(storages.joined(separator: " and ")) at once")
    }
    switch storages.first {
    case "floatValue":
      try requireCount(floatValue.count, count)
      return floatValue
    case "float16Value":
      try requireCount(float16Value.count, count * 2, unit: "bytes of half floats")
      return try decoded(count) { target in
        float16Value.withUnsafeBytes { Half.convert($0, to: target) }
      }
    case "rawValue":
      return try codes(count, outputChannels)
    case "int8RawValue":
      try requireCount(int8RawValue.count, count, unit: "bytes of integers")
      let (scale, bias) = try linear(count, outputChannels)
      return try decoded(count) { target in
        int8RawValue.withUnsafeBytes { bytes in
          Self.scaled(target, scale, bias) { Float(Int8(bitPattern: bytes[$0])) }
        }
      }
    default:
      try requireCount(0, count)
      return floatValue
    }
  }

  private func requireCount(_ found: Int, _ expected: Int, unit: String = "values") throws {
    guard found == expected else {
      throw ModelError(.malformed, "\(found) \(unit), where \(expected) are needed")
    }
  }

  private func decoded(
    _ count: Int, _ body: (UnsafeMutableBufferPointer<Float>) -> Void
  ) throws -> FloatValues {
    let buffer = try AlignedBuffer(checkedByteCount: count * 4)
    body(
      UnsafeMutableBufferPointer(
        start: buffer.pointer.bindMemory(to: Float.self, capacity: count), count: count))
    return FloatValues(
      bytes: Bytes(base: UnsafeRawPointer(buffer.pointer), count: count * 4, owner: buffer))
  }

  private func linear(_ count: Int, _ outputChannels: Int) throws -> (scale: [Float], bias: [Float])
  {
    guard case .linear(let scale, let bias)? = quantization?.kind else {
      throw ModelError(.malformed, "integers without a scale", field: "quantization")
    }
    for (name, values, isNeeded) in [("scale", scale, true), ("bias", bias, false)] {
      guard values.count == 1 || values.count == outputChannels || values.isEmpty && !isNeeded
      else {
        throw ModelError(
          .malformed, "\(values.count) values, where 1 or \(outputChannels) are needed",
          field: "quantization.linearQuantization.\(name)")
      }
    }
    guard count % max(scale.count, bias.count) == 0 else {
      throw ModelError(
        .malformed, "\(count) values are no multiple of \(max(scale.count, bias.count)) channels",
        field: "quantization")
    }
    return (scale, bias.isEmpty ? [0] : bias)
  }

  /// target[i] = scale · code(i) + bias
  private static func scaled(
    _ target: UnsafeMutableBufferPointer<Float>, _ scale: [Float], _ bias: [Float],
    _ code: (Int) -> Float
  ) {
    let channels = max(scale.count, bias.count)
    let partCount = target.count / channels
    for channel in 0..<channels {
      let factor = scale[scale.count == 1 ? 0 : channel]
      let offset = bias[bias.count == 1 ? 0 : channel]
      let begin = channel * partCount
      for index in begin..<(begin + partCount) { target[index] = factor * code(index) + offset }
    }
  }

  private func codes(_ count: Int, _ outputChannels: Int) throws -> FloatValues {
    guard let quantization, (1...8).contains(quantization.numberOfBits) else {
      throw ModelError(
        .malformed, "raw bytes without a number of bits from 1 to 8", field: "quantization")
    }
    let bits = quantization.numberOfBits
    let bitCount = try checkedProduct([count, bits])
    try requireCount(
      rawValue.count, bitCount / 8 + (bitCount % 8 == 0 ? 0 : 1),
      unit: "bytes of \(bits)-bit codes")
    if case .lookupTable(let table)? = quantization.kind {
      guard table.count == 1 << bits else {
        throw ModelError(
          .malformed, "\(table.count) entries, where \(1 << bits) are needed",
          field: "quantization.lookupTableQuantization")
      }
      return try decoded(count) { target in
        rawValue.withUnsafeBytes { bytes in
          for index in target.indices { target[index] = table[Self.code(bytes, index, bits)] }
        }
      }
    }
    let (scale, bias) = try linear(count, outputChannels)
    return try decoded(count) { target in
      rawValue.withUnsafeBytes { bytes in
        Self.scaled(target, scale, bias) { Float(Self.code(bytes, $0, bits)) }
      }
    }
  }

  /// The code at `index`, most significant bit first.
  private static func code(_ bytes: UnsafeRawBufferPointer, _ index: Int, _ bits: Int) -> Int {
    if bits == 8 { return Int(bytes[index]) }
    let position = index &* bits
    let byte = position >> 3
    let high = Int(bytes[byte]) << 8
    let pair = high | (byte + 1 < bytes.count ? Int(bytes[byte + 1]) : 0)
    return (pair >> (16 &- (position & 7) &- bits)) & ((1 << bits) - 1)
  }
}

extension NamedWeights {
  /// The values in the shape that the layer's sizes imply.
  public func decoded() throws -> FloatValues {
    do { return try values.values(shape: shape) } catch let error as ModelError {
      var named = error
      named.field = error.field.map { "\(name).\($0)" } ?? name
      throw named
    }
  }
}
