import Foundation
import TestSupport
import Testing

@testable import AssayCommand

/// Options in `assay.json` beside the model, and in `@FILE.json`.
@Suite struct OptionsFileTests {
  /// Passes a folder with the demonstration's files and a model made with an options file.
  private func withModel(_ body: (_ folder: String) throws -> Void) throws {
    try withTemporaryFolder { folder in
      for name in ["swish.h5", "picture.png", "labels.txt", "expected.npz"] {
        try FileManager.default.copyItem(
          atPath: Fixtures("demo").path(name), toPath: folder + "/" + name)
      }
      try write(
        #"{"convert": {"preset": "keras-tf", "labels": "labels.txt", "output-name": ["color"]}}"#,
        folder)
      let made = try Command.run("convert", folder + "/swish.h5", "-o", folder + "/m.mlmodel")
      #expect(made.code == 0, "\(made.errors)")
      #expect(
        made.errors == "options of \(folder)/assay.json: --preset=keras-tf "
          + "--labels=\(folder)/labels.txt --output-name=color\n")
      try body(folder)
    }
  }

  private func write(_ text: String, _ folder: String, _ name: String = "assay.json") throws {
    try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
  }

  /// Keras's predictions used this preprocessing.
  @Test func besideTheModel() throws {
    try withModel { folder in
      try write(#"{"diff": {"expected": "expected.npz"}, "run": {"top": 2}}"#, folder)
      let (model, picture) = (folder + "/m.mlmodel", folder + "/picture.png")
      let diff = try Command.run("diff", model, picture)
      #expect(
        diff.code == 0 && diff.output.hasSuffix("agrees within tolerance\n"), "\(diff.errors)")
      func classes(_ more: String...) throws -> Int {
        let run = try Command.run(["run", model, picture, "-q"] + more)
        #expect(run.code == 0 && run.errors.isEmpty, "\(run.errors)")
        return run.output.split(separator: "\n").count - 1
      }
      #expect(try classes() == 2)
      #expect(try classes("--top", "1") == 1)
      #expect(try classes("-t", "3") == 3)
    }
  }

  @Test func namedOnTheCommandLine() throws {
    try withModel { folder in
      let (model, picture) = (folder + "/m.mlmodel", folder + "/picture.png")
      try write(#"{"run": {"top": 1, "output": "\#(folder)/o.npy"}}"#, folder, "o.json")
      let run = try Command.run("run", model, picture, "@\(folder)/o.json")
      #expect(run.code == 0 && fileExists(folder + "/o.npy"), "\(run.errors)")
      let missing = try Command.run("run", model, picture, "@missing.json")
      #expect(missing.code == 66 && missing.errors.hasPrefix("error: missing.json:"))
      let other = try Command.run("eval", model, picture, "@\(folder)/o.json")
      #expect(other.code == 64 && other.errors.contains("convert, run and diff"))
    }
  }

  /// Every message names the file.
  @Test(arguments: [
    (#"{"run": {"tops": 1}}"#, 64, "Unknown option '--tops'"),
    (#"{"run": {"top": "x"}}"#, 64, "'x' is invalid for '--top <N>'"),
    (#"{"run": {"top": 0}}"#, 64, "--top must be at least 1"),
    (#"{"run": {"top": null}}"#, 2, "top is neither"),
    (#"{"run": {"feature": [["a"]]}}"#, 2, "a list in a list"),
    (#"{"rum": {"top": 1}}"#, 2, "convert, run and diff"), ("[1]", 2, "is not an object"),
    (#"{"run": {"top""#, 2, "not JSON"),
    (#"{"run": {"plugin": "evil.so"}}"#, 2, "'plugin' is not set"),
    (#"{"run": {"output": "m.mlmodel"}}"#, 2, "'output' is not set"),
    (#"{"run": {"output=m.npz": true}}"#, 2, "'output=m.npz' is not the name of an option"),
  ])
  func whatIsWrongIsSaid(text: String, code: Int, message: String) throws {
    try withModel { folder in
      try write(text, folder)
      let run = try Command.run("run", folder + "/m.mlmodel", folder + "/picture.png", "-q")
      #expect(run.code == Int32(code), "\(run.errors)")
      #expect(
        run.errors.isError(of: "\(folder)/assay.json") && run.errors.contains(message),
        "\(run.errors)")
    }
  }

  /// The options with files are those that the parser describes, relative to the options file.
  @Test func pathsAreThoseOfTheParser() throws {
    let text = try Command.run("--experimental-dump-help").output
    let root = try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let commands = (root["command"] as? [String: Any])?["subcommands"] as? [[String: Any]] ?? []
    var files: Set<String> = []
    for command in commands
    where ["convert", "run", "diff"].contains(command["commandName"] as? String) {
      for argument in command["arguments"] as? [[String: Any]] ?? []
      where (argument["completionKind"] as? [String: Any])?["file"] != nil {
        let names = argument["names"] as? [[String: String]] ?? []
        if let name = names.first(where: { $0["kind"] == "long" })?["name"] { files.insert(name) }
      }
    }
    #expect(files == OptionsFile.paths.union(OptionsFile.reserved))
  }

  @Test(.program("python3")) func theSchemaIsUpToDate() throws {
    let schema = try Program("/bin/sh").run([
      "-c", #""$0" --experimental-dump-help | python3 "$1""#, Command.binary,
      "\(packageRoot)/Tests/Tools/schema.py",
    ])
    let page = try String(contentsOfFile: "\(packageRoot)/docs/assay.schema.json", encoding: .utf8)
    #expect(schema.output == page, "run make docs")
  }
}
