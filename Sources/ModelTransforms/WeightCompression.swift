import CoreMLModel
import TensorCore

/// The error that compression caused in the values of a weight.
package struct CompressionError: Sendable, Equatable {
  /// Σ (w' − w)² and Σ w²
  package var squaredError = 0.0
  package var squaredValues = 0.0
  /// max |w' − w|
  package var largest = 0.0

  package init() {}

  /// Σ w² / Σ (w' − w)², not in decibels; infinite if nothing was lost.
  package var signalToNoise: Double { squaredError == 0 ? .infinity : squaredValues / squaredError }

  package mutating func add(_ other: CompressionError) {
    squaredError += other.squaredError
    squaredValues += other.squaredValues
    largest = max(largest, other.largest)
  }

  package init(_ before: FloatValues, _ after: FloatValues) throws {
    let part = 1 << 16
    let memory = try [0, 1].map { _ in try AlignedBuffer(checkedByteCount: 4 * part) }
    let (x, y) = (
      memory[0].pointer.assumingMemoryBound(to: Float.self),
      memory[1].pointer.assumingMemoryBound(to: Float.self)
    )
    withExtendedLifetime(memory) {
      for begin in stride(from: 0, to: before.count, by: part) {
        let range = begin..<min(before.count, begin + part)
        before.copy(range, to: x)
        after.copy(range, to: y)
        for index in 0..<range.count {
          let value = Double(x[index])
          let difference = abs(Double(y[index]) - value)
          squaredError += difference * difference
          squaredValues += value * value
          largest = max(largest, difference)
        }
      }
    }
  }
}

extension Weights {
  /// Bytes of the values, including scales and tables.
  package var byteCount: Int {
    let tables =
      switch quantization?.kind {
      case .linear(let scale, let bias)?: 4 * (scale.count + bias.count)
      case .lookupTable(let table)?: 4 * table.count
      case nil: 0
      }
    return 4 * floatValue.count + float16Value.count + rawValue.count + int8RawValue.count + tables
  }

  /// The weight with its values in another precision.
  ///
  /// - Parameters:
  ///   - shape: the shape of the values; each index along `channelAxis` has its own scale, if that
  ///     axis exists.
  ///   - scales: how to choose the scales of linear codes and of evenly spaced tables.
  ///   - type: the type in which a program stores scales and offsets of linear codes; nil for a
  ///     network, which stores scales and biases.
  /// - Throws: `.unsupported` for a value that half precision or a table cannot represent.
  package func compressed(
    to precision: WeightPrecision, shape: [Int], channelAxis: Int = 0,
    scales: ScaleChoice = .leastSquares, type: MILDataType? = nil
  ) throws -> Weights {
    let values = try self.values(shape: shape, channelAxis: channelAxis)
    var result = Weights()
    result.isUpdatable = isUpdatable
    result.unknownFields = unknownFields
    switch precision {
    case .float32: result.floatValue = values
    case .float16:
      result.floatValue = values
      try result.roundToHalf()
    case .codes(let bits, let mode):
      try require((1...8).contains(bits), .usage, "\(bits) bits; 1 to 8 are supported")
      if case .table(let table) = mode, table.count != 1 << bits {
        throw ModelError(.usage, "a table of \(table.count) values; \(1 << bits) are needed")
      }
      (result.rawValue, result.quantization) = try values.contiguous()
        .withUnsafeBytes { bytes in
          let aligned = try alignedFloats(bytes, count: values.count)
          return try withExtendedLifetime(aligned.owner) {
            try Self.codes(
              aligned.values, CodeOptions(bits: bits, mode: mode, scales: scales, type: type),
              shape: shape, channelAxis: channelAxis)
          }
        }
    }
    return result
  }

  private struct CodeOptions {
    var bits: Int
    var mode: CodeMode
    var scales: ScaleChoice
    var type: MILDataType?
  }

  private static func codes(
    _ values: UnsafeBufferPointer<Float>, _ options: CodeOptions, shape: [Int], channelAxis: Int
  ) throws -> (Bytes, Quantization) {
    if let wrong = values.first(where: { !$0.isFinite }) {
      throw ModelError(.unsupported, "the weight \(wrong) cannot be quantized")
    }
    let bits = options.bits
    var codes = [UInt8](repeating: 0, count: values.count)
    var quantization = Quantization()
    quantization.numberOfBits = bits
    codes.withUnsafeMutableBufferPointer { codes in
      guard let codes = codes.baseAddress else { return }
      func table(_ table: [Float]) {
        TableCodes(table, bits: bits).write(values, to: codes)
        quantization.kind = .lookupTable(table)
      }
      switch options.mode {
      case .linear, .linearSymmetric:
        quantization.kind = linearCodes(
          values, options, shape: shape, channelAxis: channelAxis, to: codes)
      case .linearTable:
        table(TableCodes.evenTable(values, bits: bits, choice: options.scales))
      case .kMeansTable: table(TableCodes.kMeansTable(values, bits: bits))
      case .table(let given): table(given)
      }
    }
    let last = Float((1 << bits) - 1)
    let isFinite =
      switch quantization.kind {
      case .linear(let scale, let bias)?:
        zip(scale, bias).allSatisfy { scale, bias in
          (options.type == nil ? scale * last + bias : scale * (last + bias / scale)).isFinite
        }
      case .lookupTable(let table)?: table.allSatisfy(\.isFinite)
      case nil: true
      }
    try require(
      isFinite, .unsupported,
      "its values are too large for codes of \(counted(bits, "bit")) in "
        + (options.type == .float16 ? "half precision" : "single precision"))
    return (PackedCodes.pack(codes, bits: bits), quantization)
  }

  /// Groups the values by step of the channel axis; each group consists of contiguous runs.
  private static func linearCodes(
    _ values: UnsafeBufferPointer<Float>, _ options: CodeOptions, shape: [Int], channelAxis: Int,
    to codes: UnsafeMutablePointer<UInt8>
  ) -> Quantization.Kind {
    let isSymmetric = options.mode == .linearSymmetric
    // A vector gets one scale: a scale per value would take more memory than the values.
    let varies = shape.count > 1 && shape.indices.contains(channelAxis)
    let channels = varies ? shape[channelAxis] : 1
    let run = varies ? shape.dropFirst(channelAxis + 1).reduce(1, *) : values.count
    let runs = channels * run == 0 ? 0 : values.count / (channels * run)
    var scale: [Float] = []
    var bias: [Float] = []
    var gathered = [Float](repeating: 0, count: runs > 1 ? runs * run : 0)
    var gatheredCodes = [UInt8](repeating: 0, count: gathered.count)
    for channel in 0..<channels {
      func encode(_ values: UnsafeBufferPointer<Float>, _ codes: UnsafeMutablePointer<UInt8>) {
        let linear = LinearCodes(
          values, bits: options.bits, isSymmetric: isSymmetric, choice: options.scales,
          type: options.type)
        linear.write(values, bits: options.bits, to: codes)
        scale.append(linear.scale)
        bias.append(linear.bias)
      }
      if runs <= 1 {
        let range = channel * run..<(channel + 1) * run
        encode(UnsafeBufferPointer(rebasing: values[range]), codes + range.lowerBound)
        continue
      }
      for position in gathered.indices {
        gathered[position] = values[(position / run * channels + channel) * run + position % run]
      }
      gathered.withUnsafeBufferPointer { values in
        gatheredCodes.withUnsafeMutableBufferPointer { codes in
          if let codes = codes.baseAddress { encode(values, codes) }
        }
      }
      for position in gathered.indices {
        codes[(position / run * channels + channel) * run + position % run] =
          gatheredCodes[position]
      }
    }
    return .linear(scale: scale, bias: bias)
  }
}

/// Floats at any alignment as aligned ones; not copied if they are already aligned.
private func alignedFloats(
  _ bytes: UnsafeRawBufferPointer, count: Int
) throws -> (values: UnsafeBufferPointer<Float>, owner: AlignedBuffer?) {
  guard let base = bytes.baseAddress, count > 0 else {
    return (UnsafeBufferPointer(start: nil, count: 0), nil)
  }
  if Int(bitPattern: base) % MemoryLayout<Float>.alignment == 0 {
    return (UnsafeBufferPointer(start: base.assumingMemoryBound(to: Float.self), count: count), nil)
  }
  let copy = try AlignedBuffer(checkedByteCount: count * 4)
  copy.pointer.copyMemory(from: base, byteCount: count * 4)
  return (
    UnsafeBufferPointer(start: copy.pointer.assumingMemoryBound(to: Float.self), count: count),
    copy
  )
}
