import CoreMLModel
import TensorCore
import TestSupport
import Testing

@testable import DarknetImport

@Suite struct WeightsFileTests {
  private func file(_ header: [UInt32]) throws -> WeightsFile {
    try WeightsFile(Bytes(weightBytes(2, header: header)), path: "m.weights")
  }

  @Test func headers() throws {
    // Version 0.1: a 32-bit count of images; 0.2: 64 bits; 1001: 32 bits, transposed.
    let first = try file([0, 1, 0, 5])
    #expect(first.headerBytes == 16 && first.seen == 5 && !first.isTransposed)
    let second = try file([0, 2, 5, 7, 1])
    #expect(second.headerBytes == 20 && second.seen == 1 << 32 + 7 && !second.isTransposed)
    #expect(second.version == (0, 2, 5))
    let transposed = try file([1001, 0, 0, 5])
    #expect(transposed.headerBytes == 16 && transposed.isTransposed && transposed.isAmbiguous)
    let negative = try file([0x8000_0000, 0x8000_0000, 0, 5])
    #expect(negative.headerBytes == 16)
    #expect(
      modelError { try WeightsFile(Bytes([1, 2, 3] as [UInt8]), path: "m") }?.code == .malformed)
    let short = Bytes(weightBytes(0, header: [0, 2, 0, 5]))
    #expect(
      modelError { try WeightsFile(short, path: "m") }?.message
        == "it ends inside its header, which has 20 bytes")
  }

  private static let network = """
    [net]
    height=4
    width=4
    channels=2

    [convolutional]
    filters=3
    size=3
    pad=1
    batch_normalize=1

    [convolutional]
    filters=2

    """

  /// 3 · 4 + 3 · 2 · 9 = 66 and 2 + 6 = 8 values.
  @Test func orderOfTheNumbers() throws {
    let layers = try convert(Self.network, weights: weightBytes(74)).layers
    let first = try #require(layers[0].parameters as? Convolution)
    #expect(try first.kernel?.values(shape: [54]).array() == (12..<66).map(Float.init))
    #expect(!first.hasBias)
    // bias 0…2, scales 3…5, means 6…8, variances 9…11
    let normalization = try #require(layers[1].parameters as? Batchnorm)
    let gamma = try #require(normalization.gamma).values(shape: [3]).array()
    #expect(gamma == [3, 4, 5])
    #expect(try normalization.beta?.values(shape: [3]).array() == [0, 1, 2])
    #expect(try normalization.mean?.values(shape: [3]).array() == [6, 7, 8])
    #expect(try normalization.variance?.values(shape: [3]).array() == [9, 10, 11])
    #expect(normalization.epsilon == 1e-5)
    let last = try #require(layers[3].parameters as? Convolution)
    #expect(try last.bias?.values(shape: [2]).array() == [66, 67])
    #expect(try last.kernel?.values(shape: [6]).array() == (68..<74).map(Float.init))
  }

  @Test func missingNumbersNameTheLayer() {
    let error = modelError { try convert(Self.network, weights: weightBytes(70)) }
    #expect(error?.layer == "convolutional_1")
    #expect(error?.file == "m.weights")
    #expect(
      error?.message == "its weights take 6 numbers from byte 292 on, but the file has 2 more")
    #expect(
      modelError { try convert(Self.network, weights: weightBytes(5)) }?.layer == "convolutional_0")
  }

  @Test func numbersThatAreLeftOver() {
    let error = modelError { try convert(Self.network, weights: weightBytes(80)) }
    #expect(error?.layer == "convolutional_1")
    #expect(
      error?.message
        == "6 numbers are left over: the last layer with weights, 'convolutional_1', ends at byte "
        + "316 of 340")
    let odd = modelError { try convert(Self.network, weights: weightBytes(74) + [1, 2]) }
    #expect(odd?.message.hasPrefix("0 numbers and 2 bytes are left over") == true)
  }

  /// Weights of another network have invalid variances before they run out.
  @Test func negativeVariance() {
    var bytes = weightBytes(74)
    bytes[20 + 4 * 10 + 3] |= 0x80
    let error = modelError { try convert(Self.network, weights: bytes) }
    #expect(error?.layer == "convolutional_0")
    #expect(error?.message == "the variance of channel 1 is -10.0 in the weights")
    #expect(error?.file?.hasSuffix(".weights") == true)
  }

  /// The published MobileNetV2-YOLO-Fastest has a variance of −7e-44.
  @Test func whatRoundingLeavesOfAVarianceIsZero() throws {
    var bytes = weightBytes(74)
    for (index, byte) in [0x32, 0, 0, 0x80].enumerated() {
      bytes[20 + 4 * 10 + index] = UInt8(byte)
    }
    let layers = try convert(Self.network, weights: bytes).layers
    let normalization = try #require(layers[1].parameters as? Batchnorm)
    #expect(try normalization.variance?.values(shape: [3]).array() == [9, 0, 11])
  }

  /// Both ways to store a [batchnorm], and both lengths of a transposed header.
  @Test func theLengthDecides() throws {
    let text = "[net]\ninputs=2\n[connected]\noutput=3\nactivation=linear\n"
    for header in [[1001, 0, 0, 5], [1001, 0, 0, 5, 0]] as [[UInt32]] {
      let layers = try convert(text, weights: weightBytes(9, header: header)).layers
      let product = try #require(layers[0].parameters as? InnerProduct)
      #expect(try product.matrix?.values(shape: [3, 2]).array() == [3, 6, 4, 7, 5, 8])
    }
    let normalized = "[net]\nheight=2\nwidth=2\nchannels=2\n[batchnorm]\n"
    // Without biases: scales 0, 1, means 2, 3, variances 4, 5; or with biases 0, 1 before them.
    for (count, bias) in [(6, [0, 0]), (8, [0, 1])] as [(Int, [Float])] {
      let layers = try convert(normalized, weights: weightBytes(count)).layers
      let batchnorm = try #require(layers[0].parameters as? Batchnorm)
      #expect(try batchnorm.beta?.values(shape: [2]).array() == bias)
      let first = Float(count - 6)
      #expect(try batchnorm.gamma?.values(shape: [2]).array() == [first, first + 1])
      #expect(try batchnorm.variance?.values(shape: [2]).array() == [first + 4, first + 5])
    }
  }
}
