import Foundation
import TestSupport
import Testing

/// The scripts of `record`: Python parses them, and Keras runs them if installed.
@Suite struct RecordCommandTests {
  static let networks: [(files: [String], says: String)] = [
    (["keras/keras1.h5"], "what Keras 1 computes"), (["keras/nested.h5"], "what Keras computes"),
    (
      ["networks/keras3-nested.keras", "networks/keras3-nested.inputs.npz"],
      "what Keras computes"
    ),
    (["keras/architecture.json", "keras/weights_only.h5"], "what Keras computes"),
    (["demo/swish.h5", "demo/picture.png"], "what Keras computes"),
    (["caffe/v2.prototxt", "caffe/single.caffemodel", "caffe/input.npy"], "what Caffe computes"),
    (["on-device/classifier/model.mlmodel", "demo/picture.png"], "what Core ML computes"),
    (["on-device/lstm/model.mlmodel", "on-device/lstm/inputs.npz"], "what Core ML computes"),
    (
      ["on-device/program-classifier/model.mlpackage", "demo/picture.png"], "what Core ML computes"
    ),
    (
      ["feature-models/pipeline/model.mlmodel", "on-device/pipeline/inputs.json"],
      "what Core ML computes"
    ),
  ]

  /// Expects that Python can compile the script.
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
    #expect(record.output.contains(network.says), "\(record.output)")
    #expect(!record.output.contains("@"), "\(record.output)")
    try expectPython(record.output)
  }

  @Test(
    .program("python3"),
    arguments: ["keras/keras1.h5", "keras/sequential.h5", "on-device/image-gray/model.mlmodel"])
  func oddPathsStayStrings(_ model: String) throws {
    try withTemporaryFolder { folder in
      let odd = folder + "/it's \"\"\"odd\"\"\" \\ ☃\n"
      let fixtures = Fixtures("")
      try writeFile(try fixtures.bytes(model), to: odd + ".model")
      try writeFile(try fixtures.bytes("on-device/image-gray/data.png"), to: odd + ".png")
      let script = folder + "/record.py"
      let record = try Command.run("record", odd + ".model", odd + ".png", "-o", script)
      #expect(record.code == 0 && record.output.isEmpty, "\(record.errors)")
      try expectPython(String(decoding: try fileBytes(script), as: UTF8.self))
    }
  }

  @Test func whatCannotBeRecordedIsNamed() throws {
    let fixtures = "\(packageRoot)/Fixtures"
    let keras = fixtures + "/keras/nested.h5"
    let image = fixtures + "/on-device/image-gray/model.mlmodel"
    for (arguments, code, text) in [
      ([fixtures + "/caffe/v2.prototxt"], 2, "needs a .prototxt and its weights"),
      ([keras, "none.png"], 66, "none.png"), ([fixtures + "/demo/eagle.jpg"], 2, "eagle.jpg"),
      ([image], 64, "give an image of 64×64 pixels for 'data'"),
      (
        [fixtures + "/on-device/concat/model.mlmodel"], 64,
        "give an array of shape [4, 6, 7] in a .npy file for 'LayerInput1', and an array"
      ),
      ([image, "none.png"], 66, "none.png"),
      (
        [image, fixtures + "/demo/eagle.jpg"], 2,
        "eagle.jpg: data: the image is 773×512, but the model takes 64×64"
      ),
    ] as [([String], Int32, String)] {
      let record = try Command.run(["record"] + arguments)
      #expect(record.code == code && record.errors.contains(text), "\(record.errors)")
    }
  }

  /// Python cannot load an app's code.
  @Test func customLayersAreNotRecorded() throws {
    try withTemporaryFolder { folder in
      let (demo, model) = ("\(packageRoot)/Fixtures/demo", folder + "/custom.mlmodel")
      try Command.run(
        "convert", demo + "/swish.h5", "-o", model, "--lambda", "off", "--custom-layers",
        demo + "/rules.json", "-q")
      let record = try Command.run("record", model, demo + "/picture.png")
      #expect(record.code == 2 && record.errors.contains("custom layers: "), "\(record.errors)")
    }
  }

  /// The code of a Lambda runs only in the Python version that wrote it.
  @Test func lambdasNameTheirPython() throws {
    let record = try Command.run("record", "\(packageRoot)/Fixtures/demo/swish.h5")
    #expect(record.output.contains("LAMBDAS = {\"swish\": None}"))
    #expect(record.output.contains("LAMBDA_PYTHONS = [\"3.11\"]"))
    let other = try Command.run("record", "\(packageRoot)/Fixtures/keras/nested.h5")
    #expect(!other.output.contains("LAMBDA"), "\(other.output)")
  }

  static let hasCoreMLTools: Bool = {
    let result = try? Program.find("python3")?.run(["-c", "import coremltools, numpy, PIL"])
    return result?.code == 0
  }()

  /// The tool runs the scripts of many models with Assay instead of Core ML, and compares the files
  /// that they save.
  @Test(.enabled("python3 has no coremltools") { hasCoreMLTools })
  func coreMLToolsRunsTheScript() throws {
    let python = try #require(Program.find("python3"))
    let folder = Command.binary.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let result = try python.run(
      ["\(packageRoot)/Tests/Tools/record_core_ml.py", Command.binary],
      environment: [
        "ASSAY_LIBRARY": folder.joined(separator: "/") + "/libAssayLibrary.so",
        "PYTHONPATH": "\(packageRoot)/Sources/Python",
      ])
    #expect(result.code == 0, "\(result.output)\(result.errors)")
  }

  static let hasKeras: Bool = {
    let result = try? Program.find("python3")?.run(["-c", "import keras, numpy, h5py"])
    return result?.code == 0
  }()

  /// Shared layers, nested models that are called twice, sequences and images: the tool makes
  /// networks, runs the scripts, and compares the files with the converted models.
  @Test(.enabled("python3 has no Keras") { hasKeras })
  func kerasRunsTheScript() throws {
    let python = try #require(Program.find("python3"))
    let result = try python.run(["\(packageRoot)/Tests/Tools/record.py", Command.binary])
    #expect(result.code == 0, "\(result.output)\(result.errors)")
    #expect(result.output.split(separator: "\n").filter { $0.hasSuffix("arrays agree") }.count == 3)
  }
}
