import TensorCore
import TestSupport
import Testing

@testable import CoreMLModel

struct WeightValuesTests {
  private func quantized(
    _ bytes: [UInt8], bits: Int, _ kind: Quantization.Kind
  ) -> Weights {
    var weights = Weights()
    weights.rawValue = Bytes(bytes)
    var quantization = Quantization()
    quantization.numberOfBits = bits
    quantization.kind = kind
    weights.quantization = quantization
    return weights
  }

  /// 1 0 1 1 0 0 1 0 | 1 …: the first code is the most significant bit.
  @Test func oneBit() throws {
    let weights = quantized([0b1011_0010, 0b1000_0000], bits: 1, .lookupTable([-1, 2]))
    #expect(
      try weights.values(shape: [1, 9]).array()
        == [2, -1, 2, 2, -1, -1, 2, -1, 2])
  }

  /// 5 = 101, 3 = 011, 6 = 110 (across two bytes), 1 = 001: 10101111 0001….
  @Test func threeBitsCrossBytes() throws {
    let weights = quantized(
      [0b1010_1111, 0b0001_0000], bits: 3, .linear(scale: [0.5], bias: [-1]))
    #expect(try weights.values(shape: [1, 4]).array() == [1.5, 0.5, 2, -0.5])
  }

  /// Two channels with two values each, w = scale[c] · q + bias[c].
  @Test func eightBitsByChannel() throws {
    let weights = quantized(
      [0, 255, 10, 20], bits: 8, .linear(scale: [2, 0.5], bias: [1, -1]))
    #expect(try weights.values(shape: [2, 2]).array() == [1, 511, 4, 9])
    #expect(
      try quantized([3, 4], bits: 8, .linear(scale: [2], bias: []))
        .values(shape: [2, 1]).array() == [6, 8])
  }

  /// A deconvolution's kernel has its output channels on axis 1: here 2 × 3 × 2 codes with a scale
  /// for each of 3 channels.
  @Test func deconvolutionsScaleTheSecondAxis() throws {
    var layer = Convolution()
    layer.isDeconvolution = true
    layer.kernelChannels = 2
    layer.outputChannels = 3
    layer.kernelSize = [1, 2]
    layer.kernel = quantized(
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], bits: 8,
      .linear(scale: [1, 10, 100], bias: []))
    let decoded = try layer.weights[0].decoded()
    #expect(decoded.shape == [2, 3, 1, 2])
    #expect(try decoded.array() == [1, 2, 30, 40, 500, 600, 7, 8, 90, 100, 1100, 1200])
  }

  @Test(arguments: 1...8) func everyWidthCountsUp(bits: Int) throws {
    // The codes 0, 1, 2, … concatenated into one long binary number.
    let codes = (0..<29).map { $0 % (1 << bits) }
    let bytes = packed(codes, bits: bits)
    let table = (0..<(1 << bits)).map { Float($0) * 3 }
    #expect(
      try quantized(bytes, bits: bits, .lookupTable(table)).values(shape: [1, 29])
        .array() == codes.map { Float($0) * 3 })
  }

  /// 0x3C00 is 1, 0xC100 is −2.5.
  @Test func halves() throws {
    var weights = Weights()
    weights.float16Value = Bytes([0x00, 0x3C, 0x00, 0xC1] as [UInt8])
    #expect(try weights.values(shape: [1, 2]).array() == [1, -2.5])
  }

  @Test func signedBytes() throws {
    var weights = Weights()
    weights.int8RawValue = Bytes([0x01, 0xFF, 0x80] as [UInt8])
    weights.quantization = Quantization()
    weights.quantization?.numberOfBits = 8
    weights.quantization?.kind = .linear(scale: [0.5], bias: [])
    #expect(try weights.values(shape: [1, 3]).array() == [0.5, -0.5, -64])
  }

  @Test func singlePrecisionIsNotCopied() throws {
    let values = FloatValues([1, 2, 3, 4])
    let decoded = try Weights(values).values(shape: [2, 2])
    let addresses = [values, decoded].map {
      $0.contiguousBytes?.withUnsafeBytes { Int(bitPattern: $0.baseAddress) }
    }
    #expect(addresses[0] == addresses[1])
  }

  @Test func readsTransposedViews() throws {
    let weights = Weights(FloatValues([1, 2, 3, 4, 5, 6]).shaped([2, 3]).transposed([1, 0]))
    #expect(try weights.values(shape: [3, 2]).array() == [1, 4, 2, 5, 3, 6])
    #expect(try weights.values(shape: [6]).array() == [1, 4, 2, 5, 3, 6])
  }

  @Test func refusesWhatDoesNotFit() {
    var both = Weights([1, 2])
    both.float16Value = Bytes([0, 0, 0, 0] as [UInt8])
    let wrong: [(Weights, Int, Int)] = [
      (Weights([1, 2]), 3, 1), (both, 2, 1), (Weights(), 1, 1),
      (quantized([1, 2], bits: 8, .linear(scale: [1, 2, 3], bias: [])), 2, 2),
      (quantized([1, 2, 3], bits: 8, .linear(scale: [1, 2], bias: [])), 3, 2),
      (quantized([1, 2], bits: 8, .linear(scale: [1], bias: [1, 2, 3])), 2, 2),
      (quantized([1, 2], bits: 9, .linear(scale: [1], bias: [])), 2, 1),
      (quantized([1, 2], bits: 0, .linear(scale: [1], bias: [])), 2, 1),
      (quantized([1], bits: 2, .lookupTable([1, 2, 3])), 4, 1),
      (quantized([1], bits: 4, .linear(scale: [1], bias: [])), 3, 1),
    ]
    for (weights, count, channels) in wrong {
      #expect(throws: ModelError.self) {
        try weights.values(shape: [channels, count / channels])
      }
    }
    #expect(throws: ModelError.self) { try Weights([1]).values(shape: [1 << 40, 1 << 40]) }
    #expect(throws: ModelError.self) { try Weights([1]).values(shape: [-1]) }
  }
}
