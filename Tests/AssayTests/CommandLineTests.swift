import Assay
import ByteFormats
import TensorCore
import TestSupport
import Testing

/// Command-line arguments have the effect that the help describes.
@Suite struct CommandLineTests {
  private static let pictures = Fixtures("images")

  /// Passes a folder with the demonstration classifier and two images, one of which has a name that
  /// starts with a dash.
  private func withClassifier(_ body: (_ folder: String, _ model: String) throws -> Void) throws {
    let demo = Fixtures("demo")
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      let converted = try Command.run(
        "convert", demo.path("cifar10_resnet.h5"), "-o", model, "--class-labels",
        demo.path("cifar10.txt"), "--image-input", "input1")
      #expect(converted.code == 0, "\(converted.errors)")
      for (name, picture) in [("a", "420"), ("b", "444")] {
        try writeFile(Self.pictures.bytes(picture + ".jpg"), to: "\(folder)/\(name).jpg")
      }
      try body(folder, model)
    }
  }

  private func shell(_ script: String, _ arguments: String...) throws -> Program.Result {
    try Program("/bin/sh").run(["-c", script, Command.binary] + arguments)
  }

  @Test func severalInputsMakeATable() throws {
    try withClassifier { folder, model in
      let table = folder + "/preds.csv"
      let inputs = [folder + "/a.jpg", folder + "/b.jpg"]
      let run = try Command.run(
        ["run", model] + inputs + ["--resize", "squash", "-o", table, "--json"])
      #expect(run.code == 0, "\(run.errors)")
      let text = String(decoding: try fileBytes(table), as: UTF8.self)
      let rows = text.split(separator: "\n").map { $0.split(separator: ",") }
      #expect(rows.map(\.count) == [11, 11, 11], "\(text)")
      #expect(rows[0].prefix(3) == ["input", "airplane", "automobile"], "\(text)")
      #expect(rows.dropFirst().map { String($0[0]) } == inputs)
      for row in rows.dropFirst() {
        let sum = row.dropFirst().compactMap { Double($0) }.reduce(0, +)
        #expect(abs(sum - 1) < 1e-5, "\(sum)")
      }
      for name in ["preds.npz", "preds.npy", "preds.json", "preds.png", "-"] {
        let path = name == "-" ? name : "\(folder)/\(name)"
        let result = try Command.run(["run", model] + inputs + ["--resize", "squash", "-o", path])
        #expect(result.code == 64 && result.errors.contains("several inputs"), "\(result.errors)")
        #expect(!fileExists(path))
      }
    }
  }

  /// A negative number is a wrong value, not a missing one.
  @Test(arguments: [
    ("--seed", "a whole number, at least 0"), ("--threads", "--threads must be 1 to 1024"),
    ("-t", "--top must be at least 1"), ("--timeout", "a number of seconds greater than 0"),
  ]) func negativeNumbers(_ option: String, _ message: String) throws {
    let run = try Command.run("run", "m.mlmodel", "x.npy", option, "-1")
    #expect(run.code == 64 && run.errors.contains(message), "\(run.errors)")
    #expect(!run.errors.contains("Missing"), "\(run.errors)")
  }

  @Test func anEmptyFileNameIsShown() throws {
    let run = try Command.run("inspect", "")
    #expect(run.code == 66 && run.errors == "error: '': no such file\n", "\(run.errors)")
  }

  /// From the command and from Swift; "nan" is not a file's name.
  @Test func meansAreFinite() throws {
    let network = Fixtures("demo").path("swish.h5")
    for mean in ["nan", "image=1,inf,2"] {
      let result = try Command.run(
        "convert", network, "--image-input", "image", "--image-mean", mean, "--dry-run")
      #expect(result.code == 64 && result.errors.contains("is invalid for '--image-mean"))
    }
    var options = ConversionOptions()
    options.imageInputs = ["image"]
    for mean in [Double.nan, .infinity, 1e39] {
      options.preprocessing.mean.all = [mean]
      let error = try #require(throws: ModelError.self) {
        try ModelSource(contentsOf: network).convert(options)
      }
      #expect(error.message.contains("imageMean of 'image'"), "\(error)")
    }
  }

  @Test func standardStreams() throws {
    try withClassifier { folder, model in
      let direct = folder + "/direct.npy"
      try Command.run(
        "run", model, folder + "/a.jpg", "--resize", "squash", "-o", direct)
      let run = try shell(
        "\"$0\" run \"$1\" \"$2\" --resize squash -o - > \"$3\"", model, folder + "/a.jpg",
        folder + "/piped.npy")
      #expect(run.code == 0, "\(run.errors)")
      #expect(try fileBytes(folder + "/piped.npy") == fileBytes(direct))
      let both = try Command.run(
        "run", model, folder + "/a.jpg", "--resize", "squash", "-o", "-", "--json")
      #expect(both.code == 64, "\(both.errors)")
      // HDF5 and text on standard input, a model on standard output.
      let file = Fixtures("demo").path("cifar10_resnet.h5")
      let named = try Command.run(
        "convert", file, "-o", folder + "/named.mlmodel", "--image-input", "input1")
      #expect(named.code == 0)
      let piped = try shell(
        "\"$0\" convert - -o - --image-input input1 < \"$1\" > \"$2\"", file,
        folder + "/piped.mlmodel")
      #expect(piped.code == 0, "\(piped.errors)")
      #expect(
        try fileBytes(folder + "/piped.mlmodel") == fileBytes(folder + "/named.mlmodel"))
      let inspected = try shell(
        "\"$0\" inspect - < \"$1\"", Fixtures("caffe").path("v2.prototxt"))
      #expect(inspected.code == 0 && inspected.output.contains("Layers"), "\(inspected.errors)")
    }
  }

  @Test func aNameMayBeginWithADash() throws {
    try withClassifier { folder, model in
      try writeFile(Self.pictures.bytes("420.jpg"), to: folder + "/-dash.jpg")
      let run = try shell(
        "cd \"$1\" && \"$0\" run m.mlmodel -dash.jpg --resize squash --json", folder)
      #expect(run.code == 0 && run.output.contains("\"input\": \"./-dash.jpg\""), "\(run.output)")
      let missing = try shell("cd \"$1\" && \"$0\" run m.mlmodel a.jpg -rash.jpg", folder)
      #expect(missing.code == 2 && missing.errors.contains("no such file"), "\(missing)")
    }
  }

  @Test func helpOfWhatThereIs() throws {
    for words in [["help", "foo"], ["help", "run", "foo"], ["help", "plugin", "foo"]] {
      let result = try Command.run(words)
      #expect(result.code == 64 && result.output.isEmpty, "\(words): \(result.output)")
      #expect(result.errors.contains("unknown command 'foo'"), "\(result.errors)")
    }
    for words in [["help"], ["help", "run"], ["help", "plugin", "new"], ["help", "--help"]] {
      let result = try Command.run(words)
      #expect(result.code == 0 && result.output.contains("USAGE"), "\(words): \(result.errors)")
    }
  }

  /// An option of the previous version, which `NO_COLOR` replaces.
  @Test func colorOnDemand() throws {
    for (value, code, text) in [
      ("always", 66, "\u{1B}[31merror:"), ("never", 66, "error: a"), ("auto", 66, "error: a"),
      ("some", 64, "'some' is invalid for '--color-output"),
    ] as [(String, Int32, String)] {
      let run = try Command.run("run", "a", "b", "--color-output", value)
      #expect(run.code == code && run.errors.hasPrefix(text.hasPrefix("'") ? "" : text))
      #expect(run.errors.contains(text), "\(run.errors)")
    }
  }

  @Test func quietLeavesTheResults() throws {
    try withTemporaryFolder { folder in
      for (name, value) in [("a", 1), ("b", 2)] {
        try ArraySet([NamedArray(Tensor(shape: [1], [Float(value)]))])
          .write(to: "\(folder)/\(name).npy")
      }
      let diff = try Command.run("diff", folder + "/a.npy", folder + "/b.npy", "-q")
      #expect(diff.code == 1 && diff.output.contains("DIFFERS"), "\(diff.output)")
    }
  }

  @Test func aShardWithoutInputsSaysSo() throws {
    try withClassifier { folder, model in
      let run = try Command.run(
        "run", model, folder + "/a.jpg", "--resize", "squash", "--shard", "2/2")
      #expect(run.code == 0 && run.output.isEmpty)
      #expect(run.errors.contains("shard"), "\(run.errors)")
    }
  }

  #if os(Linux)
    /// Whether this process may create a file system root without `/proc`.
    private static let canUnmount =
      (try? Program("/bin/sh").run(["-c", "unshare -m umount -l /proc"]))?.code == 0

    @Test(.unsanitized, .enabled(if: canUnmount, "/proc cannot be taken away here"))
    func argumentsWithoutProc() throws {
      let result = try shell(
        "unshare -m sh -c 'umount -l /proc; \"$0\" inspect \"$1\"' \"$0\" \"$1\"",
        Fixtures("caffe").path("v2.prototxt"))
      #expect(
        result.code == 0 && result.output.hasPrefix("Model\n"), "\(result.output.prefix(200))")
      let keras = try shell(
        "unshare -m sh -c 'umount -l /proc; \"$0\" inspect \"$1\"' \"$0\" \"$1\"",
        Fixtures("demo").path("cifar10_resnet.h5"))
      #expect(keras.code == 0, "\(keras.errors)")
    }
  #endif
}
