import Assay
import Foundation
import TestSupport
import Testing

/// The length of help, and that examples can be copied.
@Suite struct HelpTests {
  @Test func shortHelpIsShort() throws {
    let program = try Command.run("-h").output
      .split(separator: "\n", omittingEmptySubsequences: false)
    #expect(program.count <= 26)
    let commands = program.drop { $0 != "SUBCOMMANDS:" }.dropFirst().prefix { !$0.isEmpty }
    #expect(commands.count == 13)
    #expect(
      commands.prefix(3).map { $0.split(separator: " ").first } == ["convert", "run", "diff"])
    let convert = try Command.run("convert", "-h").output
    #expect(convert.filter { $0 == "\n" }.count <= 40, "\(convert)")
    #expect(!convert.contains("--image-mean"))
    #expect(try Command.run("convert", "--help").output.contains("--image-mean"))
  }

  /// A line break in an example would break the command.
  @Test(arguments: Help.commands)
  func examplesAreNotWrapped(_ command: [String]) throws {
    let lines = try Help.text(command).split(separator: "\n", omittingEmptySubsequences: false)
    let examples = lines.drop { $0 != "EXAMPLES:" }.dropFirst().prefix { !$0.isEmpty }
    for line in examples { #expect(line.hasPrefix("  "), "\(line)") }
  }

  /// At most 110 options, each of which some page uses.
  @Test(.program("python3")) func everyOptionIsOnAPage() throws {
    let python = try #require(Program.find("python3"))
    let result = try python.run(["\(packageRoot)/Tests/Tools/options.py", Command.binary])
    #expect(result.code == 0, "\(result.output)\(result.errors)")
  }

  /// Users of Swift, C and Python have no options: messages of libraries name settings.
  @Test(.program("python3")) func onlyTheCommandNamesOptions() throws {
    let python = try #require(Program.find("python3"))
    let result = try python.run(["\(packageRoot)/Tests/Tools/settings.py", Command.binary])
    #expect(result.code == 0, "\(result.output)\(result.errors)")
    #expect(result.output.hasPrefix("0 strings"), "\(result.output)")
  }

  /// The examples of `--help` run as they are printed, in a folder with files of these names.
  @Test func examplesRun() throws {
    try withTemporaryFolder { folder in
      func run(_ words: String...) throws {
        let result = try Program(Command.binary).run(words, in: folder)
        #expect(result.code == 0, "\(words): \(result.errors)")
      }
      func copy(_ file: String, _ name: String) throws {
        let target = URL(filePath: folder + "/" + name)
        try? FileManager.default.removeItem(at: target)
        try FileManager.default.createDirectory(
          at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: URL(filePath: file), to: target)
      }
      let (demo, caffe) = (Fixtures("demo"), Fixtures("caffe"))
      try copy(demo.path("swish.h5"), "model.h5")
      try copy(demo.path("swish.h5"), "model.keras")
      try copy(demo.path("labels.txt"), "labels.txt")
      try copy(demo.path("picture.png"), "cat.png")
      try copy(caffe.path("v2.prototxt"), "deploy.prototxt")
      try copy(caffe.path("single.caffemodel"), "net.caffemodel")
      for name in ["blue/a.png", "green/b.png"] {
        try copy(demo.path("picture.png"), "images/" + name)
      }
      try "file,label\nblue/a.png,blue\ngreen/b.png,green\n"
        .write(toFile: folder + "/labels.csv", atomically: true, encoding: .utf8)
      let options = ["--preset", "keras-tf", "--labels", "labels.txt", "--input-name", "image"]
      for output in ["made.mlmodel", "old.mlmodel", "new.mlmodel"] {
        let result = try Program(Command.binary).run(
          ["convert", "model.h5", "-o", output] + options, in: folder)
        #expect(result.code == 0, "\(result.errors)")
      }
      try run("run", "made.mlmodel", "cat.png", "-o", "expected.npz")
      try run("run", "made.mlmodel", "images", "-o", "predictions")
      for name in ["actual.png", "expected.png"] { try copy(demo.path("picture.png"), name) }
      var count = 0
      for command in Help.commands where command.first != "plugin" {
        // What the examples of convert write has no image as its input.
        if command == ["run"] { try copy(folder + "/made.mlmodel", "model.mlmodel") }
        // These need a detector, a program, five labels, certain layers or several models.
        let others = [
          "--detect", "--add-output", "--cut-to", "data=image", "net.mlmodel", "small.mlp",
          "assay merge",
        ]
        for line in try Help.text(command).split(separator: "\n")
        where line.hasPrefix("  assay ") && !others.contains(where: line.contains)
          && !line.contains("net.caffemodel --labels") && !line.contains("cat.jpg")
        {
          let result = try Program("/bin/sh").run(
            ["-c", "PATH=$(dirname \"$0\"):$PATH; \(line)", Command.binary], in: folder)
          #expect(result.code == 0, "\(line): \(result.output)\(result.errors)")
          count += 1
        }
        if command.isEmpty { removeFile(folder + "/model.mlmodel") }
      }
      #expect(count > 20)
    }
  }
}
