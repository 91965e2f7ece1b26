import ByteFormats
import Foundation
import TensorCore
import TestSupport
import Testing

/// `diff` and `convert --check` on many inputs, and the output changes that `compress` reports.
@Suite struct ManyInputTests {
  private func withClassifier(
    isBrokenAt broken: String? = nil, _ body: (ColorClassifier) throws -> Void
  ) throws {
    try withTemporaryFolder { try body(try ColorClassifier(in: $0, isBrokenAt: broken)) }
  }

  private func json(_ text: String) throws -> JSONValue { try JSONValue(parsing: text) }

  @Test func aFolderHasOneSummary() throws {
    try withClassifier { net in
      let errors: [Float] = [0, 0.25, 0, 0.125, 0, -0.5]
      let expected = try net.writeExpected(errors: errors)
      let diff = try Command.run("diff", net.model, net.images, "--expected", expected, "--json")
      #expect(diff.code == 1, "\(diff.errors)")
      let result = try json(diff.output)
      #expect(result["inputs"]?.int == 6 && result["agreeing"]?.int == 3)
      let output = try #require(result["outputs"]?.array?.first)
      func value(_ name: String) -> Double { output[name]?.double ?? .nan }
      // Computed by hand: of six errors the third is 0 and the sixth is 0.5.
      for (name, expected) in [
        ("largestAbsoluteError", 0.5), ("meanLargestError", 0.875 / 6), ("percentile50", 0),
        ("percentile90", 0.5), ("percentile99", 0.5), ("meanError", 0.875 / 18),
        ("rmse", ((0.0625 + 0.015625 + 0.25) / 18).squareRoot()),
      ] {
        #expect(abs(value(name) - expected) < 1e-6, "\(name)")
      }
      #expect(value("top1") == 1)
      let worst = try #require(result["worst"]?.array).map { $0["input"]?.string ?? "" }
      #expect(
        worst.prefix(3).map { URL(filePath: $0).lastPathComponent } == ["1.png", "1.png", "1.png"])
      #expect(worst.first == net.images + "/red/1.png" && worst.count == 6)
      let text = try Command.run("diff", net.model, net.images, "--expected", expected)
      #expect(text.output.contains("3 of 6 inputs agree") && text.output.contains("DIFFERS"))
      #expect(text.output.hasSuffix("3 of 6 inputs differ\n"), "\(text.output)")
    }
  }

  @Test func brokenInputsAreNamedAndTheRestIsCompared() throws {
    try withClassifier(isBrokenAt: "green/0.png") { net in
      let expected = try net.writeExpected()
      removeFile(expected + "/red/0.npz")
      let diff = try Command.run("diff", net.model, net.images, "--expected", expected)
      #expect(diff.code == 2 && diff.output.hasSuffix("all 4 inputs agree within tolerance\n"))
      #expect(diff.errors.contains("green/0.png is "))
      #expect(diff.errors.contains("red/0.npz is missing"))
      #expect(diff.errors.contains("2 of 6 inputs failed"))
    }
  }

  /// Each failed input is named once.
  @Test func failuresOfAnEvaluation() throws {
    try withClassifier(isBrokenAt: "green/0.png") { net in
      let eval = try Command.run("eval", net.model, net.images, "--expected", "folders", "--json")
      #expect(eval.code == 2, "\(eval.errors)")
      let failed = try #require(try json(eval.output)["failed"]?.array?.first)
      #expect(failed["input"]?.string == net.images + "/green/0.png")
      #expect(failed["error"]?.string?.hasPrefix("is ") == true, "\(failed)")
      #expect(eval.errors.contains("error: \(net.images)/green/0.png is "), "\(eval.errors)")
    }
  }

  @Test func oneFileHoldsABatch() throws {
    try withClassifier { net in
      let rows = ColorClassifier.colors.flatMap { ColorClassifier.scores($0.color) }
      let file = net.folder + "/batch.npy"
      try ArraySet([NamedArray(Tensor(shape: [6, 3], rows))]).write(to: file)
      let same = try Command.run("diff", net.model, net.images, "--expected", file)
      #expect(same.code == 0 && same.output.contains("6 of 6 inputs agree"), "\(same.errors)")
      let fewer = try Command.run("diff", net.model, net.images + "/red", "--expected", file)
      #expect(fewer.code == 2 && fewer.errors.contains("2 inputs"), "\(fewer.errors)")
    }
  }

  @Test func classesAreExpectedByTableOrFolder() throws {
    try withClassifier { net in
      let table = net.folder + "/truth.csv"
      try writeFile(
        Array(
          ("file,label\nblue/0.png,blue\nblue/1.png,red\ngreen/0.png,green\n"
            + "green/1,green\n./red/0.png,red\n\"red/1.png\",\"red\"\n").utf8), to: table)
      let right = try Command.run("diff", net.model, net.images, "--expected", table)
      #expect(
        right.code == 0 && right.output.contains("100.00%  (6 of 6)"), "\(right.errors)")
      let wrong = try Command.run("diff", net.model, net.images, "--expected", "folders")
      #expect(wrong.code == 1 && wrong.output.contains("83.33%  (5 of 6)"), "\(wrong.errors)")
      #expect(wrong.output.contains("blue/1.png  red  0.8  expected blue"), "\(wrong.output)")
      try writeFile(Array("file,label\n0.png,blue\n".utf8), to: table)
      let unclear = try Command.run("diff", net.model, net.images, "--expected", table)
      #expect(unclear.code == 2 && unclear.errors.contains("already belongs to"))
      #expect(unclear.errors.contains("has no label for it"))
    }
  }

  @Test func convertChecksAFolder() throws {
    try withClassifier { net in
      let path = net.folder + "/checked.mlmodel"
      let good = try net.convert(
        to: path, ["--check", net.images, "--expected", try net.writeExpected()])
      #expect(good.code == 0 && fileExists(path), "\(good.errors)")
      removeFile(path)
      let off = try net.convert(
        to: path, ["--check", net.images, "--expected", "folders"])
      #expect(off.code == 1 && !fileExists(path) && off.output.contains("5 of 6"), "\(off.errors)")
    }
  }

  @Test func twoModelsOverAFolder() throws {
    try withClassifier(isBrokenAt: "red/0.png") { net in
      let other = net.folder + "/half.mlmodel"
      // Everything is doubled, so a score s has the error s.
      let converted = try net.convert(to: other, ["--image-scale", "2/255"])
      #expect(converted.code == 0, "\(converted.errors)")
      let diff = try Command.run(
        "diff", net.model, other, net.images, "--json")
      #expect(diff.code == 2 && diff.errors.contains("1 of 6 inputs failed"), "\(diff.errors)")
      let summary = try #require(try json(diff.output)["summary"])
      #expect(summary["failed"]?.array?.count == 1 && summary["inputs"]?.int == 5)
      let output = try #require(summary["outputs"]?.array?.first)
      #expect(abs((output["largestAbsoluteError"]?.double ?? 0) - 1) < 1e-6)
      #expect(output["top1"]?.double == 1)
      let green = try Command.run("diff", net.model, net.model, net.images + "/green")
      #expect(green.code == 0 && green.output.contains("all 2 inputs agree within tolerance"))
    }
  }

  @Test func compressPrintsTheChangeOfTheOutputs() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try DemonstrationTests.converted(to: model)
      let (small, picture) = (folder + "/s.mlmodel", DemonstrationTests.picture)
      let made = try Command.run(
        "compress", model, "-o", small, "--precision", "float16", "--inputs", picture, "--json")
      #expect(made.code == 0, "\(made.errors)")
      let change = try #require(try json(made.output)["outputs"]?.array?.first)
      // The same through two comparisons with arrays.
      let diff = try Command.run("diff", model, small, picture, "--json")
      let comparison = try #require(try json(diff.output)["runs"]?.array?.first?["comparison"])
      let output = try #require(comparison["outputs"]?.array?.first)
      // `diff` keeps all blobs, so the average of the last convolution is a step of its own, and sums in
      // another order. One rounding of an output of up to 1 is 6e-8, 7e-4 of errors of 8e-5.
      for name in ["largestAbsoluteError", "meanError", "psnr"] {
        #expect(
          abs((change[name]?.double ?? 0) / (output[name]?.double ?? .nan) - 1) < 2e-3, "\(name)")
      }
      let text = try Command.run(
        "compress", model, "-o", small, "--bits", "8", "--inputs", picture)
      #expect(text.output.contains("change of the outputs on 1 input\n"), "\(text.output)")
    }
  }

  @Test func whatTakesOneInputSaysSo() throws {
    try withClassifier { net in
      for options in [["--reference"], ["--report", net.folder + "/r.html"]] {
        let diff = try Command.run(
          ["diff", net.model, net.images, "--expected", "folders"] + options)
        #expect(diff.code == 64 && diff.errors.contains("a single input"), "\(diff.errors)")
      }
    }
  }
}
