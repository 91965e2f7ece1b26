import TensorCore
import TestSupport
import Testing

@testable import Imaging

/// Results of other libraries for random images; see `Fixtures/images/frameworks.py`.
struct UnfilteredBilinearTests {
  /// A record in a `.bin` file.
  private struct Record {
    let picture: Image
    let width: Int
    let height: Int
    /// The samples, `[count, height, width, channel]`.
    let samples: [Float]
  }

  private func records(_ name: String) throws -> [Record] {
    let file = try fixtures.bytes(name)
    var records: [Record] = []
    var place = 0
    func number() -> UInt32 {
      defer { place += 4 }
      return (0..<4).reduce(0) { $0 | UInt32(file[place + $1]) << (8 * UInt32($1)) }
    }
    while place < file.count {
      let header = (0..<6).map { _ in Int(number()) }
      let count = header[0] * header[3] * header[4] * header[5]
      records.append(
        Record(
          picture: randomPicture(width: header[1], height: header[2], channels: header[0]),
          width: header[4], height: header[5],
          samples: (0..<count).map { _ in Float(bitPattern: number()) }))
    }
    return records
  }

  /// Converts `[part, channel, height, width]` to `[part, height, width, channel]`.
  private func channelsLast(_ tensor: Tensor) -> [Float] {
    tensor.transposed([0, 2, 3, 1]).elements
  }

  private func greatestDifference(_ a: [Float], _ b: [Float]) -> Float {
    a.count == b.count ? zip(a, b).map { abs($0 - $1) }.max() ?? 0 : .infinity
  }

  @Test func equalsTensorFlow() throws {
    let records = try records("tensorflow.bin")
    #expect(records.count == 16)
    var options = ImageOptions()
    options.fitting = .squash
    options.interpolation = .tensorFlowBilinear
    for record in records {
      let order = record.picture.channelCount == 1 ? ChannelOrder.grayscale : .rgb
      let result = try record.picture.prepared(
        width: record.width, height: record.height, order, options)
      #expect(
        greatestDifference(channelsLast(result), record.samples) < 1e-4,
        "\(record.picture.width)×\(record.picture.height) to \(record.width)×\(record.height)")
    }
  }

  @Test func equalsOpenCV() throws {
    let lines = String(decoding: try fixtures.bytes("opencv.txt"), as: UTF8.self)
      .split(separator: "\n")
    #expect(lines.count == 2 * 40)
    for line in lines {
      let words = line.split(separator: " ")
      let numbers = try words[..<5].map { try #require(Int($0)) }
      let source = randomPicture(width: numbers[1], height: numbers[2], channels: numbers[0])
      let result = try source.resized(width: numbers[3], height: numbers[4], .openCVBilinear)
      #expect(try crc32(result.bytes) == #require(UInt32(words[5], radix: 16)), "\(line)")
    }
  }

  /// For single-precision samples OpenCV and TensorFlow agree, and their rounded result differs by
  /// at most 1 from OpenCV's for 8-bit samples.
  @Test func rounds() throws {
    let source = randomPicture(width: 50, height: 41, channels: 3)
    let rounded = try source.resized(width: 33, height: 77, .tensorFlowBilinear)
    let fixed = try source.resized(width: 33, height: 77, .openCVBilinear)
    #expect(zip(rounded.bytes, fixed.bytes).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
  }

  @Test func equalsCaffe() throws {
    let records = try records("caffe.bin")
    #expect(records.count == 3)
    for record in records {
      let order = record.picture.channelCount == 1 ? ChannelOrder.grayscale : .rgb
      let middle = try record.picture.prepared(
        width: record.width, height: record.height, order, ImageRecipe.caffeClassify.options)
      let count = middle.count
      #expect(
        greatestDifference(channelsLast(middle), Array(record.samples[4 * count..<5 * count]))
          < 1e-4)
    }
  }

  @Test func aModelLargerThanTheSquareIsAnError() throws {
    let source = randomPicture(width: 20, height: 20, channels: 3)
    let recipe = ImageRecipe.caffeClassify.options
    #expect(
      errorCode { try source.prepared(width: 299, height: 299, .rgb, recipe) } == .mismatch)
  }
}
