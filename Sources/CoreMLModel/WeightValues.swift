import ByteFormats
import TensorCore

/// Storage whose sizes have been checked.
package enum WeightStorage: Sendable, Equatable {
  case single
  case half
  /// Codes, and a table with the value of each.
  case table(bits: Int, [Float])
  /// One scale and bias, or one per channel, and the number of elements per channel. Signed codes
  /// are in `int8RawValue`, others in `rawValue`.
  case linear(bits: Int, isSigned: Bool, scale: [Float], bias: [Float], run: Int)
}

extension Weights {
  /// The maximum number of values in the storage; 0 if there is none.
  ///
  /// If the codes do not fill the last byte, this exceeds the actual number.
  package var storedCount: Int {
    if floatValue.count > 0 { return floatValue.count }
    if float16Value.count > 0 { return float16Value.count / 2 }
    if int8RawValue.count > 0 { return int8RawValue.count }
    let bits = quantization?.numberOfBits ?? 0
    return (1...8).contains(bits) ? rawValue.count * 8 / bits : rawValue.count
  }

  /// The values for the elements of `shape`, in row-major order.
  ///
  /// Single precision is not copied. Half precision and integers are decoded: w = scale · q + bias,
  /// or w = table[q].
  ///
  /// - Parameter channelAxis: the axis along which scale and bias may vary; 1 for a deconvolution's
  ///   kernel, otherwise 0.
  /// - Throws: `.malformed` if the number of values differs.
  package func values(shape: [Int], channelAxis: Int = 0) throws -> FloatValues {
    let count = try checkedProduct(shape, limit: Limits.tensorElements)
    let values = try decoded(storage(shape, channelAxis: channelAxis), count: count)
    return count == 0 ? values : try values.reshaped(shape)
  }

  /// Throws the errors of `values` without decoding anything.
  package func requireValues(shape: [Int], channelAxis: Int = 0) throws {
    _ = try storage(shape, channelAxis: channelAxis)
  }

  /// The storage that holds the values for the elements of `shape`.
  ///
  /// - Throws: the same errors as `values`.
  package func storage(_ shape: [Int], channelAxis: Int = 0) throws -> WeightStorage {
    let count = try checkedProduct(shape, limit: Limits.tensorElements)
    let storages = [
      ("floatValue", floatValue.count > 0), ("float16Value", float16Value.count > 0),
      ("rawValue", rawValue.count > 0), ("int8RawValue", int8RawValue.count > 0),
    ].filter(\.1).map(\.0)
    guard storages.count <= 1 else {
      throw ModelError(
        .malformed, "values are stored both as \(storages.joined(separator: " and as "))")
    }
    switch storages.first {
    case "float16Value":
      try require(float16Value.count, count * 2, "bytes of half floats")
      return .half
    case "rawValue":
      return try codes(shape, count, channelAxis)
    case "int8RawValue":
      try require(int8RawValue.count, count, "bytes of integers")
      return try linear(shape, count, channelAxis, bits: 8, isSigned: true)
    default:
      try require(floatValue.count, count, "values")
      return .single
    }
  }

  private func require(_ found: Int, _ expected: Int, _ unit: String) throws {
    guard found == expected else {
      throw ModelError(.malformed, "\(found) \(unit); \(expected) are needed")
    }
  }

  private func codes(_ shape: [Int], _ count: Int, _ channelAxis: Int) throws -> WeightStorage {
    guard let quantization, (1...8).contains(quantization.numberOfBits) else {
      throw ModelError(
        .malformed, "raw bytes without a number of bits from 1 to 8", field: "quantization")
    }
    let bits = quantization.numberOfBits
    try require(rawValue.count, (count * bits + 7) / 8, "bytes of \(bits)-bit codes")
    guard case .lookupTable(let table)? = quantization.kind else {
      return try linear(shape, count, channelAxis, bits: bits, isSigned: false)
    }
    guard table.count == 1 << bits else {
      throw ModelError(
        .malformed, "the table has \(table.count) entries; \(1 << bits) are needed",
        field: "quantization.lookupTableQuantization")
    }
    return .table(bits: bits, table)
  }

  private func linear(
    _ shape: [Int], _ count: Int, _ channelAxis: Int, bits: Int, isSigned: Bool
  ) throws -> WeightStorage {
    guard case .linear(let scale, let bias)? = quantization?.kind else {
      throw ModelError(.malformed, "integers without a scale", field: "quantization")
    }
    let channels = shape.indices.contains(channelAxis) ? shape[channelAxis] : 1
    for (name, values, isNeeded) in [("scale", scale, true), ("bias", bias, false)] {
      guard values.count == 1 || values.count == channels || values.isEmpty && !isNeeded else {
        throw ModelError(
          .malformed, "\(values.count) values; 1 or \(channels) are needed",
          field: "quantization.linearQuantization.\(name)")
      }
    }
    let run = try checkedProduct(shape.dropFirst(channelAxis + 1))
    return .linear(
      bits: bits, isSigned: isSigned, scale: scale, bias: bias.isEmpty ? [0] : bias, run: run)
  }

  private func decoded(_ storage: WeightStorage, count: Int) throws -> FloatValues {
    if case .single = storage { return floatValue }
    let buffer = try AlignedBuffer(checkedByteCount: count * 4)
    let target = UnsafeMutableBufferPointer(
      start: buffer.pointer.bindMemory(to: Float.self, capacity: count), count: count)
    switch storage {
    case .single: break
    case .half: float16Value.withUnsafeBytes { Half.convert($0, to: target) }
    case .table(let bits, let table):
      rawValue.withUnsafeBytes { bytes in
        let codes = PackedCodes(bytes, bits: bits)
        for index in target.indices { target[index] = table[codes[index]] }
      }
    case .linear(_, true, let scale, let bias, let run):
      int8RawValue.withUnsafeBytes { bytes in
        Self.scale(target, scale, bias, run) { Double(Int8(bitPattern: bytes[$0])) }
      }
    case .linear(let bits, false, let scale, let bias, let run):
      rawValue.withUnsafeBytes { bytes in
        let codes = PackedCodes(bytes, bits: bits)
        Self.scale(target, scale, bias, run) { Double(codes[$0]) }
      }
    }
    if quantization?.roundsToHalf == true {
      for index in target.indices { target[index] = Half.rounded(target[index]) }
    }
    return FloatValues(
      bytes: Bytes(base: UnsafeRawPointer(buffer.pointer), count: count * 4, owner: buffer))
  }

  /// target[i] = scale · code(i) + bias, rounded once; the channel changes every `run` elements.
  private static func scale(
    _ target: UnsafeMutableBufferPointer<Float>, _ scale: [Float], _ bias: [Float], _ run: Int,
    _ code: (Int) -> Double
  ) {
    let channels = max(scale.count, bias.count)
    var channel = 0
    for begin in stride(from: 0, to: target.count, by: max(1, channels == 1 ? target.count : run)) {
      let factor = Double(scale[scale.count == 1 ? 0 : channel])
      let offset = Double(bias[bias.count == 1 ? 0 : channel])
      let end = channels == 1 ? target.count : min(target.count, begin + run)
      for index in begin..<end { target[index] = Float(factor * code(index) + offset) }
      channel = channel + 1 == channels ? 0 : channel + 1
    }
  }
}

extension NamedWeights {
  /// The values with the shape that the layer's sizes imply.
  package func decoded() throws -> FloatValues {
    try inField(name) { try values.values(shape: shape, channelAxis: channelAxis) }
  }

  /// Throws the errors of `decoded` without decoding anything.
  package func requireValues() throws {
    try inField(name) { try values.requireValues(shape: shape, channelAxis: channelAxis) }
  }
}
