import ByteFormats
import Foundation
import TensorCore
import TestSupport
import Testing

/// The output of `run`, `diff` and `eval` for classes, lists, states, numbers and failures.
@Suite struct RunOutputTests {
  private static let demo = Fixtures("demo")

  /// Passes the network `color`, of `DemonstrationTests`, as an `.mlmodel` and as an ML Program.
  private func withColor(_ body: (_ folder: String, _ model: String) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let model = folder + "/color.mlmodel"
      try DemonstrationTests.converted(
        to: model, "--class-labels", Self.demo.path("labels.txt"))
      try Command.run("upgrade", model, "-o", folder + "/color.mlpackage")
      for file in [model, folder + "/color.mlpackage"] { try body(folder, file) }
    }
  }

  /// Keras predicts blue with 0.7135 for the image; `expected.npz`.
  @Test func anMLProgramHasClasses() throws {
    try withColor { folder, model in
      let picture = Self.demo.path("picture.png")
      let run = try Command.run("run", model, picture, "--top", "1")
      #expect(run.output == "color  1×3\n  blue  71.35%  █████████████████████\n", "\(run.output)")
      let json = try JSONValue(parsing: try Command.run("run", model, picture, "--json").output)
      let first = try #require(json["classes"]?.array?.first)
      #expect(first["label"]?.string == "blue")
      try FileManager.default.createDirectory(
        atPath: folder + "/photos/blue", withIntermediateDirectories: true)
      try? FileManager.default.copyItem(atPath: picture, toPath: folder + "/photos/blue/1.png")
      let diff = try Command.run("diff", model, folder + "/photos", "--expected", "folders")
      #expect(
        diff.code == 0 && diff.output == "top-1 accuracy  100.00%  (1 of 1)\n",
        "\(diff.output)\(diff.errors)")
      let inspected = try Command.run("inspect", model)
      #expect(inspected.output.contains("3: red, green, blue"), "\(inspected.output)")
    }
  }

  /// A tolerance for an output that does not exist is a mistake, and has no effect.
  @Test func tolerancesNameOutputs() throws {
    try withColor { _, model in
      let files = [Self.demo.path("picture.png"), "--expected", Self.demo.path("expected.npz")]
      let known = try Command.run(["diff", model] + files + ["--atol", "color=1e-3"])
      #expect(known.code == 0, "\(known.output)\(known.errors)")
      let unknown = try Command.run(["diff", model] + files + ["--rtol", "colour=1e-3"])
      #expect(unknown.code == 2 && unknown.errors.contains("'colour'"), "\(unknown.errors)")
    }
  }

  /// Weights and preprocessing are in single precision.
  @Test(arguments: [
    ["--image-scale", "1e40"], ["--image-scale", "1e38/1e-3"], ["--image-mean", "nan,1,1"],
    ["--image-std", "inf,1,1"],
  ])
  func preprocessingIsFinite(_ options: [String]) throws {
    try withTemporaryFolder { folder in
      let result = try Command.run(
        ["convert", Self.demo.path("swish.h5"), "-o", folder + "/m.mlmodel"] + options)
      #expect(result.code != 0 && !fileExists(folder + "/m.mlmodel"), "\(result.errors)")
    }
  }

  /// Where standard output is data, the table of steps is on standard error.
  @Test func stepsDoNotDisturbData() throws {
    try withColor { _, model in
      let picture = Self.demo.path("picture.png")
      let plain = try Command.run("run", model, picture, "--json")
      let steps = try Command.run("run", model, picture, "--json", "--steps")
      #expect(steps.code == 0 && steps.output == plain.output, "\(steps.output)")
      #expect(steps.errors.contains("GFLOP/s"), "\(steps.errors)")
    }
  }

  /// An array with several axes has one label per element; 0.5 is the largest of the four.
  @Test func labelsOfAnArrayWithSeveralAxes() throws {
    try withTemporaryFolder { folder in
      try writeFile(
        Array(
          """
          layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 1 dim: 2 dim: 2 } } }
          layer { name: "y" type: "Power" bottom: "x" top: "y" power_param { scale: 1 } }
          """.utf8), to: folder + "/n.prototxt")
      try writeFile(Array("a\nb\nc\nd\n".utf8), to: folder + "/labels.txt")
      try writeFile(Array("[[[0.25, 0.125], [0.5, 0.125]]]".utf8), to: folder + "/x.json")
      let (plain, model) = (folder + "/n.mlmodel", folder + "/c.mlmodel")
      try Command.run("convert", folder + "/n.prototxt", "-o", plain)
      let edit = try Command.run("edit", plain, "-o", model, "--labels", folder + "/labels.txt")
      #expect(edit.code == 0, "\(edit.errors)")
      let run = try Command.run(
        "run", model, folder + "/x.json", "--layout", "coreml", "--top", "1")
      #expect(run.code == 0 && run.output.contains("  c  50.00%"), "\(run.output)\(run.errors)")
    }
  }

  /// The error names what does not fit: an array of another name, or one without items.
  @Test func arraysThatAreNoInputAreNamed() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try Command.run("convert", Self.demo.path("swish.h5"), "-o", model)
      let array = Tensor(shape: [1, 64, 64, 3], [Float](repeating: 0, count: 64 * 64 * 3))
      try ArraySet([NamedArray(array, name: "image"), NamedArray(array, name: "other")])
        .write(to: folder + "/two.npz")
      try ArraySet([NamedArray(Tensor(shape: [0, 64, 64, 3], []))]).write(to: folder + "/none.npy")
      for (file, message) in [
        ("two.npz", "the model has no input 'other'"),
        ("none.npy", "image: an array without items"),
      ] {
        let run = try Command.run("run", model, "\(folder)/\(file)")
        #expect(run.code == 2 && run.errors.contains("\(file): \(message)"), "\(run.errors)")
      }
    }
  }

  /// The means of the colors, largest first: 0.8 for blue, the last color.
  @Test func aListWithoutLabelsPrintsItsLargest() throws {
    try withTemporaryFolder { folder in
      let color = try ColorClassifier(in: folder)
      let run = try Command.run(
        "run", folder + "/color.cfg", color.images + "/blue/0.png", "--top", "2")
      let values = run.output.split(separator: "\n").dropFirst().prefix(2).map {
        $0.split(separator: " ")
      }
      #expect(values.map { $0.first } == ["[2]", "[1]"], "\(run.output)")
      let numbers = values.compactMap { $0.last.flatMap { Float($0) } }
      #expect(zip(numbers, [0.8, 0.2]).allSatisfy { abs($0 - $1) < 1e-5 }, "\(run.output)")
      let written = try Command.run(
        "run", folder + "/color.cfg", color.images + "/blue/0.png", "--top", "2", "-o",
        folder + "/out.npy")
      #expect(!written.output.contains("-o FILE"), "\(written.output)")
    }
  }

  /// The array contains a recurrent network's output, not its states.
  @Test func aStateIsNotTheOutput() throws {
    let name = "keras_numeric.KerasBasicNumericCorrectnessTest.test_small_no_sequence_gru_random"
    let model = Fixtures("corpus/keras1").path("\(name)__000_8136ba/coremltools.mlmodel")
    try withTemporaryFolder { folder in
      let (x, y) = (folder + "/x.npy", folder + "/y.npy")
      try ArraySet([NamedArray(Tensor(shape: [2, 1, 10], (0..<20).map { Float($0) / 20 }))])
        .write(to: x)
      let run = try Command.run("run", model, x, "-o", y)
      #expect(run.code == 0 && run.errors.contains("states: 'gru_1_h_out'"), "\(run.errors)")
      let diff = try Command.run("diff", model, x, "--expected", y)
      #expect(diff.code == 0 && diff.output.contains("output0  1  agrees"), "\(diff)")
    }
  }

  /// The cases of the model; its file has an overlap of 0.5, see `make.py`.
  @Test func numbersAreGivenDirectly() throws {
    let folder = Fixtures("feature-models")
    let model = folder.path("suppression/model.mlmodel")
    let cases = try JSONValue(
      parsing: try String(contentsOfFile: folder.path("suppression/cases.json"), encoding: .utf8))
    try withTemporaryFolder { scratch in
      for item in try #require(cases.array) {
        var words = ["run", model, "--json"]
        for name in ["confidence", "boxes"] {
          let rows = (item["inputs"]?[name]?.array ?? []).compactMap(\.array)
          let values = rows.flatMap { $0.compactMap(\.double).map { Float($0) } }
          let path = "\(scratch)/\(name).npy"
          try ArraySet([NamedArray(Tensor(shape: [rows.count, rows[0].count], values))])
            .write(to: path)
          words.append("\(name)=\(path)")
        }
        let overlap = try #require(item["inputs"]?["overlap"]?.double)
        let expected = item["outputs"]?["picked"]?.array?.count
        let result = try Command.run(words + ["overlap=\(overlap)"])
        #expect(result.code == 0, "\(result.errors)")
        let picked = try JSONValue(parsing: result.output)["shapes"]?["picked"]?.array?.first
        #expect(picked?.double.map { Int($0) } == expected, "\(result.output)")
        if overlap == 0.5 {
          let usual = try Command.run(words)
          let ends = try [usual, result].map { try JSONValue(parsing: $0.output)["outputs"] }
          #expect(ends[0] == ends[1], "\(usual.errors)")
        }
      }
      let wrong = try Command.run(
        "run", model, "confidence=1", "boxes=\(scratch)/boxes.npy", "overlap=much")
      #expect(wrong.code == 66, "\(wrong.errors)")
    }
  }

  /// Ten images of the same wrong size, and one of the right size.
  @Test(arguments: ["run", "eval"])
  func equalFailuresAreCounted(_ command: String) throws {
    try withColor { folder, model in
      let images = folder + "/many/blue"
      try FileManager.default.createDirectory(atPath: images, withIntermediateDirectories: true)
      for index in 0..<10 {
        try? FileManager.default.copyItem(
          atPath: Self.demo.path("person.jpg"), toPath: "\(images)/\(index).jpg")
      }
      try? FileManager.default.copyItem(
        atPath: Self.demo.path("picture.png"), toPath: images + "/right.png")
      let truth = command == "eval" ? ["--truth", "folders"] : []
      let result = try Command.run([command, model, folder + "/many"] + truth)
      #expect(result.code == 2)
      let lines = result.errors.split(separator: "\n")
      #expect(lines.count == 3, "\(result.errors)")
      #expect(
        lines.last
          == "error: 10 of 11 images are not 64×64: add --resize squash, center-crop or fit",
        "\(result.errors)")
    }
  }

  @Test func anInputOnStandardInputIsNoList() throws {
    try withColor { folder, model in
      let result = try Command.run("run", model, "-", input: "\u{0}\u{1}PNG\nrest\n")
      #expect(result.code == 64, "\(result.errors)")
      #expect(
        result.errors.hasPrefix("error: standard input: it is not a list of paths\n"),
        "\(result.errors)")
    }
  }

  @Test func aMissingModelOfTwoIsNamed() throws {
    try withColor { folder, model in
      let missing = folder + "/missing.mlmodel"
      for models in [[model, missing], [missing, model]] {
        let result = try Command.run(["diff"] + models)
        #expect(result.code == 66, "\(result.errors)")
        #expect(result.errors.hasPrefix("error: \(missing): no such file\n"), "\(result.errors)")
      }
    }
  }

  @Test func benchTakesInputsByItsOption() throws {
    try withColor { folder, model in
      let result = try Command.run("bench", model, Self.demo.path("picture.png"))
      #expect(result.code == 2 && result.errors.contains("--inputs"), "\(result.errors)")
    }
  }

  /// Resizing is reported once, not for each image.
  @Test func resizingIsSilent() throws {
    try withColor { folder, model in
      let words = ["run", model, Self.demo.path("eagle.jpg"), "--resize", "squash"]
      let (plain, verbose) = (try Command.run(words), try Command.run(words + ["--verbose"]))
      #expect(plain.errors.isEmpty && verbose.errors.contains("images: resize squash"))
    }
  }
}
