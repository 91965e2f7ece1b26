import Foundation
import TestSupport
import Testing

/// `run` on folders, lists and shards.
@Suite struct SeveralInputTests {
  private static let pictures: [String] = (0..<12).map { "\($0 < 6 ? "a" : "b")/\($0 % 6)" }

  /// Passes a folder with the demonstration network and `in` with twelve images in two subfolders
  /// with equal file names; the third and the ninth image are damaged.
  private func withPictures(_ body: (_ folder: String, _ model: String) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try DemonstrationTests.converted(
        to: model, "--class-labels", DemonstrationTests.fixture + "/labels.txt")
      let picture = try #require(FileManager.default.contents(atPath: DemonstrationTests.picture))
      for part in ["a", "b"] {
        try FileManager.default.createDirectory(
          atPath: "\(folder)/in/\(part)", withIntermediateDirectories: true)
        for index in 0..<6 {
          let isBroken = index == 2
          try (isBroken ? picture.prefix(70) : picture).write(
            to: URL(filePath: "\(folder)/in/\(part)/\(index).png"))
        }
      }
      try Data("hidden".utf8).write(to: URL(filePath: folder + "/in/.hidden"))
      try body(folder, model)
    }
  }

  private func objects(_ text: String) throws -> [[String: Any]] {
    try text.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
  }

  @Test func aBrokenPictureStopsNothing() throws {
    try withPictures { folder, model in
      let run = try Command.run("run", model, folder + "/in", "--json")
      #expect(run.code == 2)
      #expect(run.errors.contains("2 of 12 inputs"), "\(run.errors)")
      let lines = try objects(run.output)
      let names: [String] = lines.compactMap { $0["input"] as? String }
      #expect(names == Self.pictures.map { "\(folder)/in/\($0).png" })
      let failed = lines.indices.filter { lines[$0]["error"] != nil }
      #expect(failed == [2, 8])
      #expect((lines[2]["error"] as? String)?.contains("PNG") == true)
      #expect(lines.filter { $0["outputs"] != nil }.count == 10)

      let text = try Command.run("run", model, folder + "/in")
      #expect(text.code == 2)
      #expect(text.errors.contains("error: \(folder)/in/b/2.png: "), "\(text.errors)")
      #expect(text.output.contains("\(folder)/in/b/3.png\n"))
    }
  }

  /// The shards of a folder or list contain each of its files and lines once.
  @Test func shardsTogetherAreTheWhole() throws {
    try withPictures { folder, model in
      let whole = try Command.run("run", model, folder + "/in", "--json", "-o", folder + "/out")
      let list = whole.output.split(separator: "\n").map { line in
        String(line.dropFirst(#"{"input": ""#.count).prefix { $0 != "\"" })
      }.joined(separator: "\n")
      var ofFolder: [[Substring]] = []
      var ofList: [[Substring]] = []
      for shard in ["1/4", "2/4", "3/4", "4/4"] {
        let part = try Command.run(
          "run", model, folder + "/in", "--json", "--shard", shard, "-o", folder + "/parts")
        ofFolder.append(part.output.split(separator: "\n"))
        let piped = try Command.run("run", model, "-", "--json", "--shard", shard, input: list)
        ofList.append(piped.output.split(separator: "\n"))
      }
      let lines = whole.output.split(separator: "\n")
      for (index, line) in lines.enumerated() {
        #expect(ofFolder[index % 4][index / 4] == line)
        #expect(ofList[index % 4][index / 4] == line)
      }
      #expect(lines.count == 12)
      let written = FileManager.default.subpaths(atPath: folder + "/out")?.sorted()
      #expect(FileManager.default.subpaths(atPath: folder + "/parts")?.sorted() == written)
      let files: [String] = Self.pictures.filter { !$0.hasSuffix("2") }.map { $0 + ".npz" }
      #expect(written?.filter { $0.hasSuffix(".npz") } == files)
    }
  }

  /// Files with the same name in several folders do not overwrite each other.
  @Test func everyFileHasItsName() throws {
    try withPictures { folder, model in
      let run = try Command.run(
        "run", model, folder + "/in/a/0.png", folder + "/in/b/0.png", folder + "/in/a/1.png",
        "--quiet", "-o", folder + "/out")
      #expect(run.code == 0, "\(run.errors)")
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder + "/out").sorted()
          == ["0-2.npz", "0.npz", "1.npz"])
    }
  }

  @Test func emptyLists() throws {
    try withPictures { folder, model in
      let nothing = try Command.run("run", model, "-", "--json", input: "")
      #expect(nothing.code == 0 && nothing.output.isEmpty && nothing.errors.isEmpty)
      let gone = try Command.run("run", model, "-", "--json", input: "\nnowhere.png\n")
      #expect(gone.code == 2)
      #expect(try objects(gone.output).first?["error"] as? String == "no such file")
      let empty = folder + "/empty"
      try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: true)
      #expect(try Command.run("run", model, empty).code == 2)
      #expect(try Command.run("run", model, folder + "/in", "--shard", "5/4").code == 64)
    }
  }

  /// A broken link is an input that cannot be read.
  @Test func brokenLinksAreReported() throws {
    try withPictures { folder, model in
      try FileManager.default.createSymbolicLink(
        atPath: folder + "/in/z.png", withDestinationPath: "nowhere")
      let run = try Command.run("run", model, folder + "/in")
      #expect(run.code == 2, "\(run.errors)")
      #expect(run.errors.contains("\(folder)/in/z.png: no such file\n"), "\(run.errors)")
    }
  }

  /// An error in the options is reported once and ends the run.
  @Test func faultsOfTheOptionsAreNoPicturesFaults() throws {
    try withPictures { folder, model in
      let labels = folder + "/labels.txt"
      try Data("a\nb\nc\nd\n".utf8).write(to: URL(filePath: labels))
      let run = try Command.run("run", model, folder + "/in", "--labels", labels)
      #expect(run.code == 2 && run.output.isEmpty)
      #expect(run.errors.contains("4 labels for the 3 values"), "\(run.errors)")
      #expect(run.errors.split(separator: "\n").filter { $0.hasPrefix("error: ") }.count == 1)
      let output = try Command.run("run", model, folder + "/in", "--feature", "depth")
      #expect(output.code == 2 && output.errors.contains("'depth'"))
    }
  }

  @Test func identifiersOfWordNet() throws {
    try withPictures { folder, model in
      let labels = folder + "/synsets.txt"
      try Data("n00000001 red, ruby\nn00000002 green\nn00000003 blue\n".utf8).write(
        to: URL(filePath: labels))
      let run = try Command.run(
        ["run", model, DemonstrationTests.picture, "--json", "--labels", labels])
      let classes = try objects(run.output).first?["classes"] as? [[String: Any]]
      #expect(classes?.last?["label"] as? String == "red, ruby")
    }
  }

  /// The input, scaled as the network requires: x / 127.5 − 1.
  @Test func theInputAfterItsPreprocessing() throws {
    try withPictures { folder, model in
      let run = try Command.run(
        "run", model, DemonstrationTests.picture, "--json", "--layer", "image")
      let outputs = try objects(run.output).first?["outputs"] as? [String: [Double]]
      let values = try #require(outputs?["image"])
      #expect(values.allSatisfy { abs($0) < 1.000001 })
      let bytes = values.map { ($0 + 1) * 127.5 }
      #expect(bytes.allSatisfy { abs($0 - $0.rounded()) < 1e-4 })
      #expect((bytes.max() ?? 0) > 100)
    }
  }

  /// A recorded recipe has the same effect as `--recipe`; command-line options take precedence.
  @Test func recordedRecipes() throws {
    try withTemporaryFolder { folder in
      let plain = folder + "/plain.mlmodel"
      try DemonstrationTests.converted(to: plain)
      let photograph = packageRoot + "/Fixtures/images/oriented_6.jpg"
      #expect(try Command.run("run", plain, photograph).code == 2)
      for recipe in [
        "keras-load-img", "caffe-classify", "vision-center-crop",
      ] {
        let recorded = folder + "/recorded.mlmodel"
        try DemonstrationTests.converted(to: recorded, "--recipe", recipe)
        let asked = try Command.run("run", plain, photograph, "--json", "--recipe", recipe)
        let found = try Command.run("run", recorded, photograph, "--json")
        #expect(asked.code == 0 && found.code == 0, "\(asked.errors)\(found.errors)")
        #expect(asked.output == found.output, "\(recipe)")
        let text = try Command.run("run", recorded, photograph, "--verbose")
        #expect(text.errors.contains("images: resize "), "\(text.errors)")
        #expect(text.errors.contains("recorded in the model"))
        // bench and diff prepare the image in the same way as run.
        let bench = try Command.run(
          "bench", recorded, "--inputs", photograph, "--runs", "1", "--warmup", "0", "--json")
        #expect(bench.code == 0, "\(bench.errors)")
        let expected = folder + "/\(recipe).npz"
        #expect(
          try Command.run("run", plain, photograph, "--recipe", recipe, "-o", expected).code == 0)
        let diff = try Command.run("diff", recorded, photograph, "--expected", expected)
        #expect(diff.code == 0, "\(diff.output)\(diff.errors)")
        let other = try Command.run("run", recorded, photograph, "--json", "--resize", "fit")
        #expect(other.output != found.output)
      }
      let strange = folder + "/strange.mlmodel"
      try DemonstrationTests.converted(
        to: strange, "--metadata", "assay.image.interpolation=magic")
      let run = try Command.run("run", strange, photograph)
      #expect(run.code == 2)
      #expect(run.errors.contains("assay.image.interpolation"), "\(run.errors)")
    }
  }
}
