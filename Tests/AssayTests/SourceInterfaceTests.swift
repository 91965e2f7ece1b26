import Foundation
import TestSupport
import Testing

/// `diff SOURCE MODEL IMAGE` says whether MODEL was converted correctly: the source network gets
/// the images, names and classes of the model.
@Suite struct SourceInterfaceTests {
  private static let demo = Fixtures("demo")

  /// Options of `convert` for the networks below.
  static let conversions: [[String]] =
    [
      ["--preset", "keras-tf"], ["--preset", "keras-torch"], ["--preset", "keras-caffe"],
      ["--color", "bgr", "--image-scale", "1/64", "--red-bias=-1", "--green-bias=-2"],
      [
        "--input-name", "image", "--output-name", "color", "--image-input", "image",
        "--class-labels", demo.path("labels.txt"), "--image-scale", "1/127.5", "--red-bias=-1",
      ],
    ]

  @Test(
    arguments: conversions.map { ($0, "mlmodel") }
      + [conversions[0], conversions[4]].map {
        ($0, "mlpackage")
      })
  func aConversionOfKerasAgrees(_ options: [String], _ format: String) throws {
    let image = options.contains("--image-input") ? [] : ["--image-input", "input1"]
    try check([Self.demo.path("swish.h5")], options + image, Self.demo.path("picture.png"), format)
  }

  /// The mean image is that of the network's `make.py`.
  @Test(arguments: ["mlmodel", "mlpackage"])
  func aMeanImageOfCaffeIsTaken(_ format: String) throws {
    let caffe = Fixtures("caffe")
    try check(
      ["v2.prototxt", "single.caffemodel"].map(caffe.path),
      ["--image-input", "data", "--color", "bgr", "--mean", caffe.path("mean.binaryproto")],
      Self.demo.path("picture.png"), format, ["--resize", "squash"])
  }

  @Test func aConversionOfDarknetAgrees() throws {
    try withTemporaryFolder { folder in
      let color = try ColorClassifier(in: folder)
      let image = color.images + "/blue/0.png"
      let result = try Command.run("diff", folder + "/color.cfg", color.model, image)
      #expect(result.code == 0, "\(result.output)\(result.errors)")
      #expect(result.output.hasPrefix("structure: the same\n"), "\(result.output)")
      #expect(result.errors.contains("preprocessing: pixel / 255\n"), "\(result.errors)")
    }
  }

  /// The result is negative with 1-bit codes, as for any other mistake.
  private func check(
    _ source: [String], _ options: [String], _ picture: String, _ format: String,
    _ more: [String] = []
  ) throws {
    try withTemporaryFolder { folder in
      let (model, wrong) = (folder + "/m." + format, folder + "/w." + format)
      let converted = try Command.run(["convert"] + source + ["-o", model] + options)
      #expect(converted.code == 0, "\(converted.errors)")
      let result = try Command.run(["diff"] + source + [model, picture] + more)
      #expect(result.code == 0, "\(options): \(result.output)\(result.errors)")
      #expect(!result.output.contains("DIFFERS") && !result.errors.contains("warning"), "\(result)")
      // Blobs are listed only if one differs.
      let summary = result.output.contains(" inside agree, largest error ")
      #expect(summary == (format == "mlmodel"), "\(result.output)")
      #expect(result.output.contains(" agree with a second reading of "), "\(result.output)")
      let back = try Command.run(["diff", model] + source + [picture] + more)
      #expect(back.code == 0, "\(options): \(back.output)\(back.errors)")
      try Command.run("compress", model, "-o", wrong, "--bits", "1")
      let other = try Command.run(["diff"] + source + [wrong, picture] + more)
      #expect(other.code == 1 && other.output.contains("DIFFERS"), "\(other.output)\(other.errors)")
      let lines = other.output.split(separator: "\n").suffix(2)
      #expect(lines.first?.hasPrefix("cause: ") == true, "\(lines)")
      #expect(lines.last?.hasPrefix("remedy: ") == true, "\(lines)")
      if format == "mlmodel" { #expect(lines.first?.contains("are stored in 1 bit") == true) }
    }
  }
}
