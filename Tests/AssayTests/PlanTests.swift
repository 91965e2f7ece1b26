import Foundation
import TestSupport
import Testing

/// The output of `inspect --plan`, and `--without`.
@Suite struct PlanTests {
  private func withModel(_ body: (String) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.json"
      try BenchTests.images.write(toFile: model, atomically: true, encoding: .utf8)
      try body(model)
    }
  }

  private func steps(_ arguments: [String]) throws -> [[String: Any]] {
    let result = try Command.run(["inspect", "--json"] + arguments)
    #expect(result.code == 0 && result.errors == "", "\(result.errors)")
    let plan = try #require(try BenchTests.lines(result.output).first)
    return try #require(plan["steps"] as? [[String: Any]])
  }

  private func names(_ arguments: [String]) throws -> [String] {
    try steps(arguments).compactMap { $0["step"] as? String }
  }

  @Test func thePlanIsWhatRuns() throws {
    try withModel { model in
      let text = try Command.run("inspect", "--plan", model)
      #expect(text.code == 0 && text.errors == "", "\(text.errors)")
      for word in ["steps", "operation", "row dot products", "c_input"] {
        #expect(text.output.contains(word), "\(word) in:\n\(text.output)")
      }
      let bench = try Command.run("bench", model, "--steps", "--json", "--runs", "1")
      let benched = try BenchTests.lines(bench.output).compactMap { $0["step"] as? String }
      #expect(try names([model, "--plan"]) == benched)
    }
  }

  @Test func thePlanAfterAPassAndWithoutOne() throws {
    try withModel { model in
      let lowered = try names([model, "--plan=lowering"])
      #expect(lowered.contains("n") && lowered.contains("c"))
      let fused = try names([model, "--plan=affine-fusion"])
      #expect(!fused.contains("n") && fused.contains("c"))
      #expect(
        try names([model, "--plan=affine-fusion", "--without", "affine-fusion"]).contains("n"))
      let text = try Command.run("inspect", model, "--plan=affine-fusion").output
      #expect(text.hasPrefix("after affine-fusion: "), "\(text)")
      let bench = try Command.run(
        "bench", model, "--steps", "--json", "--runs", "1", "--without", "affine-fusion")
      #expect(bench.code == 0 && bench.output.contains("\"n\""), "\(bench.errors)")
    }
  }

  /// 3·9 products for each of 6 channels of 9·8 pixels, and 432 for each of 5 classes: the table of
  /// layers, the plan at every stage and the measurement agree.
  @Test func thereIsOneCount() throws {
    try withModel { model in
      let count = 72 * 6 * 27 + 72 * 6 * 5
      for stage in ["--plan", "--plan=lowering", "--plan=affine-fusion"] {
        let sum = try steps([model, stage]).reduce(0) { $0 + ($1["multiplyAdds"] as? Int ?? 0) }
        #expect(sum == count, "\(stage)")
      }
      let inspected = try Command.run("inspect", model, "--json").output
      #expect(inspected.contains("\"multiplyAdds\": \(count)"), "\(inspected)")
    }
  }

  @Test(arguments: [["inspect", "--plan=fusion"], ["bench", "--without", "fusion"]])
  func anUnknownPassIsAnsweredWithTheNames(_ arguments: [String]) throws {
    try withModel { model in
      let result = try Command.run(arguments + [model])
      #expect(result.code == 64)
      #expect(result.errors.contains("'fusion'") && result.errors.contains("affine-fusion"))
    }
  }

  @Test func theDocumentationHasEveryPassInOrder() throws {
    let page = try String(contentsOfFile: packageRoot + "/docs/plan.md", encoding: .utf8)
    let names = page.split(separator: "\n").compactMap { line in
      line.hasPrefix("| `") ? line.split(separator: "`")[1] : nil
    }
    try withModel { model in
      let errors = try Command.run("inspect", model, "--plan=fusion").errors
      #expect(errors.contains("valid passes are " + names.joined(separator: ", ")), "\(errors)")
    }
  }

  /// Without these passes, the network still matches Keras.
  @Test func runAndDiffLeavePassesOut() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try DemonstrationTests.converted(to: model)
      let (picture, expected) = (DemonstrationTests.picture, DemonstrationTests.expected)
      let passes = [
        "affine-fusion", "swish-fusion", "activation-fusion", "constant-folding", "dead-code",
      ]
      let without = passes.flatMap { ["--without", $0] }
      let diff = try Command.run(["diff", model, picture, "--expected", expected] + without)
      #expect(diff.code == 0, "\(diff.output)\(diff.errors)")
      func count(_ more: [String]) throws -> Int {
        let run = try Command.run(["run", model, picture, "--verbose"] + more)
        #expect(run.code == 0, "\(run.errors)")
        return run.errors.split(separator: "\n").count
      }
      #expect(try count(without) > count([]))
      for command in [["run", model, picture], ["diff", model, picture, "--expected", expected]] {
        let result = try Command.run(command + ["--without", "fusion"])
        #expect(result.code == 64 && result.errors.contains("swish-fusion"), "\(result.errors)")
      }
    }
  }
}
