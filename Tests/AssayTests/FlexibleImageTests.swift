import Assay
import ByteFormats
import CoreMLModel
import Imaging
import TensorCore
import TestSupport
import Testing

/// Images of several sizes in a network and in its ML Program. The output is −2 times the image.
@Suite struct FlexibleImageTests {
  struct Sizes: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let flexibility: ImageFeatureType.Flexibility

    static let all = [
      Sizes(
        testDescription: "listed",
        flexibility: .enumerated([size(4, 3), size(8, 6), size(5, 9)])),
      Sizes(
        testDescription: "a range",
        flexibility: .range(width: SizeRange(2, 8), height: SizeRange(3, -1))),
      Sizes(
        testDescription: "any width", flexibility: .range(width: SizeRange(1, -1), height: nil)),
    ]

    private static func size(_ width: Int, _ height: Int) -> ImageSize {
      var size = ImageSize()
      (size.width, size.height) = (width, height)
      return size
    }
  }

  private func network(_ flexibility: ImageFeatureType.Flexibility) -> Model {
    var image = ImageFeatureType(width: 4, height: 3, colorSpace: .rgb)
    image.flexibility = flexibility
    return .network(
      [
        NeuralNetworkLayer(
          "double", Activation(.linear(alpha: -2, beta: 0)), input: ["image"], output: ["out"])
      ], inputs: [FeatureDescription(name: "image", kind: .image(image))],
      outputs: [.array("out", [])])
  }

  /// Whether the model's output for an image of this size is correct.
  private func answers(_ model: Model, _ width: Int, _ height: Int) throws -> Bool {
    try withTemporaryFolder { folder in
      let samples = (0..<3 * width * height).map { UInt8(truncatingIfNeeded: 37 * $0 + 5) }
      let (path, file) = (folder + "/image.png", folder + "/expected.npz")
      try Image(width: width, height: height, channelCount: 3, samples: Bytes(samples))
        .writePNG(to: path)
      let values = (0..<samples.count).map { index in
        let (channel, place) = index.quotientAndRemainder(dividingBy: width * height)
        return -2 * Float(samples[3 * place + channel])
      }
      let tensor = Tensor(shape: [3, height, width], values)
      try ArraySet([NamedArray(tensor, name: "out")]).write(to: file)
      return try Comparison.compare(
        model, inputs: [path], expected: file, options: Comparison.Options()
      ).matches
    }
  }

  @Test(arguments: Sizes.all, [(4, 3), (8, 6), (5, 9), (9, 3)])
  func sizes(_ sizes: Sizes, _ size: (width: Int, height: Int)) throws {
    let isAllowed =
      switch sizes.flexibility {
      case .enumerated(let sizes):
        sizes.contains { $0.width == size.width && $0.height == size.height }
      case .range(let width, let height):
        (width ?? SizeRange(4, 4)).contains(size.width)
          && (height ?? SizeRange(3, 3)).contains(size.height)
      }
    let network = network(sizes.flexibility)
    for model in [network, try network.mlProgram()] {
      if isAllowed {
        #expect(try answers(model, size.width, size.height))
      } else {
        #expect(throws: ModelError.self) { try answers(model, size.width, size.height) }
      }
    }
  }
}
