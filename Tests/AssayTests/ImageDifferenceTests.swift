import ByteFormats
import Foundation
import Imaging
import TensorCore
import TestSupport
import Testing

/// Images in comparisons of arrays.
@Suite struct ImageDifferenceTests {
  private static let demo = Fixtures("demo")

  /// An image of 4 × 2 pixels with the value 100, except for some samples.
  private func image(
    _ path: String, channels: Int = 3, _ changes: [Int: UInt8] = [:]
  ) throws {
    var samples = [UInt8](repeating: 100, count: 8 * channels)
    for (index, value) in changes { samples[index] = value }
    try Image(width: 4, height: 2, channelCount: channels, samples: Bytes(samples))
      .writePNG(to: path)
  }

  @Test func imagesAreComparedInSteps() throws {
    try withTemporaryFolder { folder in
      let (a, b, c) = (folder + "/a.png", folder + "/b.png", folder + "/difference.png")
      try image(b)
      try image(a, [0: 101])
      let near = try Command.run("diff", a, b)
      #expect(near.code == 0, "\(near.output)")
      #expect(near.output.contains("0 of 24 (1 + 0 · |expected|)"), "\(near.output)")
      let exact = try Command.run("diff", a, b, "--atol", "0")
      #expect(exact.code == 1 && exact.output.contains("1 of 24"), "\(exact.output)")

      try image(a, [0: 101, 4: 96, 23: 102])
      let result = try Command.run("diff", a, b, "-o", c)
      #expect(result.code == 1 && result.output.contains("2 of 24"), "\(result.output)")
      // 20 · log₁₀(255 / √((1 + 16 + 4) / 24)) = 48.71
      #expect(result.output.contains("PSNR                       48.7 dB"), "\(result.output)")
      #expect(result.output.contains("[0, 1, 1]: 96, expected 100"), "\(result.output)")
      #expect(result.errors == "\(c): white is a difference of 4 of 255\n")
      // |a − b| · 255 / 4
      var expected = [UInt8](repeating: 0, count: 24)
      (expected[0], expected[4], expected[23]) = (64, 255, 128)
      #expect(try Image.read(c).samples == Bytes(expected))

      let same = try Command.run("diff", b, b, "-o", c, "--json")
      #expect(same.code == 0 && same.errors == "\(c): black, because nothing differs\n")
      #expect(try Image.read(c).samples == Bytes([UInt8](repeating: 0, count: 24)))
      #expect(same.output.contains(#""psnr": "Infinity""#), "\(same.output)")
    }
  }

  @Test func sizesAndColors() throws {
    try withTemporaryFolder { folder in
      let (a, gray) = (folder + "/a.png", folder + "/gray.png")
      try image(a)
      try image(gray, channels: 1)
      #expect(try Command.run("diff", a, gray).code == 0)
      let other = try Command.run("diff", a, Self.demo.path("eagle.jpg"), "-o", folder + "/d.png")
      #expect(other.code == 2 && other.output.contains("DIFFERS"), "\(other.output)")
      #expect(other.errors.contains("no two images of the same size"), "\(other.errors)")
      #expect(!fileExists(folder + "/d.png"))
      let name = try Command.run("diff", a, a, "-o", folder + "/d.txt")
      #expect(name.code == 64 && name.errors.contains(".png"), "\(name.errors)")
    }
  }

  /// A network that returns its image, as an image and as planes: a pooling window of one pixel.
  @Test func outputsAreComparedWithImages() throws {
    try withTemporaryFolder { folder in
      let network = folder + "/same.prototxt"
      let text = """
        layer { name: "data" type: "Input" top: "data"
          input_param { shape { dim: 1 dim: 3 dim: 64 dim: 64 } } }
        layer { name: "same" type: "Pooling" bottom: "data" top: "same"
          pooling_param { pool: AVE kernel_size: 1 } }
        layer { name: "mean" type: "Pooling" bottom: "data" top: "mean"
          pooling_param { pool: AVE global_pooling: true } }
        """
      try writeFile(Array(text.utf8), to: network)
      let picture = Self.demo.path("picture.png")
      let model = folder + "/m.mlmodel"
      try Command.run(
        "convert", network, "-o", model, "--image-input", "data", "--image-output", "same")
      for arguments in [[model], [network, "--image-output", "same"], [network]] {
        let result = try Command.run(
          ["diff", arguments[0], picture, "--expected", picture, "-q"] + arguments.dropFirst())
        #expect(result.code == 0, "\(arguments): \(result.output)\(result.errors)")
        #expect(result.output.contains("same  64×64×3  agrees"), "\(result.output)")
        #expect(result.output.contains("largest absolute error     0\n"), "\(result.output)")
      }
      // The largest 8-bit samples.
      let white = folder + "/white.png"
      try Image(
        width: 64, height: 64, channelCount: 3,
        samples: Bytes([UInt8](repeating: 255, count: 64 * 64 * 3))
      ).writePNG(to: white)
      let bright = try Command.run(
        "diff", network, picture, "--image-scale", "1e-4", "--red-bias", "300.4", "--green-bias",
        "254.6",
        "--blue-bias", "255", "--image-output", "same", "--expected", white, "--atol", "0")
      #expect(bright.code == 0, "\(bright.output)\(bright.errors)")
      let d = folder + "/d.png"
      let different = try Command.run("diff", model, picture, "--expected", white, "-o", d)
      #expect(different.code == 1 && fileExists(d), "\(different.output)\(different.errors)")
    }
  }

  /// The differences between the outputs of two models, as arrays and as an image.
  @Test func twoModels() throws {
    try withTemporaryFolder { folder in
      // y = x · factor + 5 of three channels.
      func network(_ name: String, _ factor: Float) throws -> String {
        let path = "\(folder)/\(name).prototxt"
        try writeFile(
          Array(
            """
            layer { name: "x" type: "Input" top: "x"
              input_param { shape { dim: 1 dim: 3 dim: 2 dim: 4 } } }
            layer { name: "y" type: "Power" bottom: "x" top: "y"
              power_param { scale: \(factor) shift: 5 } }
            """.utf8), to: path)
        return path
      }
      let (a, b) = (try network("a", 1), try network("b", 0.5))
      let (picture, arrays, image) = (folder + "/x.png", folder + "/d.npz", folder + "/d.png")
      try self.image(picture)
      let result = try Command.run("diff", a, b, picture, "-q", "-o", arrays)
      #expect(result.code == 1, "\(result.output) \(result.errors)")
      let difference = try #require(try ArraySet.read(arrays)["y"]).tensor
      #expect(difference.shape.suffix(3) == [3, 2, 4])
      // The second minus the first output: 55 − 105.
      #expect(difference.elements.allSatisfy { $0 == -50 })

      let images = try Command.run(
        "diff", a, b, picture, "--image-output", "y", "-o", image)
      #expect(images.code == 1, "\(images.output) \(images.errors)")
      #expect(images.errors.contains("\(image): white is a difference of 50 of 255"))
      #expect(try Image.read(image).samples == Bytes([UInt8](repeating: 255, count: 24)))

      let none = try Command.run("diff", a, b, picture, "-q", "-o", folder + "/none.png")
      #expect(none.code == 2 && none.errors.contains("-o FILE.npz"), "\(none.errors)")
      #expect(try Command.run("diff", a, b, picture, "-o", folder + "/d.pdf").code == 64)
      #expect(try Command.run("diff", a, b, "--structure", "-o", arrays).code == 64)
    }
  }
}
