import CoreMLModel
import Foundation
import TensorCore
import TestSupport
import Testing

/// The behavior of the process with respect to memory, signals and its files.
@Suite struct ProcessTests {
  private static let shell = Program("/bin/sh")

  /// Runs a shell command in which `$A` is the program.
  private static func run(
    _ line: String, in folder: String? = nil, environment: [String: String] = [:]
  ) throws -> Program.Result {
    try shell.run(
      ["-c", line],
      environment: environment.merging(["A": Command.binary, "SWIFT_BACKTRACE": ""]) { $1 },
      in: folder)
  }

  private static func lines(_ text: String) -> [Substring] {
    text.split(separator: "\n").filter { $0.hasPrefix("error: ") }
  }

  // MARK: Memory

  /// A network of one line with gigabytes of values.
  private static let wide = "[net]\nheight=1\nwidth=16777216\nchannels=3\n[maxpool]\nsize=1\n"

  @Test(
    .unsanitized,
    arguments: ["bench wide.cfg", "inspect wide.cfg --plan", "diff wide.cfg wide.cfg"])
  func refusesWhatExceedsTheLimit(_ command: String) throws {
    try withTemporaryFolder { folder in
      try writeFile(Array(Self.wide.utf8), to: folder + "/wide.cfg")
      let result = try Self.run("$A \(command) --max-memory 128M", in: folder)
      #expect(result.exited && result.code == 75, "\(result.code) \(result.errors)")
      let errors = Self.lines(result.errors)
      #expect(errors.count == 1 && errors.first?.contains("wide.cfg") == true, "\(result.errors)")
    }
  }

  /// Without the option, each byte of a small file allows at most 1 MiB of memory.
  @Test(
    .unsanitized,
    arguments: ["bench wide.cfg", "inspect wide.cfg --plan", "diff wide.cfg wide.cfg"])
  func memoryIsInProportionToTheFile(_ command: String) throws {
    try withTemporaryFolder { folder in
      try writeFile(Array(Self.wide.utf8), to: folder + "/wide.cfg")
      let result = try Self.run("$A \(command)", in: folder)
      #expect(result.exited && result.code == 75, "\(result.code) \(result.errors)")
      let count = Self.wide.utf8.count
      #expect(
        result.errors.contains("201326592 are allowed for inputs of \(count) bytes"),
        "\(result.errors)")
      #expect(result.errors.contains("--max-memory"))
    }
  }

  /// A network of 512 × 512 elements is legitimate with an image or random weights: a description
  /// of 1,200 bytes may take 1,200 MiB.
  @Test(.unsanitized) func aSmallFileMayHaveLargeValues() throws {
    try withTemporaryFolder { folder in
      let layer = "[convolutional]\nfilters=32\nsize=3\npad=1\nactivation=relu\n"
      let text =
        "[net]\nheight=1024\nwidth=1024\nchannels=3\n"
        + String(repeating: layer, count: 3) + String(repeating: "# a comment\n", count: 40)
      try writeFile(Array(text.utf8), to: folder + "/large.cfg")
      // 32 · 1024 · 1024 values take 128 MiB; a layer reads and writes as many.
      let result = try Self.run("$A inspect large.cfg --plan", in: folder)
      #expect(result.code == 0, "\(result.errors)")
      let refused = try Self.run("$A inspect large.cfg --plan --max-memory 192M", in: folder)
      #expect(refused.code == 75, "\(refused.errors)")
    }
  }

  /// The process's own limit counts like the option.
  @Test(
    .unsanitized,
    .enabled(
      if: FileManager.default.fileExists(atPath: "/proc/self/status"), "there is no /proc"))
  func respectsTheLimitOfTheProcess() throws {
    try withTemporaryFolder { folder in
      try writeFile(Array(Self.wide.utf8), to: folder + "/wide.cfg")
      let result = try Self.run("ulimit -v 2500000; $A bench wide.cfg", in: folder)
      #expect(result.exited && result.code == 75, "\(result.code) \(result.errors)")
      #expect(Self.lines(result.errors).count == 1, "\(result.errors)")
    }
  }

  /// Missing weights that no file could hold are not generated.
  @Test func missingWeightsAreBounded() throws {
    var network = NeuralNetwork()
    network.layers = (0..<3).map { index in
      var layer = NeuralNetworkLayer()
      layer.name = "dense\(index)"
      var dense = InnerProduct()
      (dense.inputChannels, dense.outputChannels) = (30_000, 30_000)
      layer.parameters = dense
      return layer
    }
    let error = #expect(throws: ModelError.self) {
      _ = try network.fillMissingWeights(RandomWeights(seed: 0))
    }
    #expect(
      error?.code == .limitExceeded && error?.layer == "dense0", "\(String(describing: error))")
  }

  // MARK: Outputs

  /// Nothing is written if the result cannot be printed: a failing command leaves the old output.
  @Test(
    arguments: [">&-", "> /dev/full"],
    [
      "run swish.h5 picture.png --preset keras-tf -o out.npz",
      "run swish.h5 picture.png --preset keras-tf --steps -q -o out.npz",
      "run swish.h5 picture.png --preset keras-tf --json -o out.npz",
      "compress swish.h5 --lambda auto --bits 8 -o out.mlmodel",
      "compress swish.h5 --lambda auto --bits 8 --json -o out.mlmodel",
    ])
  func aFailedCommandLeavesTheOutput(_ redirection: String, _ command: String) throws {
    guard FileManager.default.fileExists(atPath: "/dev/full") || redirection == ">&-" else {
      return
    }
    try withTemporaryFolder { folder in
      let output = folder + "/" + (command.split(separator: " ").last ?? "")
      for name in ["swish.h5", "picture.png"] {
        try writeFile(Fixtures("demo").bytes(name), to: "\(folder)/\(name)")
      }
      try writeFile(Array("old".utf8), to: output)
      let result = try Self.run("$A \(command) \(redirection)", in: folder)
      #expect(result.code == 74, "\(result.code) \(result.errors)")
      #expect(try fileBytes(output) == Array("old".utf8))
      #expect(try Self.run("$A \(command)", in: folder).code == 0)
      #expect(try fileBytes(output) != Array("old".utf8))
    }
  }

  // MARK: Crashes

  private static let waits = "mkfifo pipe; (exec sleep 20 > pipe) & holder=$!; $A inspect pipe & "

  /// A trap is reported in one line, which says what to send.
  @Test(arguments: ["SEGV", "ILL", "ABRT", "FPE", "TRAP"])
  func aFaultIsOneLine(_ signal: String) throws {
    try withTemporaryFolder { folder in
      let result = try Self.run(
        Self.waits
          + "p=$!; sleep 0.5; kill -\(signal) $p; wait $p; code=$?; kill $holder; exit $code",
        in: folder)
      #expect(result.code == 70, "\(result.code) \(result.errors)")
      let errors = Self.lines(result.errors)
      #expect(errors.count == 1 && result.errors.split(separator: "\n").count == 1)
      #expect(
        errors.first?.contains("internal error in assay") == true
          && errors.first?.hasSuffix("assay inspect pipe") == true, "\(result.errors)")
    }
  }

  /// A memory-mapped model is truncated while the command waits for its input.
  @Test func aMappedFileThatIsCutShortIsOneLine() throws {
    try withTemporaryFolder { folder in
      let side = 4_300
      var dense = InnerProduct()
      (dense.inputChannels, dense.outputChannels) = (side, side)
      dense.matrix = Weights([Float](repeating: 1, count: side * side))
      var layer = NeuralNetworkLayer()
      layer.name = "dense"
      layer.parameters = dense
      (layer.input, layer.output) = (["x"], ["y"])
      var network = NeuralNetwork()
      network.layers = [layer]
      var model = Model()
      model.specificationVersion = 1
      model.type = .neuralNetwork(network)
      let array = FeatureType.Kind.multiArray(ArrayFeatureType(shape: [side], dataType: .double))
      model.description?.input = [FeatureDescription(name: "x", kind: array)]
      model.description?.output = [FeatureDescription(name: "y", kind: array)]
      try model.write(to: folder + "/big.mlmodel")
      let values = "[" + Array(repeating: "1", count: side).joined(separator: ",") + "]"
      try writeFile(Array(values.utf8), to: folder + "/x.json")
      let result = try Self.run(
        "mkfifo pipe; $A run big.mlmodel pipe > out & p=$!; exec 9> pipe; sleep 1; "
          + "truncate -s 1000 big.mlmodel; cat x.json >&9; exec 9>&-; wait $p", in: folder)
      #expect(result.code == 74, "\(result.code) \(result.errors)")
      let text = "error: big.mlmodel: the file was truncated while it was read\n"
      #expect(result.errors == text)
    }
  }

  // MARK: Files

  /// Commands never write to their inputs, whether given by name, which has the wrong format, or by
  /// a link.
  @Test(arguments: [
    ("m.h5", 64), ("soft.mlmodel", 73), ("hard.mlmodel", 73), ("sub/../m.h5", 64),
  ])
  func neverDestroysItsInput(_ output: String, _ code: Int32) throws {
    try withTemporaryFolder { folder in
      let original = try fileBytes(DemonstrationTests.fixture + "/swish.h5")
      try writeFile(original, to: folder + "/m.h5")
      let links = "mkdir sub; ln -s m.h5 soft.mlmodel; ln m.h5 hard.mlmodel; "
      for command in ["convert", "compress --bits 8", "edit"] {
        let result = try Self.run(
          links + "$A \(command) m.h5 --custom-layers \(DemonstrationTests.fixture)/rules.json -o "
            + output + "; code=$?; rm -r sub soft.mlmodel hard.mlmodel; exit $code", in: folder)
        #expect(result.code == code, "\(command): \(result.code) \(result.errors)")
        let reason = code == 73 ? "is an input of this command" : "unknown format '.h5'"
        #expect(result.errors.contains(reason), "\(result.errors)")
        #expect(try fileBytes(folder + "/m.h5") == original)
      }
      #expect(fileNames(in: folder) == ["m.h5"])
    }
  }

  /// Neither of two outputs with one name overwrites the other: the second is refused.
  @Test func neverDestroysItsOutput() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try DemonstrationTests.converted(to: model)
      let (result, link) = (folder + "/r.npz", folder + "/link.npz")
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: result)
      for report in [result, link] {
        let run = try Command.run(
          "run", model, DemonstrationTests.picture, "-o", result, "--report", report)
        #expect(run.code == 73, "\(run.code) \(run.errors)")
        #expect(run.errors.contains("is another output of this command"), "\(run.errors)")
        #expect(try fileBytes(result).starts(with: Array("PK".utf8)))
        #expect(
          try Command.run("run", model, DemonstrationTests.picture, "-o", result).code == 0)
      }
    }
  }

  @Test func changesAModelInPlace() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try DemonstrationTests.converted(to: model)
      let before = try fileBytes(model)
      #expect(try Command.run("edit", model, "-o", model, "--author", "A").code == 0)
      let edited = try fileBytes(model)
      #expect(edited != before)
      #expect(try Command.run("compress", model, "-o", model, "--bits", "8").code == 0)
      #expect(try fileBytes(model) != edited)
      #expect(fileNames(in: folder) == ["m.mlmodel"])
    }
  }

  /// NaN does not equal itself, but a file with NaN reads back as it was written.
  @Test func aModelWithNaNCanBeEdited() throws {
    try withTemporaryFolder { folder in
      var layer = NeuralNetworkLayer()
      layer.name = "line"
      layer.parameters = Activation(.linear(alpha: .nan, beta: 0))
      (layer.input, layer.output) = (["x"], ["y"])
      var network = NeuralNetwork()
      network.layers = [layer]
      var model = Model()
      model.specificationVersion = 1
      model.type = .neuralNetwork(network)
      let array = FeatureType.Kind.multiArray(ArrayFeatureType(shape: [3], dataType: .double))
      model.description?.input = [FeatureDescription(name: "x", kind: array)]
      model.description?.output = [FeatureDescription(name: "y", kind: array)]
      try model.write(to: folder + "/m.mlmodel")
      let result = try Self.run("$A edit m.mlmodel -o m.mlmodel --author A", in: folder)
      #expect(result.code == 0, "\(result.errors)")
    }
  }

  /// A pipe works; a pipe without a writer is refused.
  @Test func readsAPipe() throws {
    try withTemporaryFolder { folder in
      try DemonstrationTests.converted(to: folder + "/m.mlmodel")
      let read = try Self.run("mkfifo p; cat m.mlmodel > p & $A inspect p", in: folder)
      #expect(read.code == 0 && read.output.contains("Inputs"), "\(read.errors)")
      let empty = try Self.run("mkfifo q; $A inspect q", in: folder)
      #expect(
        empty.code == 66 && empty.errors.contains("q is a pipe, and no program writes to it"))
    }
  }

  /// Disk full after the first file: nothing remains.
  @Test func aPartialExportLeavesNothing() throws {
    try withTemporaryFolder { folder in
      try DemonstrationTests.converted(to: folder + "/m.mlmodel")
      let result = try Self.run("ulimit -f 0; $A inspect m.mlmodel --export-weights w", in: folder)
      #expect(result.code == 74, "\(result.code) \(result.errors)")
      #expect(fileNames(in: folder) == ["m.mlmodel"])
    }
  }
}
