import Foundation
import TestSupport
import Testing

/// The command line on the demonstration network, with Keras's prediction (`Fixtures/demo`).
@Suite struct DemonstrationTests {
  static let fixture = packageRoot + "/Fixtures/demo"
  static let picture = fixture + "/picture.png"
  static let expected = fixture + "/expected.npz"
  static let options = [
    "--input-name", "image", "--output-name", "color", "--image-input", "image", "--image-scale",
    "1/127.5", "--red-bias", "-1", "--green-bias=-1", "--blue-bias", "-1", "--custom-layers",
    fixture + "/rules.json",
  ]

  static func convert(to path: String, _ more: String...) throws -> Command.Result {
    try Command.run(["convert", fixture + "/swish.h5", "-o", path] + options + more)
  }

  /// Converts, and expects success.
  static func converted(to path: String, _ more: String...) throws {
    let result = try Command.run(
      ["convert", fixture + "/swish.h5", "-o", path] + options + more)
    #expect(result.code == 0, "\(result.errors)")
  }

  @Test func answersAsKerasDid() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try Self.converted(to: model)
      let diff = try Command.run("diff", model, Self.picture, "--expected", Self.expected)
      #expect(diff.code == 0, "\(diff.output)\(diff.errors)")
    }
  }

  @Test func aDifferenceIsExitCodeOne() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try Self.converted(to: model, "--image-scale", "1/120")
      let diff = try Command.run(
        "diff", model, Self.picture, "--expected", Self.expected, "--reference")
      #expect(diff.code == 1)
      #expect(diff.output.contains("DIFFERS"))
      #expect(diff.output.contains("the difference is in the model"), "\(diff.output)")
      let check = try Self.convert(
        to: folder + "/checked.mlmodel", "--image-scale", "1/120", "--check", Self.picture,
        "--expected", Self.expected)
      #expect(check.code == 1 && check.errors.contains("error:"))
      #expect(!FileManager.default.fileExists(atPath: folder + "/checked.mlmodel"))
    }
  }

  @Test func theSameFileTwice() throws {
    try withTemporaryFolder { folder in
      try Self.converted(to: folder + "/a.mlmodel")
      try Self.converted(to: folder + "/b.mlmodel")
      #expect(
        FileManager.default.contents(atPath: folder + "/a.mlmodel")
          == FileManager.default.contents(atPath: folder + "/b.mlmodel"))
    }
  }

  @Test func theSameBitsOnAnyNumberOfThreads() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try Self.converted(to: model)
      for kernels in ["baseline", "avx2", "avx512"] {
        let one = try Command.run(
          ["run", model, Self.picture, "--json", "--threads", "1"],
          environment: ["ASSAY_KERNELS": kernels])
        if one.code != 0 {
          print("SKIPPED \(kernels) kernels: \(one.errors)")
          continue
        }
        for threads in ["2", "3", "4"] {
          let more = try Command.run(
            ["run", model, Self.picture, "--json", "--threads", threads],
            environment: ["ASSAY_KERNELS": kernels])
          #expect(more.output == one.output)
        }
        let diff = try Command.run(
          ["diff", model, Self.picture, "--expected", Self.expected, "--rtol", "1e-5"],
          environment: ["ASSAY_KERNELS": kernels])
        #expect(diff.code == 0, "\(diff.output)")
      }
    }
  }

  @Test func classesHaveNames() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      let converted = try Self.convert(to: model, "--class-labels", Self.fixture + "/labels.txt")
      #expect(converted.code == 0, "\(converted.errors)")
      let run = try Command.run("run", model, Self.picture, "--json")
      let object = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
      let classes = try #require(object?["classes"] as? [[String: Any]])
      #expect(classes.compactMap { $0["label"] as? String } == ["blue", "green", "red"])
      let diff = try Command.run("diff", model, Self.picture, "--expected", Self.expected)
      #expect(diff.code == 0, "\(diff.output)\(diff.errors)")
    }
  }

  @Test func aPictureOfAnotherSizeNamesBothSizes() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try Self.converted(to: model, "--input-shape", "image=1,64,64,3")
      let other = packageRoot + "/Fixtures/images"
      let name = try #require(
        try FileManager.default.contentsOfDirectory(atPath: other).sorted()
          .first { $0.hasSuffix(".png") && $0.contains("rgb") })
      let run = try Command.run("run", model, other + "/" + name)
      #expect(run.code == 2)
      #expect(run.errors.contains("64×64"), "\(run.errors)")
    }
  }

  static let wrongUsages: [(arguments: [String], code: Int32)] = [
    (["convert"], 64),
    (["convert", "nothing.h5"], 66),
    (["frobnicate"], 64),
    (["convert", "nothing.h5", "-o", "/tmp/never.mlmodel"], 66),
    (["run", "nothing.mlmodel", "x.png"], 66),
    (["diff", "a.npy"], 64),
    (["diff", "nothing.npy", "nothing.npy"], 66),
    (["inspect", "nothing.mlmodel"], 66),
    (["inspect", "/dev/null"], 2),
  ]

  @Test func exitCodes() throws {
    for (arguments, code) in Self.wrongUsages {
      let result = try Command.run(arguments)
      #expect(result.code == code, "\(arguments): \(result.errors)")
      #expect(result.errors.contains("error: "), "\(arguments)")
    }
    for arguments in [["run", "--help"], ["--version"]] {
      let result = try Command.run(arguments)
      #expect(result.code == 0 && !result.output.isEmpty)
    }
  }

  @Test func aFailedConversionLeavesTheOutputAlone() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try Data("precious".utf8).write(to: URL(filePath: model))
      let result = try Command.run(
        "convert", Self.fixture + "/swish.h5", "--lambda", "off", "-o", model)
      #expect(result.code == 2)
      #expect(result.errors.contains("swish") && result.errors.contains("hint:"))
      #expect(FileManager.default.contents(atPath: model) == Data("precious".utf8))
      let files = try FileManager.default.contentsOfDirectory(atPath: folder)
      #expect(files == ["m.mlmodel"])
    }
  }

  @Test func aDryRunWritesNothing() throws {
    let result = try Command.run(
      ["convert", Self.fixture + "/swish.h5", "--dry-run"] + Self.options)
    #expect(result.code == 0)
    #expect(result.output.contains("swish") && result.output.contains("→"))
  }
}
