import ByteFormats
import Foundation
import Imaging
import TensorCore
import TestSupport
import Testing

/// A network whose scores are the means of red, green and blue, and images of one color each, so
/// that its outputs are known without running it.
struct ColorClassifier {
  static let classes = ["red", "green", "blue"]
  private static let configuration = """
    [net]
    width=4
    height=4
    channels=3

    [avgpool]
    """

  let folder: String
  var model: String { folder + "/color.mlmodel" }
  var images: String { folder + "/images" }

  /// Six images in folders named after their classes; the second image of `blue` is mainly red.
  static let colors: [(name: String, color: [UInt8])] = [
    ("blue/0", [0, 51, 204]), ("blue/1", [204, 0, 102]), ("green/0", [51, 255, 0]),
    ("green/1", [0, 102, 51]), ("red/0", [255, 0, 0]), ("red/1", [153, 102, 51]),
  ]

  /// The expected scores; Darknet's pixels are in 0…1.
  static func scores(_ color: [UInt8]) -> [Float] { color.map { Float($0) / 255 } }

  init(in folder: String, isBrokenAt broken: String? = nil) throws {
    self.folder = folder
    try writeFile(Array(Self.configuration.utf8), to: folder + "/color.cfg")
    try writeFile(Array(Self.classes.joined(separator: "\n").utf8), to: folder + "/labels.txt")
    let converted = try convert(to: model)
    #expect(converted.code == 0, "\(converted.errors)")
    for (name, color) in Self.colors {
      let path = "\(images)/\(name).png"
      try FileManager.default.createDirectory(
        atPath: URL(filePath: path).deletingLastPathComponent().path,
        withIntermediateDirectories: true)
      try Image(
        width: 4, height: 4, channelCount: 3,
        samples: Bytes([[UInt8]](repeating: color, count: 16).flatMap(\.self))
      ).writePNG(to: path)
    }
    if let broken { try writeFile(Array("no image".utf8), to: "\(images)/\(broken)") }
  }

  func convert(to path: String, _ more: [String] = []) throws -> Command.Result {
    try Command.run(
      [
        "convert", folder + "/color.cfg", "-o", path, "--image-input", "data", "--class-labels",
        folder + "/labels.txt",
      ] + more)
  }

  /// Writes each image's expected outputs to a new folder; last scores are off by `errors`.
  func writeExpected(errors: [Float] = [0, 0, 0, 0, 0, 0]) throws -> String {
    let path = folder + "/expected"
    for ((name, color), error) in zip(Self.colors, errors) {
      var scores = Self.scores(color)
      scores[2] += error
      let file = "\(path)/\(name).npz"
      try FileManager.default.createDirectory(
        atPath: URL(filePath: file).deletingLastPathComponent().path,
        withIntermediateDirectories: true)
      try ArraySet([NamedArray(Tensor(shape: [1, 3], scores), name: "scores")]).write(to: file)
    }
    return path
  }
}
