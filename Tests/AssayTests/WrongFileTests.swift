import Assay
import CoreMLModel
import Foundation
import TensorCore
import TestSupport
import Testing

/// Errors name the file and the layer that are wrong.
@Suite struct WrongFileTests {
  private static let network = Fixtures("demo").path("swish.h5")
  private static let picture = Fixtures("demo").path("picture.png")

  private func run(_ arguments: [String], in folder: String) throws -> Program.Result {
    try Program(Command.binary).run(arguments, in: folder)
  }

  /// The hint names the nearest file of the same kind, if there is one.
  @Test func aMissingFileSuggestsTheNearest() throws {
    try withTemporaryFolder { folder in
      for name in ["color.mlmodel", "labels.txt"] {
        try Data("x".utf8).write(to: URL(filePath: folder + "/" + name))
      }
      for (name, hint) in [
        ("colr.mlmodel", "hint: did you mean 'color.mlmodel'?\n"), ("vocc.mlmodel", ""),
        ("label.txt", "hint: did you mean 'labels.txt'?\n"), ("colr.h5", ""),
        ("no/color.mlmodel", "hint: the folder 'no' does not exist\n"),
      ] {
        let result = try run(["inspect", name], in: folder)
        #expect(result.code == 66 && result.errors == "error: \(name): no such file\n" + hint)
      }
    }
  }

  /// The error names the file that is wrong.
  @Test func theWrongFileIsNamed() throws {
    try withTemporaryFolder { folder in
      func write(_ text: String, _ name: String) throws {
        try text.write(toFile: folder + "/" + name, atomically: true, encoding: .utf8)
      }
      try write("hello world\nthis is a note\n", "notes.txt")
      try write("import keras\nmodel = keras.Model()\n", "script.py")
      try write("%PDF-1.4 and more", "paper.pdf")
      let second = try run(["convert", Self.network, "notes.txt", "-o", "m.mlmodel"], in: folder)
      #expect(
        second.code == 2 && second.errors.hasPrefix("error: notes.txt is text, not "),
        "\(second.errors)")
      for name in ["notes.txt", "script.py"] {
        for words in [["convert", name, "-o", "m.mlmodel"], ["run", name, Self.picture]] {
          let result = try run(words, in: folder)
          #expect(
            result.code == 2 && result.errors.hasPrefix("error: \(name) is text, not a "),
            "\(result.errors)")
        }
      }
      let paper = try run(["run", "paper.pdf", Self.picture], in: folder)
      #expect(paper.code == 2 && paper.errors.contains("a PDF file"), "\(paper.errors)")
      #expect(!paper.errors.contains("convert the image"), "\(paper.errors)")
      #expect(!fileExists(folder + "/m.mlmodel"))
    }
  }

  @Test func modelsOfOtherFrameworksAreNamed() throws {
    try withTemporaryFolder { folder in
      for name in ["a.mlmodelc", "b.aimodel", "saved"] {
        try FileManager.default.createDirectory(
          atPath: folder + "/" + name, withIntermediateDirectories: true)
      }
      for name in [
        "a.mlmodelc/model.mil", "b.aimodel/main.mlirb", "c.mlirb", "saved/keras_metadata.pb",
      ] {
        try writeFile([0x0A, 5, 0, 1], to: folder + "/" + name)
      }
      // MLIR bytecode starts with these bytes.
      try writeFile([0x4D, 0x4C, 0xEF, 0x52, 0], to: folder + "/d")
      for (name, kind, remedy) in [
        ("a.mlmodelc", "is a compiled Core ML model (.mlmodelc)", "use the .mlmodel"),
        ("b.aimodel/", "is a Core AI model (.aimodel)", "convert the Keras or Caffe file"),
        ("c.mlirb", "is a Core AI model (.aimodel)", "convert the Keras or Caffe file"),
        ("d", "is a Core AI model (.aimodel)", "convert the Keras or Caffe file"),
        (
          "saved/keras_metadata.pb", "is the metadata of a SavedModel",
          "load the folder that contains it"
        ),
      ] {
        for command in ["convert", "inspect"] {
          let result = try run(
            [command, name] + (command == "convert" ? ["-o", "m.mlmodel"] : []), in: folder)
          let lines = result.errors.split(separator: "\n")
          #expect(
            result.code == 2 && lines.count == 2
              && lines[0].hasPrefix("error: \(name) \(kind)")
              && lines[1].hasPrefix("hint: ") && lines[1].contains(remedy),
            "\(name): \(result.errors)")
        }
      }
    }
  }

  @Test func misspelledLayersAreNoticed() throws {
    try withTemporaryFolder { folder in
      let text = """
        input: "data"
        input_shape { dim: 1 dim: 3 dim: 8 dim: 8 }
        layer { name: "c" type: "Convolutoin" bottom: "data" top: "c"
                convolution_param { num_output: 3 kernel_size: 3 } }
        """
      try text.write(toFile: folder + "/c.prototxt", atomically: true, encoding: .utf8)
      let refused = try run(["convert", "c.prototxt", "-o", "c.mlmodel"], in: folder)
      #expect(refused.code == 2, "\(refused.errors)")
      #expect(refused.errors.contains("did you mean 'Convolution'?"), "\(refused.errors)")
      let allowed = try run(
        ["convert", "c.prototxt", "-o", "c.mlmodel", "--custom-layers", "allow"], in: folder)
      #expect(allowed.code == 0, "\(allowed.errors)")
      #expect(allowed.errors.contains("did you mean 'Convolution'?"), "\(allowed.errors)")
      let layer = try Model(contentsOf: folder + "/c.mlmodel").neuralNetwork?.layers.first
      let custom = try #require(layer?.parameters as? Custom)
      #expect(custom.parameters["kernel_size"] == .int(3), "\(custom.parameters)")
    }
  }
}
