import Assay
import ByteFormats
import CoreMLModel
import Imaging
import TensorCore
import TestSupport
import Testing

/// `diff --diagnose` with an image that was prepared differently; the model returns its image, so
/// the expected values follow from the samples.
@Suite struct ImageDiagnosisTests {
  /// A model that returns the image with channels first.
  private static func model(_ side: Int, _ colors: ImageFeatureType.ColorSpace) -> Model {
    let image = ImageFeatureType(width: side, height: side, colorSpace: colors)
    return .network(
      [
        NeuralNetworkLayer(
          "same", Activation(.linear(alpha: 1, beta: 0)), input: ["image"], output: ["out"])
      ], inputs: [FeatureDescription(name: "image", kind: .image(image))],
      outputs: [.array("out", [colors == .grayscale ? 1 : 3, side, side])])
  }

  /// - Parameters:
  ///   - side: the side of the image, which has random colors.
  ///   - expected: the value of a channel at (y, x), computed from samples (y, x, channel).
  private func diagnosis(
    _ model: Model, side: Int, _ shape: [Int],
    _ expected: (_ channel: Int, _ y: Int, _ x: Int, (Int, Int, Int) -> Float) -> Float
  ) throws -> Diagnosis {
    var random = SplitMix64(seed: 11)
    let samples = (0..<3 * side * side).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    let values = (0..<shape.reduce(1, *)).map { index in
      let (channel, place) = index.quotientAndRemainder(dividingBy: shape[1] * shape[2])
      return expected(channel, place / shape[2], place % shape[2]) { y, x, color in
        Float(samples[3 * (y * side + x) + color])
      }
    }
    return try withTemporaryFolder { folder in
      let (image, file) = (folder + "/image.png", folder + "/expected.npz")
      try Image(width: side, height: side, channelCount: 3, samples: Bytes(samples))
        .writePNG(to: image)
      try ArraySet([NamedArray(Tensor(shape: shape, values), name: "out")]).write(to: file)
      var images = ImageOptions()
      images.fitting = .squash
      images.interpolation = .bilinear
      var options = Comparison.Options()
      options.images = images
      return try Diagnosis(model, inputs: [image], expected: file, options: options)
    }
  }

  private func first(_ diagnosis: Diagnosis) -> String {
    diagnosis.explanations.first?.causes.map(\.summary).joined(separator: "; ") ?? "nothing"
  }

  @Test(arguments: [("red", 0), ("green", 1), ("blue", 2)])
  func grayThatIsOneColor(_ name: String, _ color: Int) throws {
    let found = try diagnosis(Self.model(4, .grayscale), side: 4, [1, 4, 4]) { _, y, x, sample in
      sample(y, x, color)
    }
    #expect(first(found) == "gray is " + name)
    #expect((found.explanations.first?.error ?? 1) < 1e-6)
  }

  @Test func grayThatIsTheMean() throws {
    let found = try diagnosis(Self.model(4, .grayscale), side: 4, [1, 4, 4]) { _, y, x, sample in
      (sample(y, x, 0) + sample(y, x, 1) + sample(y, x, 2)) / 3
    }
    #expect(first(found) == "gray is the mean of red, green and blue")
  }

  /// From 8 × 8 to 4 × 4 pixels, the center of pixel i is the boundary of pixels 2i and 2i + 1.
  @Test func nearestSamples() throws {
    let found = try diagnosis(Self.model(4, .rgb), side: 8, [3, 4, 4]) { channel, y, x, sample in
      sample(2 * y + 1, 2 * x + 1, channel)
    }
    #expect(first(found) == "the image was resized like keras-load-img")
    #expect(found.explanations.first?.causes.first?.remedy == "pass recipe keras-load-img")
  }

  /// The mean of the nine pixels that a pixel covers. Pillow rounds the means of rows, and then
  /// those of columns.
  @Test func meansOfSquares() throws {
    let found = try diagnosis(Self.model(4, .rgb), side: 12, [3, 4, 4]) { channel, y, x, sample in
      let rows = (0..<3).map { row in
        let samples = (0..<3).map { sample(3 * y + row, 3 * x + $0, channel) }
        return (samples.reduce(0, +) / 3).rounded()
      }
      return (rows.reduce(0, +) / 3).rounded()
    }
    #expect(first(found) == "the image was resized by squash with the filter box")
  }
}
