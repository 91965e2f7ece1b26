import Foundation
import TestSupport
import Testing

/// The scripts of `record`: Python reads them, and Keras runs them where it is installed.
@Suite struct RecordCommandTests {
  static let networks: [(files: [String], says: String)] = [
    (["keras/keras1.h5"], "Keras 1 "), (["keras/nested.h5"], "Keras 2 "),
    (["networks/keras3-nested.keras", "networks/keras3-nested.inputs.npz"], "Keras 3 "),
    (["keras/architecture.json", "keras/weights_only.h5"], "Keras 2 "),
    (["caffe/v2.prototxt", "caffe/single.caffemodel", "caffe/input.npy"], "Caffe "),
  ]

  /// Python's own compiler takes the script.
  private func expectPython(_ script: String) throws {
    let python = try #require(Program.find("python3"))
    let result = try python.run(
      ["-c", "import sys; compile(sys.stdin.read(), 'record.py', 'exec')"], input: script)
    #expect(result.code == 0, "\(result.errors)\n\(script)")
  }

  @Test(.program("python3"), arguments: networks)
  func pythonReadsTheScript(_ network: (files: [String], says: String)) throws {
    let files = network.files.map { "\(packageRoot)/Fixtures/\($0)" }
    let record = try Command.run(["record"] + files)
    #expect(record.code == 0, "\(record.errors)")
    #expect(record.output.contains("Writes what \(network.says)"))
    #expect(!record.output.contains("@"), "\(record.output)")
    try expectPython(record.output)
  }

  @Test(.program("python3"), arguments: ["keras1", "keras2", "keras3"])
  func oddPathsStayStrings(_ framework: String) throws {
    try withTemporaryFolder { folder in
      let path = folder + "/it's \"\"\"odd\"\"\" \\ ☃\n.h5"
      try writeFile(try Fixtures("keras").bytes("sequential.h5"), to: path)
      let script = folder + "/record.py"
      let record = try Command.run("record", path, "--framework", framework, "-o", script)
      #expect(record.code == 0 && record.output.isEmpty, "\(record.errors)")
      try expectPython(String(decoding: try fileBytes(script), as: UTF8.self))
    }
  }

  @Test func whatCannotBeRecordedIsNamed() throws {
    let fixtures = "\(packageRoot)/Fixtures"
    let keras = fixtures + "/keras/nested.h5"
    for (arguments, code, text) in [
      ([fixtures + "/caffe/v2.prototxt"], 2, "needs a .prototxt and its weights"),
      ([keras, "--framework", "caffe"], 2, "omit --framework"),
      ([keras, "none.png"], 66, "none.png"), ([keras, "--framework", "torch"], 64, "torch"),
      ([fixtures + "/demo/eagle.jpg"], 2, "eagle.jpg"),
    ] as [([String], Int32, String)] {
      let record = try Command.run(["record"] + arguments)
      #expect(record.code == code && record.errors.contains(text), "\(record.errors)")
    }
  }

  static let hasKeras: Bool = {
    let result = try? Program.find("python3")?.run(["-c", "import keras, numpy, h5py"])
    return result?.code == 0
  }()

  /// Layers that are shared, nested models that are called twice, sequences and images: the tool makes
  /// them, runs the script, and compares what it wrote with the converted model.
  @Test(.enabled("python3 has no Keras") { hasKeras })
  func kerasRunsTheScript() throws {
    let python = try #require(Program.find("python3"))
    let result = try python.run(["\(packageRoot)/Tests/Tools/record.py", Command.binary])
    #expect(result.code == 0, "\(result.output)\(result.errors)")
    #expect(result.output.split(separator: "\n").filter { $0.hasSuffix("arrays agree") }.count == 3)
  }
}
