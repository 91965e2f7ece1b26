import ByteFormats
import CoreMLModel
import Files
import Foundation
import TensorCore
import TestSupport
import Testing

@testable import Assay

/// `assay edit`, `assay diff A.mlmodel B.mlmodel` and weight files on the demonstration network.
@Suite struct EditCommandTests {
  private func withModel(_ body: (_ folder: String, _ model: String) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try DemonstrationTests.converted(to: model)
      try body(folder, model)
    }
  }

  @Test func renamedItAnswersAsKerasDid() throws {
    try withModel { folder, model in
      let edited = folder + "/e.mlmodel"
      let result = try Command.run(
        "edit", model, "-o", edited, "--rename", "image=photo", "--rename", "color=image",
        "--author", "A", "--input-description", "photo=what to color", "--array-type", "float32",
        "--optional", "photo", "--required", "photo")
      #expect(result.code == 0, "\(result.errors)")
      #expect(result.errors.contains("same predictions before and after"), "\(result.errors)")
      let expected = folder + "/expected.npz"
      // Arrays with different names are paired by order.
      try FileManager.default.copyItem(atPath: DemonstrationTests.expected, toPath: expected)
      let diff = try Command.run(
        "diff", edited, "photo=" + DemonstrationTests.picture, "--expected", expected)
      #expect(diff.code == 0, "\(diff.output)\(diff.errors)")
      let inspection = try Command.run("inspect", edited)
      #expect(inspection.output.contains("what to color"))
    }
  }

  /// The states of an LSTM are optional; those that become required get values before the edit, too.
  @Test func anInputBecomesRequired() throws {
    try withTemporaryFolder { folder in
      let edited = folder + "/e.mlmodel"
      let result = try Command.run(
        "edit", Fixtures("on-device").path("lstm/model.mlmodel"), "-o", edited, "--optional",
        "lstm_1_h_in=false")
      #expect(result.code == 0, "\(result.errors)")
      #expect(result.errors.contains("same predictions before and after"), "\(result.errors)")
      let input = try Model(contentsOf: edited).description?.input.first {
        $0.name == "lstm_1_h_in"
      }
      #expect(input?.type?.isOptional == false)
    }
  }

  /// Casting the results of a program to whole numbers changes them; one of its inputs must be
  /// required, as Apple's validator says.
  @Test func editsOfAProgram() throws {
    try withTemporaryFolder { folder in
      let edited = folder + "/e.mlpackage"
      let program = Fixtures("programs").path("unary.mlpackage")
      let whole = try Command.run("edit", program, "-o", edited, "--array-type", "int32")
      #expect(whole.code == 0, "\(whole.errors)")
      let inputs = try Command.run(
        "edit", program, "-o", edited, "--optional", "x", "--optional", "p", "--optional", "u")
      #expect(
        inputs.code == 2 && inputs.errors.contains("all inputs are optional"), "\(inputs.errors)")
    }
  }

  /// A network of three channels cannot take gray images.
  @Test func aColorThatNoImageHasIsRefused() throws {
    try withModel { folder, model in
      let path = folder + "/e.mlmodel"
      for words in [
        ["edit", model], ["convert", Fixtures("demo").path("swish.h5"), "--preset", "keras-tf"],
      ] {
        let result = try Command.run(words + ["-o", path, "--color", "grayscale"])
        #expect(result.code == 2 && result.errors.contains("1 channel"), "\(result.errors)")
        #expect(!fileExists(path))
        #expect(try Command.run(words + ["-o", path, "--color", "bgr"]).code == 0)
        try FileManager.default.removeItem(atPath: path)
      }
    }
  }

  @Test func recipesAreRecordedAnew() throws {
    try withModel { folder, model in
      let (first, second) = (folder + "/a.mlmodel", folder + "/b.mlmodel")
      for (from, to, recipe) in [
        (model, first, "caffe-classify"), (first, second, "keras-load-img"),
      ] {
        let result = try Command.run("edit", from, "-o", to, "--recipe", recipe)
        #expect(result.code == 0, "\(result.errors)")
        let picture = try Model(contentsOf: to).description?.metadata?.userDefined.filter {
          $0.key.hasPrefix("assay.image.")
        }
        #expect(picture?["assay.image.recipe"] == recipe)
        // The recipe with a square records its size.
        #expect((picture?["assay.image.first-size"] != nil) == (recipe == "caffe-classify"))
      }
    }
  }

  @Test func whatDoesNotFitLeavesNothing() throws {
    try withModel { folder, model in
      let edited = folder + "/e.mlmodel"
      for options in [
        ["--rename", "nothing=x"], ["--array-type", "image=double"],
        ["--specification-version", "1"],
        ["--custom-class", "nothing=X"], ["--add-output", "nothing"], ["--optional", "color"],
        ["--shape-range", "image=1:2,1:2"],
      ] {
        let result = try Command.run(["edit", model, "-o", edited] + options)
        #expect(result.code == 2, "\(options): \(result.errors)")
        #expect(result.errors.contains("error: "))
        #expect(!FileManager.default.fileExists(atPath: edited))
      }
      let version = try Command.run("edit", model, "-o", edited, "--specification-version", "1")
      #expect(version.errors.contains("(custom) needs version 2"), "\(version.errors)")
    }
  }

  @Test func twoModels() throws {
    try withModel { folder, model in
      let edited = folder + "/e.mlmodel"
      let same = try Command.run("diff", model, model)
      #expect(same.code == 0 && same.output.contains("structure: the same"), "\(same.output)")
      try Command.run("edit", model, "-o", edited, "--author", "A", "--rename", "image=photo")
      let names = try Command.run("diff", model, edited)
      #expect(names.code == 0, "\(names.output)\(names.errors)")
      #expect(names.output.contains("− input 'image'") && names.output.contains("+ input 'photo'"))
      let structure = try Command.run("diff", model, edited, "--structure")
      #expect(structure.code == 1 && structure.output.contains("author"))
      try Command.run("edit", model, "-o", edited, "--image-scale", "1/120")
      let scaled = try Command.run("diff", model, edited, DemonstrationTests.picture)
      #expect(scaled.code == 1 && scaled.output.contains("preprocessing of 'image'"))
      let json = try Command.run("diff", model, edited, "--json")
      let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
      #expect(object?["matches"] as? Bool == false)
      #expect((object?["structure"] as? [Any])?.count == 1)
    }
  }

  @Test func weightsOutAndIn() throws {
    try withModel { folder, model in
      let plain = folder + "/plain.mlmodel"
      try Command.run("edit", model, "-o", plain)
      for options in [
        ["--per", "parameter", "--suffix", "_W,_b"], ["--per", "layer", "--weight-format", "raw"],
        ["--per", "all", "--weight-layout", "mps"],
        ["--per", "all", "--weight-format", "raw", "--weight-layout", "source"],
      ] {
        let weights = folder + "/" + options.joined()
        let out = try Command.run(["inspect", model, "--export-weights", weights] + options)
        #expect(out.code == 0, "\(out.errors)")
        let back = folder + "/back.mlmodel"
        let result = try Command.run("edit", model, "-o", back, "--weights", weights)
        #expect(result.code == 0, "\(options): \(result.errors)")
        #expect(
          FileManager.default.contents(atPath: back) == FileManager.default.contents(atPath: plain))
      }
    }
  }

  /// The ranges in the Swift file contain the same values as the parameters' files.
  @Test func offsetsInSwift() throws {
    try withModel { folder, model in
      for (name, format) in [("one", "swift"), ("each", "npy")] {
        let out = try Command.run(
          "inspect", model, "--export-weights", folder + "/" + name, "--weight-files",
          "format=\(format)")
        #expect(out.code == 0, "\(out.errors)")
      }
      let bytes = try Data(contentsOf: URL(filePath: folder + "/one/weights.bin"))
      let floats = bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
      let text = try String(contentsOfFile: folder + "/one/weights.swift", encoding: .utf8)
      let ranges = text.matches(of: #/static let (\w+) = (\d+)\.\.<(\d+)/#).map { match in
        (String(match.1), Int(match.2) ?? 0, Int(match.3) ?? 0)
      }
      #expect(ranges.last?.2 == floats.count && ranges.count > 3)
      for (name, start, end) in ranges {
        let array = try #require(try ExpectedArrays.read("\(folder)/each/\(name).npy").arrays.first)
        #expect(Array(floats[start..<end]) == Array(array.tensor.elements), "\(name)")
      }
      let swiftc = Program.find("swiftc")
      #expect(try swiftc?.run(["-parse", folder + "/one/weights.swift"]).code ?? 0 == 0)
      let back = try Command.run(
        "edit", model, "-o", folder + "/b.mlmodel", "--weights", folder + "/one")
      #expect(back.code == 0, "\(back.errors)")
    }
  }

  /// The source's order is that of the source file.
  @Test func weightsInTheSourcesOrder() throws {
    try withModel { folder, model in
      let source = DemonstrationTests.fixture + "/swish.h5"
      let weights = folder + "/w"
      let out = try Command.run(
        "inspect", model, "--export-weights", weights, "--weight-layout", "source", "--suffix",
        "_W,_b")
      #expect(out.code == 0, "\(out.errors)")
      var compared = 0
      for array in try ExpectedArrays.read(source).arrays {
        let parts = (array.name ?? "").split(separator: "/").map(String.init)
        guard parts.first == "model_weights", parts.count > 2, let last = parts.last else {
          continue
        }
        let suffix = last.hasPrefix("kernel") ? "_W" : last.hasPrefix("bias") ? "_b" : ""
        let path = weights + "/" + parts[1] + suffix + ".npy"
        guard !suffix.isEmpty, FileManager.default.fileExists(atPath: path) else { continue }
        let found = try #require(try ExpectedArrays.read(path).arrays.first).tensor
        #expect(found == array.tensor, "\(array.name ?? "")")
        compared += 1
      }
      #expect(compared >= 2)
    }
  }

  @Test func otherWeightsAreRefusedByTheirShape() throws {
    try withModel { folder, model in
      let weights = folder + "/w"
      try Command.run("inspect", model, "--export-weights", weights, "--per", "all")
      let manifest = weights + "/manifest.json"
      let text = try String(contentsOfFile: manifest, encoding: .utf8)
      let expression = try Regex("\"shape\": \\[(\\d+), (\\d+)")
      let match = try #require(text.firstMatch(of: expression))
      let (a, b) = (match.output[1].substring ?? "", match.output[2].substring ?? "")
      try #require(a != b)
      try text.replacing(expression, with: "\"shape\": [\(b), \(a)", maxReplacements: 1)
        .write(toFile: manifest, atomically: true, encoding: .utf8)
      let result = try Command.run("edit", model, "-o", folder + "/e.mlmodel", "--weights", weights)
      #expect(result.code == 2 && result.errors.contains("the model's"), "\(result.errors)")
    }
  }

  /// Values of a different shape, or too few or too many files: there is one line of error, and
  /// nothing is written.
  @Test func filesOfWeightsThatDoNotFit() throws {
    try withModel { folder, model in
      let (weights, out) = (folder + "/w", folder + "/e.mlmodel")
      try Command.run("inspect", model, "--export-weights", weights)
      func refused(_ code: Int32, _ text: String, _ folder: String? = nil) throws {
        let result = try Command.run("edit", model, "-o", out, "--weights", folder ?? weights)
        let lines = result.errors.split(separator: "\n")
        #expect(result.code == code && lines.first?.contains(text) == true, "\(result.errors)")
        #expect(lines.count <= 2 && !FileManager.default.fileExists(atPath: out))
      }
      try refused(66, "no such folder", folder + "/nothing")
      try refused(2, "is a file", model)
      let files = try FileManager.default.contentsOfDirectory(atPath: weights).sorted()
      let name = try #require(
        files.first { file in
          (try? NumPyFile.parse(MappedFile.read(weights + "/" + file)).tensor.shape.count) == 4
        })
      let path = weights + "/" + name
      let kept = try Data(contentsOf: URL(filePath: path))
      let tensor = try NumPyFile.parse(MappedFile.read(path)).tensor
      let other = Tensor(shape: tensor.shape.reversed(), tensor.elements)
      try #require(other.shape != tensor.shape)
      let bytes = NumPyFile.header(shape: other.shape)
      try Data(bytes + other.elements.flatMap { withUnsafeBytes(of: $0, Array.init) })
        .write(to: URL(filePath: path))
      try refused(2, "the shape is \(other.shape), but the model's is \(tensor.shape)")
      try FileManager.default.removeItem(atPath: path)
      try refused(66, "\(name): no such file")
      try kept.write(to: URL(filePath: path))
      try FileManager.default.removeItem(atPath: weights + "/manifest.json")
      try kept.write(to: URL(filePath: weights + "/another.npy"))
      try refused(2, "another.npy is not a weight of the model")
    }
  }
}
