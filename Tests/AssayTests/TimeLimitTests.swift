import ByteFormats
import CoreMLModel
import Foundation
import TensorCore
import TestSupport
import Testing

/// Models of a few kilobytes that would compute for hours.
@Suite(.unsanitized) struct TimeLimitTests {
  /// `out` becomes its product with itself, or with `isCheap` its sum with `in`, in each of a
  /// million loop iterations.
  private static func write(_ path: String, size: Int, isCheap: Bool = false) throws {
    var body = NeuralNetwork()
    body.layers = [
      isCheap
        ? NeuralNetworkLayer("add", AddBroadcastable(), input: ["out", "in"], output: ["next"])
        : NeuralNetworkLayer("product", BatchedMatMul(), input: ["out", "out"], output: ["next"]),
      NeuralNetworkLayer("keep", Copy(), input: ["next"], output: ["out"]),
    ]
    var loop = Loop()
    loop.maxLoopIterations = Limits.loopRuns
    loop.bodyNetwork = body
    var network = NeuralNetwork()
    network.arrayInputShapeMapping = .exact
    network.layers = [
      NeuralNetworkLayer("start", Copy(), input: ["in"], output: ["out"]),
      NeuralNetworkLayer("loop", loop, input: [], output: []),
    ]
    var description = ModelDescription()
    let array = FeatureType.Kind.multiArray(
      ArrayFeatureType(shape: [size, size], dataType: .float32))
    description.input = [FeatureDescription(name: "in", kind: array)]
    description.output = [FeatureDescription(name: "out", kind: array)]
    var model = Model()
    model.specificationVersion = 4
    model.description = description
    model.type = .neuralNetwork(network)
    try model.write(to: path)
  }

  /// The duration of a command in seconds, and its result.
  private func timed(
    _ arguments: [String]
  ) throws -> (result: Command.Result, seconds: Double) {
    let start = ContinuousClock.now
    let result = try Command.run(arguments)
    return (result, (ContinuousClock.now - start) / .seconds(1))
  }

  @Test func diffComparesNothing() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try Self.write(model, size: 512)
      let (json, seconds) = try timed(["diff", model, model, "--json"])
      #expect(seconds < 10)
      #expect(json.code == 1, "\(json.errors)")
      let value = try JSONValue(parsing: json.output)
      #expect(value["matches"]?.bool == false)
      #expect(value["compared"]?.int == 0)
      #expect(value["notRun"]?.string?.contains("loops") == true)
      let (text, more) = try timed(["diff", model, model])
      #expect(more < 10)
      #expect(text.code == 1)
      #expect(text.output.contains("not run: "))
      // No run is requested.
      #expect(try Command.run("diff", model, model, "--structure").code == 0)
    }
  }

  @Test func editSaysWhatItDidNotRun() throws {
    try withTemporaryFolder { folder in
      let (model, edited) = (folder + "/m.mlmodel", folder + "/e.mlmodel")
      try Self.write(model, size: 512)
      let (result, seconds) = try timed(["edit", model, "-o", edited, "--rename", "in=data"])
      #expect(seconds < 10)
      #expect(result.code == 0, "\(result.errors)")
      #expect(result.errors.contains("not run: "), "\(result.errors)")
      #expect(fileExists(edited))
      #expect(try timed(["check", model]).seconds < 10)
    }
  }

  /// `--timeout` of commands that predict: exit code 75 within a second, and no output.
  @Test(arguments: ["run", "bench", "diff", "compress", "eval", "upgrade"])
  func timeout(_ command: String) throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try Self.write(model, size: 512)
      let values = [Float](repeating: 0, count: 512 * 512)
      let input = folder + "/x.npy"
      try ArraySet([NamedArray(Tensor(shape: [512, 512], values))]).write(to: input)
      let output = folder + "/out" + (command == "run" ? ".npy" : ".mlpackage")
      let words: [String] =
        switch command {
        case "run": ["run", model, input, "-o", output]
        case "bench": ["bench", model]
        case "diff": ["diff", model, model]
        case "compress": ["compress", model, "-o", output, "--bits", "8", "--inputs", input]
        case "eval": ["eval", model, input, "--truth", "folders"]
        default: ["upgrade", model, "-o", output, "--check", input]
        }
      let (result, seconds) = try timed(words + ["--timeout", "1.5"])
      // Accuracy needs classes, so eval refuses the model.
      guard command != "eval" else { return #expect(result.code != 64, "\(result.errors)") }
      #expect(result.code == 75, "\(result.output) \(result.errors)")
      #expect(result.errors.contains("the time is over"), "\(result.errors)")
      #expect(seconds < 6)
      #expect(!fileExists(output))
      #expect(fileNames(in: folder).sorted() == ["m.mlmodel", "x.npy"])
    }
  }

  @Test func timeoutThatIsLongEnough() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try Self.write(model, size: 1, isCheap: true)
      try writeFile(Array("[[1]]".utf8), to: folder + "/x.json")
      let result = try Command.run("run", model, folder + "/x.json", "--timeout", "300")
      #expect(result.code == 0, "\(result.errors)")
      for wrong in ["0", "-1", "nan", "x"] {
        #expect(try Command.run("run", model, folder + "/x.json", "--timeout=\(wrong)").code == 64)
      }
    }
  }
}
