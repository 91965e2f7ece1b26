import ByteFormats
import CoreMLModel
import TestSupport
import Testing

/// Every command names a file of a foreign format, with a hint.
@Suite struct StrangeFileTests {
  private static let formats = Fixtures("formats")

  /// ir_version 14, a graph, an operator set; once mistaken for specification version 14.
  private static let onnx: [UInt8] = [0x08, 14, 0x3A, 3, 0x12, 1, 0x67, 0x42, 2, 0x10, 14]

  @Test(arguments: ["inspect", "convert", "run", "bench", "compress"])
  func everyCommandNamesThem(_ command: String) throws {
    let html = Array("<!DOCTYPE html>\n<html><body>404 Not Found".utf8)
    let pointer = Array("version https://git-lfs.github.com/spec/v1\noid sha256:00\n".utf8)
    let cases: [(name: String, bytes: [UInt8], says: String, hint: String)] = [
      ("a.onnx", Self.onnx, "an ONNX model", "convert the Keras or Caffe file"),
      (
        "a.tflite", try Self.formats.bytes("add.tflite"), "a TensorFlow Lite model",
        "convert the Keras or Caffe file"
      ),
      ("saved_model.pb", try Self.formats.bytes("saved_model.pb"), "a SavedModel", "model.save("),
      (
        "g.pb", try Self.formats.bytes("graph.pb"), "a TensorFlow graph",
        "convert the Keras or Caffe file"
      ),
      ("m.h5", html, "HTML", "download the file again"),
      ("m.mlmodel", html, "HTML", "download the file again"),
      ("m.caffemodel", pointer, "a Git LFS pointer", "git lfs pull"),
      ("m.gz", [0x1F, 0x8B, 8, 0], "an archive (gzip)", "unpack it"),
      ("m.pth", [0x80, 2, 0x7D], "a Python pickle", "model.save("),
    ]
    try withTemporaryFolder { folder in
      for (name, bytes, says, hint) in cases {
        let path = "\(folder)/\(name)"
        try writeFile(bytes, to: path)
        let more =
          switch command {
          case "run": [Fixtures("images").path("420.jpg")]
          case "convert": ["-o", folder + "/out.mlmodel"]
          case "compress": ["--bits", "8", "-o", folder + "/out.mlmodel"]
          default: [String]()
          }
        let result = try Command.run([command, path] + more)
        #expect(result.code == 2, "\(command) \(name): \(result.code)")
        #expect(result.output.isEmpty, "\(command) \(name): \(result.output)")
        let lines = result.errors.split(separator: "\n")
        #expect(
          lines.first?.contains("\(name) is \(says)") == true, "\(command): \(result.errors)")
        #expect(lines.last?.contains(hint) == true, "\(command): \(result.errors)")
      }
    }
  }

  @Test func aPictureIsNoNetworkAndANetworkNoPicture() throws {
    let picture = Fixtures("images").path("420.jpg")
    let inspected = try Command.run("inspect", picture)
    #expect(inspected.code == 2 && inspected.errors.contains("is a JPEG image, not a Keras, Caffe"))
    let weights = Fixtures("caffe").path("single.caffemodel")
    let run = try Command.run("run", weights, picture)
    #expect(run.code == 2 && run.errors.contains("the network has no inputs"), "\(run.errors)")
    #expect(run.errors.contains(".prototxt"), "\(run.errors)")
  }

  @Test func aProgramWithoutFunctionsIsRefused() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/program.mlmodel"
      // The input 'x' and the output 'y' are numbers.
      let features: [UInt8] = [
        0x0A, 7, 0x0A, 1, 0x78, 0x1A, 2, 0x12, 0, 0x52, 7, 0x0A, 1, 0x79, 0x1A, 2, 0x12, 0,
      ]
      try writeFile(
        [0x08, 6, 0x12, UInt8(features.count)] + features + [0xB2, 0x1F, 0], to: path)
      for command in [
        ["inspect", path], ["run", path, "x.npy"],
        ["convert", path, "-o", folder + "/out.mlmodel"],
      ] {
        let result = try Command.run(command)
        #expect(result.code == 2, "\(result.errors)")
        #expect(result.errors.contains("no function 'main'"), "\(result.errors)")
      }
    }
  }
}
