import ByteFormats
import Foundation
import TensorCore
import TestSupport
import Testing

/// `assay compress` on the demonstration network: convolutions with 3·3·3·12 and 3·3·12·20 weights,
/// the first followed by a batch normalization, and a dense layer with 20·3 weights.
@Suite struct CompressTests {
  private static let picture = DemonstrationTests.picture
  /// Weights of the two kernels and the matrix; each output channel also has a bias.
  private static let matrices = 324 + 2160 + 60
  private static let channels = 12 + 20 + 3

  private static func compress(
    _ model: String, to path: String, _ options: [String]
  ) throws -> [String: Any] {
    let result = try Command.run(["compress", model, "-o", path, "--json"] + options)
    #expect(result.code == 0, "\(options): \(result.errors)")
    return try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any] ?? [:]
  }

  private static func answer(_ model: String) throws -> [Double] {
    let result = try Command.run("run", model, picture, "--json")
    #expect(result.code == 0, "\(result.errors)")
    let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    let outputs = (object as? [String: Any])?["outputs"] as? [String: [Double]]
    return try #require(outputs?["color"])
  }

  private static func difference(_ a: [Double], _ b: [Double]) -> Double {
    zip(a, b).map { abs($0 - $1) }.max() ?? .infinity
  }

  @Test func sizesAndAnswers() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try DemonstrationTests.converted(to: model)
      let exact = try Self.answer(model)
      let floats = Self.matrices + Self.channels
      // The number of bytes that the format needs, and the maximum error of the probabilities.
      var cases: [([String], Int, Double)] = [
        (["--precision", "float32"], 4 * floats, 1e-6),
        (["--precision", "float16"], 2 * floats, 1e-3),
        (["--precision", "float16", "--no-fold"], 2 * (floats + 4 * 12), 1e-3),
      ]
      for (bits, bound) in [(8, 0.01), (6, 0.04), (4, 0.2)] {
        let codes = (324 * bits + 7) / 8 + 2160 * bits / 8 + (60 * bits + 7) / 8
        for mode in ["linear", "linear_symmetric", "linear_lut", "kmeans_lut"] {
          let isTable = mode.hasSuffix("lut")
          // A scale of 12 channels follows the convolution with the folded normalization.
          let tables =
            (isTable ? 3 * 4 << bits : 8 * Self.channels) + (mode == "linear_lut" ? 4 * 12 : 0)
          cases.append(
            (["--bits", "\(bits)", "--mode", mode], codes + tables + 4 * Self.channels, bound))
        }
      }
      for (options, bytes, bound) in cases {
        let path = folder + "/c.mlmodel"
        let report = try Self.compress(model, to: path, options)
        #expect(report["bytesBefore"] as? Int == 4 * (floats + 4 * 12))
        #expect(report["bytesAfter"] as? Int == bytes, "\(options)")
        let folds = report["folds"] as? [[String: Any]] ?? []
        #expect(folds.count == (options.contains("--no-fold") ? 0 : 1))
        #expect(Self.difference(try Self.answer(path), exact) <= bound, "\(options)")
      }
    }
  }

  @Test func oneNameForKMeans() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try DemonstrationTests.converted(to: model)
      let files = try ["kmeans", "kmeans_lut"].map { mode in
        let path = "\(folder)/\(mode).mlmodel"
        _ = try Self.compress(model, to: path, ["--bits", "3", "--mode", mode])
        return FileManager.default.contents(atPath: path)
      }
      #expect(files[0] != nil && files[0] == files[1])
    }
  }

  @Test func givenTable() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try DemonstrationTests.converted(to: model)
      let table = folder + "/table.json"
      try "[-0.5, -0.1, 0.1, 0.5]".write(toFile: table, atomically: true, encoding: .utf8)
      let report = try Self.compress(
        model, to: folder + "/c.mlmodel", ["--mode", table, "--layer", "*conv2*"])
      let storages = (report["layers"] as? [[String: Any]] ?? []).compactMap {
        $0["storage"] as? String
      }
      #expect(storages == ["float32", "2 bits, table + float32", "float32"])
      try "[1, 2, 3]".write(toFile: table, atomically: true, encoding: .utf8)
      let wrong = try Command.run("compress", model, "-o", folder + "/d.mlmodel", "--mode", table)
      #expect(wrong.code == 2 && wrong.errors.contains("table.json"))
      #expect(!FileManager.default.fileExists(atPath: folder + "/d.mlmodel"))
    }
  }

  @Test(arguments: [0.001, 0.02, 0.1]) func largestErrorThatIsAllowed(_ bound: Double) throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try DemonstrationTests.converted(to: model)
      let path = folder + "/c.mlmodel"
      let page = folder + "/curve.html"
      let report = try Self.compress(
        model, to: path,
        ["--inputs", Self.picture, "--max-error", "\(bound)", "--report", page])
      #expect(Self.difference(try Self.answer(path), try Self.answer(model)) <= bound)
      let before = try #require(report["bytesBefore"] as? Int)
      let after = try #require(report["bytesAfter"] as? Int)
      #expect(after < before * 6 / 10)
      // From an error of 0.01 on, half the size of half precision is enough.
      if bound > 0.01 { #expect(after < before / 3) }
      #expect((report["points"] as? [Any])?.count ?? 0 > 5)
      let html = try String(contentsOfFile: page, encoding: .utf8)
      #expect(html.contains("<svg") && html.contains("<circle"))
      #expect(!html.contains("://"))
    }
  }

  /// The written variant is in the list with its size and error; the signal-to-noise ratio is 20 ·
  /// log₁₀(1 / relative error).
  @Test func variantsWithoutASearch() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try DemonstrationTests.converted(to: model)
      let (path, page) = (folder + "/c.mlmodel", folder + "/variants.html")
      let options = ["--bits", "6", "--inputs", Self.picture, "--report", page]
      let report = try Self.compress(model, to: path, options)
      let points = try #require(report["points"] as? [[String: Any]])
      #expect(points.count == 7)
      let chosen = try #require(report["chosen"] as? [String: Any])
      #expect(chosen["bytes"] as? Int == report["bytesAfter"] as? Int)
      #expect("\(chosen["layers"] ?? "")".contains("6 bits"))
      let error = try #require(chosen["largestError"] as? Double)
      let own = Self.difference(try Self.answer(path), try Self.answer(model))
      #expect(abs(error - own) < 1e-6)
      let relative = try #require(chosen["relativeError"] as? Double)
      let decibels = (-200 * log10(relative)).rounded() / 10
      let html = try String(contentsOfFile: page, encoding: .utf8)
      #expect(html.contains("\(decibels) dB"), "\(decibels)")
    }
  }

  @Test func sizeAndAgreement() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try DemonstrationTests.converted(to: model)
      let path = folder + "/c.mlmodel"
      let small = try Self.compress(
        model, to: path, ["--inputs", Self.picture, "--max-size", "2000", "--mode", "kmeans"])
      #expect(small["bytesAfter"] as? Int ?? .max <= 2000)
      let agreeing = try Self.compress(
        model, to: path, ["--inputs", Self.picture, "--min-agreement", "1"])
      #expect((agreeing["chosen"] as? [String: Any])?["agreement"] as? Double == 1)
      func best(_ values: [Double]) -> Int? { values.firstIndex(of: values.max() ?? 0) }
      #expect(best(try Self.answer(path)) == best(try Self.answer(model)))
      let impossible = try Command.run(
        "compress", model, "-o", folder + "/d.mlmodel", "--inputs", Self.picture, "--max-size",
        "100"
      )
      #expect(impossible.code == 2 && impossible.errors.contains("bytes"))
    }
  }

  /// With given inputs, the mean of the outputs is preserved: exactly for one image without an
  /// activation before the output, here approximately.
  @Test(arguments: ["linear", "kmeans_lut"]) func biasesFollowTheInputs(_ mode: String) throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try DemonstrationTests.converted(to: model)
      let exact = try Self.answer(model)
      let differences = try [[], ["--inputs", Self.picture]].map { inputs in
        let path = folder + "/c.mlmodel"
        _ = try Self.compress(model, to: path, ["--bits", "3", "--mode", mode] + inputs)
        return Self.difference(try Self.answer(path), exact)
      }
      #expect(differences[1] < 0.7 * differences[0], "\(differences)")
    }
  }

  /// Each item of a batch has its own best class.
  @Test func agreementOfABatch() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      let converted = try Command.run(
        "convert", DemonstrationTests.fixture + "/cifar10_resnet.h5", "-o", model)
      #expect(converted.code == 0, "\(converted.errors)")
      var generator = SplitMix64(seed: 1)
      let values = (0..<4 * 32 * 32 * 3).map { _ in Float.random(in: 0...255, using: &generator) }
      try ArraySet([NamedArray(Tensor(shape: [4, 32, 32, 3], values))]).write(to: folder + "/x.npy")
      let report = try Self.compress(
        model, to: folder + "/c.mlmodel",
        ["--inputs", folder + "/x.npy", "--min-agreement", "0.75"])
      #expect((report["chosen"] as? [String: Any])?["agreement"] as? Double ?? 0 >= 0.75)
      let points = report["points"] as? [[String: Any]] ?? []
      #expect(!points.isEmpty)
      for point in points {
        let agreement = try #require(point["agreement"] as? Double)
        #expect(agreement * 4 == (agreement * 4).rounded())
      }
    }
  }

  @Test(arguments: [["--layer", "conv9*"], ["--skip-layer", "x"], ["--type", "gru"]])
  func layersThatAreNotThere(_ options: [String]) throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try DemonstrationTests.converted(to: model)
      let result = try Command.run(
        ["compress", model, "-o", folder + "/c.mlmodel", "--bits", "4"] + options)
      #expect(result.code == 2 && result.errors.contains("'\(options[1])'"))
      #expect(!FileManager.default.fileExists(atPath: folder + "/c.mlmodel"))
    }
  }

  private static let wrongUsages: [[String]] = [
    [], ["--bits", "9"], ["--bits", "4", "--precision", "float16"], ["--max-error", "1"],
    ["--bits", "4", "--mode", "other"],
    ["--bits", "4", "--report", "r.html"],
  ]

  @Test(arguments: wrongUsages) func wrongUsage(_ options: [String]) throws {
    let result = try Command.run(["compress", "m.mlmodel", "-o", "c.mlmodel"] + options)
    #expect(result.code == 64, "\(options): \(result.errors)")
  }
}
