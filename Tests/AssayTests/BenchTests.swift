import Foundation
import TestSupport
import Testing

@Suite struct BenchTests {
  /// An image network and a network along time, as Keras architectures.
  static let images = """
    {"class_name": "Sequential", "keras_version": "2.2.4", "backend": "tensorflow", "config": [
     {"class_name": "Conv2D", "config": {"name": "c", "batch_input_shape": [null, 9, 8, 3],
      "filters": 6, "kernel_size": [3, 3], "strides": [1, 1], "padding": "same",
      "data_format": "channels_last", "activation": "linear", "use_bias": true}},
     {"class_name": "BatchNormalization", "config": {"name": "n", "axis": -1, "epsilon": 0.001,
      "center": true, "scale": true}},
     {"class_name": "Flatten", "config": {"name": "f"}},
     {"class_name": "Dense", "config": {"name": "d", "units": 5, "activation": "softmax",
      "use_bias": true}}]}
    """
  static let steps = """
    {"class_name": "Sequential", "keras_version": "2.2.4", "backend": "tensorflow", "config": [
     {"class_name": "Conv1D", "config": {"name": "c", "batch_input_shape": [null, 12, 4],
      "filters": 6, "kernel_size": [5], "strides": [1], "padding": "valid", "activation": "relu",
      "use_bias": true}},
     {"class_name": "Flatten", "config": {"name": "f"}},
     {"class_name": "Dense", "config": {"name": "d", "units": 2, "activation": "linear",
      "use_bias": true}}]}
    """

  static func lines(_ text: String) throws -> [[String: Any]] {
    try text.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
  }

  @Test func linesOfJSON() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.json"
      try Self.images.write(toFile: model, atomically: true, encoding: .utf8)
      let result = try Command.run("bench", model, "--json", "--runs", "4", "--threads", "1")
      #expect(result.code == 0 && result.errors == "", "\(result.errors)")
      let lines = try Self.lines(result.output)
      #expect(lines.count == 6)
      #expect(lines[0]["load_ms"] is Double && lines[0]["first_ms"] is Double)
      let times = lines[1...4].compactMap { $0["ms"] as? Double }
      #expect(times.count == 4)
      let summary = lines[5]
      #expect(summary["minimum_ms"] as? Double == times.min())
      #expect(summary["threads"] as? Int == 1 && summary["runs"] as? Int == 4)
      #expect(summary["random_weights"] as? Bool == true)
      // 3·9 products for each of 6 channels of 9·8 pixels, and 432 for each of 5 classes
      #expect(summary["multiply_adds"] as? Int == 72 * 6 * 27 + 72 * 6 * 5)
      #expect(lines.allSatisfy { $0["peak_gflops"] == nil })
    }
  }

  @Test func tableOfSteps() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.json"
      try Self.images.write(toFile: model, atomically: true, encoding: .utf8)
      let text = try Command.run("bench", model, "--steps", "--runs", "2")
      #expect(text.code == 0 && text.errors == "", "\(text.errors)")
      for word in [
        "random (seed 0)", "p99", "MiB peak", "MiB packed weights", "% of peak", "GFLOP/s",
        "13,824 multiply-adds,", " 2,160 ",
      ] {
        #expect(text.output.contains(word), "\(word) in:\n\(text.output)")
      }
      let json = try Command.run("bench", model, "--steps", "--json", "--runs", "2")
      let steps = try Self.lines(json.output).filter { $0["step"] != nil }
      #expect(
        steps.contains { $0["step"] as? String == "d" && $0["multiply_adds"] as? Int == 2160 })
      let shares = steps.compactMap { $0["share"] as? Double }
      #expect(shares.count == steps.count && abs(shares.reduce(0, +) - 1) < 0.01)
    }
  }

  @Test func sequencesHaveTheSourcesLength() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.json"
      try Self.steps.write(toFile: model, atomically: true, encoding: .utf8)
      let result = try Command.run("bench", model, "--json", "--runs", "1")
      #expect(result.code == 0, "\(result.errors)")
      let inputs = try Self.lines(result.output).last?["inputs"] as? [String: [Int]]
      #expect(inputs == ["c_input": [12, 1, 4, 1, 1]])
    }
  }

  /// In addition to weights, working memory and its code pages, the process uses at most 8 MB.
  @Test(.unsanitized) func memoryIsWhatIsPlanned() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try DemonstrationTests.converted(to: model)
      let result = try Command.run("bench", model, "--json", "--runs", "2")
      let summary = try #require(try Self.lines(result.output).last)
      func bytes(_ name: String) throws -> Int { try #require(summary[name] as? Int) }
      #expect(try bytes("arena_bytes") > 0)
      var planned = try bytes("packed_weight_bytes") + bytes("arena_bytes")
      #if os(Linux)
        let limit = 8_000_000
        planned += try bytes("file_page_bytes")
      #else
        let limit = 30_000_000
      #endif
      let taken = try bytes("peak_memory_bytes") - planned
      #expect(taken < limit, "\(taken)")
    }
  }

  @Test func againstAnEarlierResult() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.json"
      try Self.images.write(toFile: model, atomically: true, encoding: .utf8)
      func earlier(_ milliseconds: Double) throws -> String {
        let path = folder + "/old.json"
        let line = "{\"ms\": \(milliseconds)}\n"
        let text = "{\"load_ms\": 1}\n" + String(repeating: line, count: 6)
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
      }
      let slow = try Command.run("bench", model, "--runs", "6", "--against", earlier(60_000))
      #expect(slow.output.contains("faster now (-"), "\(slow.output)")
      let fast = try Command.run(
        "bench", model, "--runs", "6", "--json", "--against", earlier(0.000_01))
      #expect(try Self.lines(fast.output).last?["against"] as? String == "slower")
      try "no json".write(toFile: folder + "/x", atomically: true, encoding: .utf8)
      let wrong = try Command.run("bench", model, "--against", folder + "/x")
      #expect(wrong.code == 2 && wrong.errors.contains("line 1 is not JSON"), "\(wrong.errors)")
    }
  }
}
