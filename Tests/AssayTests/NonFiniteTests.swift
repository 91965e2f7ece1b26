import CoreMLModel
import Foundation
import TestSupport
import Testing

/// NaN and infinity in weights, in results and in JSON.
@Suite struct NonFiniteTests {
  /// The demonstration network with `values` at the start of the bias of its dense layer, which has
  /// 3 values.
  private static func patched(_ values: [Float], in folder: String) throws -> String {
    let finite = folder + "/finite.mlmodel"
    try DemonstrationTests.converted(to: finite)
    let bias = try Self.bias(of: finite)
    var file = try Data(
      contentsOf: URL(filePath: DemonstrationTests.fixture + "/swish.h5"))
    let place = try #require(file.range(of: bias))
    #expect(file.range(of: bias, in: place.upperBound..<file.count) == nil)
    let new = values.withUnsafeBytes { Data($0) }
    file.replaceSubrange(place.lowerBound..<place.lowerBound + new.count, with: new)
    try file.write(to: URL(filePath: folder + "/bad.h5"))
    return folder + "/bad.h5"
  }

  private static func bias(of model: String) throws -> Data {
    let layers = try Model(contentsOf: model).neuralNetwork?.layers ?? []
    let dense = layers.compactMap { $0.parameters as? InnerProduct }.first
    let bias = try #require(try dense?.bias?.floatValue.array())
    #expect(bias.count == 3)
    return bias.withUnsafeBytes { Data($0) }
  }

  /// Reports the names of file, layer and field, and the number of such values, for the source and
  /// the converted model. Neither is rejected, since Keras also predicts with such weights.
  @Test func weightsAreReported() throws {
    try withTemporaryFolder { folder in
      let source = try Self.patched([.nan, .infinity], in: folder)
      let model = folder + "/m.mlmodel"
      let text = "layer 'dense' (innerProduct): bias: 2 of 3 values are NaN or infinite\n"
      let converted = try Command.run(
        ["convert", source, "-o", model] + DemonstrationTests.options)
      #expect(converted.code == 0 && converted.errors == "warning: \(source): \(text)")
      for path in [source, model] {
        let checked = try Command.run("check", path)
        #expect(checked.code == 1 && checked.output.contains(text), "\(checked.output)")
        // `inspect` does not read the weights.
        let inspected = try Command.run("inspect", path, "--json")
        #expect(inspected.code == 0 && inspected.errors.isEmpty)
      }
    }
  }

  /// Every command that encounters them says so, for outputs too.
  @Test(arguments: ["run", "bench", "diff", "edit", "compress", "eval"])
  func everyCommandReportsThem(_ command: String) throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      let source = try Self.patched([.nan], in: folder)
      try Command.run(["convert", source, "-o", model] + DemonstrationTests.options)
      let picture = DemonstrationTests.picture.split(separator: "/").last ?? ""
      try writeFile(Array("file,label\n\(picture),0\n".utf8), to: folder + "/truth.csv")
      let words =
        switch command {
        case "run": [DemonstrationTests.picture]
        case "bench": ["--runs", "1", "--warmup", "0"]
        case "diff": [model, DemonstrationTests.picture]
        case "edit": ["-o", folder + "/out.mlmodel", "--author", "A"]
        case "eval": [DemonstrationTests.picture, "--truth", folder + "/truth.csv"]
        default: ["-o", folder + "/out.mlmodel", "--bits", "8", "--min-count", "1000000"]
        }
      let result = try Command.run([command, model] + words)
      #expect(result.code == 0, "\(result.errors)")
      #expect(
        result.errors.contains("bias: 1 of 3 values is NaN or infinite\n"), "\(result.errors)")
      guard ["run", "bench", "eval"].contains(command) else { return }
      #expect(
        result.errors.contains("output 'color': 3 values of 3 are NaN\n"), "\(result.errors)")
    }
  }

  @Test func finiteWeightsAreNot() throws {
    try withTemporaryFolder { folder in
      let converted = try DemonstrationTests.convert(to: folder + "/m.mlmodel")
      #expect(converted.code == 0 && converted.errors.isEmpty, "\(converted.errors)")
    }
  }

  /// `JSONSerialization` accepts only valid JSON.
  private static func object(_ text: String) throws -> [String: Any] {
    #expect(throws: (any Error).self) {
      try JSONSerialization.jsonObject(with: Data("[NaN]".utf8))
    }
    return try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
  }

  @Test func predictionsAreJSON() throws {
    try withTemporaryFolder { folder in
      let source = try Self.patched([.infinity], in: folder)
      let model = folder + "/m.mlmodel"
      try Command.run(["convert", source, "-o", model] + DemonstrationTests.options)
      // softmax(∞, a, b): ∞ − ∞ is NaN, as in TensorFlow.
      let array = folder + "/out.json"
      let run = try Command.run(
        "run", model, DemonstrationTests.picture, "--all-outputs", "-o", array, "--json")
      #expect(run.code == 0, "\(run.errors)")
      let outputs = try Self.object(run.output)["outputs"] as? [String: [Any]]
      #expect(outputs?["color"] as? [String] == ["NaN", "NaN", "NaN"])
      #expect(outputs?["dense_output"]?.first as? String == "Infinity", "\(run.output.suffix(300))")
      #expect(outputs?["dense_output"]?.last is Double)
      // The array file has the same values and can be read back.
      let file = try Self.object(String(contentsOfFile: array, encoding: .utf8))
      #expect(file.count == outputs?.count)
      let diff = try Command.run("diff", array, array, "--json")
      #expect(diff.code == 0, "\(diff.output)")
      let comparisons = try Self.object(diff.output)["outputs"] as? [[String: Any]]
      #expect(comparisons?.contains { $0["psnr"] as? String == "Infinity" } == true)
    }
  }

  @Test func differencesAreJSON() throws {
    try withTemporaryFolder { folder in
      for (name, text) in [("a", "[1, NaN, -Infinity]"), ("b", "[1, 2, \"-Infinity\"]")] {
        try text.write(toFile: "\(folder)/\(name).json", atomically: true, encoding: .utf8)
      }
      let diff = try Command.run("diff", folder + "/a.json", folder + "/b.json", "--json")
      #expect(diff.code == 1)
      let output = (try Self.object(diff.output)["outputs"] as? [[String: Any]])?.first
      let worst = output?["worst"] as? [String: Any]
      #expect(worst?["actual"] as? String == "NaN" && worst?["expected"] as? Double == 2)
      #expect(output?["countOutside"] as? Int == 1)
    }
  }

  @Test func compressionIsJSON() throws {
    try withTemporaryFolder { folder in
      let source = try Self.patched([.nan], in: folder)
      let model = folder + "/m.mlmodel"
      try Command.run(["convert", source, "-o", model] + DemonstrationTests.options)
      let result = try Command.run(
        "compress", model, "-o", folder + "/c.mlmodel", "--precision", "float16", "--json")
      let layers = try Self.object(result.output)["layers"] as? [[String: Any]]
      #expect(layers?.count == 3, "\(result.errors)")
    }
  }
}
