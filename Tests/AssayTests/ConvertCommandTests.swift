import Assay
import ByteFormats
import CoreMLModel
import Foundation
import TensorCore
import TestSupport
import Testing

/// The arguments of `assay convert`: its output, its inputs, and the errors for wrong ones.
@Suite struct ConvertCommandTests {
  private static let network = Fixtures("demo").path("swish.h5")
  private static let picture = Fixtures("demo").path("picture.png")

  private func run(_ arguments: [String], in folder: String) throws -> Program.Result {
    try Program(Command.binary).run(arguments, in: folder)
  }

  @Test func theOutputHasTheNameOfTheModel() throws {
    try withTemporaryFolder { folder in
      let first = try run(["convert", Self.network], in: folder)
      #expect(first.code == 0, "\(first.errors)")
      #expect(first.errors.contains("wrote swish.mlmodel, "), "\(first.errors)")
      #expect(try Model(contentsOf: folder + "/swish.mlmodel").networks.count == 1)
      let second = try run(["convert", Self.network], in: folder)
      #expect(second.code == 73 && second.errors.contains("swish.mlmodel: "), "\(second.errors)")
      let named = try run(["convert", Self.network, "--output", "swish.mlmodel"], in: folder)
      #expect(named.code == 0 && named.errors.isEmpty, "\(named.errors)")
      let caffe = Fixtures("caffe")
      let pair = try run(
        ["convert", caffe.path("v2.prototxt"), caffe.path("single.caffemodel"), "-q"], in: folder)
      #expect(pair.code == 0 && pair.errors.isEmpty, "\(pair.errors)")
      #expect(fileNames(in: folder).sorted() == ["swish.mlmodel", "v2.mlmodel"])
    }
  }

  /// All bytes of its files, without those of the folder's entry.
  @Test func thePackageHasTheSizeOfItsFiles() throws {
    try withTemporaryFolder { folder in
      let made = try run(["convert", Self.network], in: folder)
      #expect(made.code == 0, "\(made.errors)")
      let program = try run(["convert", "swish.mlmodel"], in: folder)
      #expect(program.code == 0, "\(program.errors)")
      let files = try FileManager.default.subpathsOfDirectory(atPath: folder + "/swish.mlpackage")
      let size = try files.reduce(0) { sum, name in
        let file = try FileManager.default.attributesOfItem(
          atPath: folder + "/swish.mlpackage/" + name)
        return sum + (file[.type] as? FileAttributeType == .typeRegular ? file[.size] as! Int : 0)
      }
      #expect(
        program.errors.replacing(",", with: "").contains("wrote swish.mlpackage \(size) bytes"),
        "\(size): \(program.errors)")
    }
  }

  @Test(arguments: [
    ("x.tflite", "'.tflite'"), ("x.mlpackag", "did you mean '.mlpackage'"),
    ("x", "no extension"), ("x.h5", "'.h5'"),
  ])
  func otherFormatsAreRefused(_ output: String, _ message: String) throws {
    try withTemporaryFolder { folder in
      let made = try Command.run("convert", Self.network, "-o", folder + "/m.mlmodel")
      #expect(made.code == 0, "\(made.errors)")
      for words in [
        ["convert", Self.network], ["edit", "m.mlmodel", "--rename", "input1=image"],
        ["compress", "m.mlmodel", "--bits", "8"],
      ] {
        let result = try run(words + ["-o", output], in: folder)
        #expect(result.code == 64, "\(result.errors)")
        #expect(
          result.errors.contains(message) && result.errors.contains(".mlmodel")
            && result.errors.contains(".mlpackage"), "\(result.errors)")
        #expect(fileNames(in: folder) == ["m.mlmodel"])
      }
    }
  }

  /// The former command `upgrade`.
  @Test func networksBecomePrograms() throws {
    try withTemporaryFolder { folder in
      let made = try run(
        ["convert", Self.network, "-o", "m.mlmodel", "--preset", "keras-tf"], in: folder)
      #expect(made.code == 0, "\(made.errors)")
      let program = try run(
        [
          "convert", "m.mlmodel", "-o", "m.mlpackage", "--target", "ios17", "--precision",
          "float16", "--inputs", Self.picture,
        ], in: folder)
      #expect(program.code == 0, "\(program.errors)")
      let model = try Model(contentsOf: folder + "/m.mlpackage")
      #expect(model.specificationVersion == 8)
      let earlier = try run(
        [
          "upgrade", "m.mlmodel", "-o", "n.mlpackage", "--target", "iOS17", "--precision",
          "float16",
        ],
        in: folder)
      #expect(earlier.code == 0 && earlier.errors.contains("`assay convert`"), "\(earlier.errors)")
      #expect(
        try fileBytes(folder + "/m.mlpackage/Data/com.apple.CoreML/model.mlmodel")
          == fileBytes(folder + "/n.mlpackage/Data/com.apple.CoreML/model.mlmodel"))
      let same = try run(["convert", "m.mlmodel", "-o", "o.mlmodel"], in: folder)
      #expect(same.code == 2 && same.errors.contains(".mlpackage"), "\(same.errors)")
      let old = try run(
        ["convert", "m.mlmodel", "-o", "o.mlpackage", "--target", "iOS14"], in: folder)
      #expect(old.code == 2 && old.errors.contains("iOS14 has no ML Programs"), "\(old.errors)")
      let refused = try run(
        ["convert", "m.mlmodel", "-o", "o.mlpackage", "--image-input", "input1"], in: folder)
      #expect(refused.code == 64 && refused.errors.contains("`assay edit`"), "\(refused.errors)")
      #expect(try !Command.run("help").output.contains("upgrade"))
    }
  }

  /// The program and the network differ by more than the tolerance.
  @Test func theWrongProgramIsNotWritten() throws {
    try withTemporaryFolder { folder in
      let weights = [Float](repeating: 1, count: 4) + [40_000, 40_000, 40_000, 40_000]
      try ArraySet([NamedArray(Tensor(shape: [8], weights))]).write(to: folder + "/x.npy")
      let made = try run(["convert", Self.network, "-o", "m.mlmodel"], in: folder)
      #expect(made.code == 0)
      let result = try run(
        ["convert", "m.mlmodel", "-o", "m.mlpackage", "--inputs", "x.npy"], in: folder)
      #expect(result.code == 2 && result.errors.contains("x.npy"), "\(result.errors)")
      #expect(!fileExists(folder + "/m.mlpackage"))
      let alone = try run(
        ["convert", Self.network, "-o", "n.mlmodel", "--inputs", Self.picture], in: folder)
      #expect(alone.code == 64 && alone.errors.contains("--expected"), "\(alone.errors)")
    }
  }

  @Test func aPresetMakesTheOnlyInputAnImage() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/m.mlmodel"
      let result = try Command.run("convert", Self.network, "-o", path, "--preset", "keras-tf")
      #expect(result.code == 0 && result.errors.isEmpty, "\(result.errors)")
      let kind = try Model(contentsOf: path).description?.input.first?.type?.kind
      let isImage = if case .image? = kind { true } else { false }
      #expect(isImage)
      #expect(try Command.run("run", path, Self.picture).code == 0)
    }
  }

  /// The record in the file determines `forgetBias` in every command.
  @Test func forgetBiasIsInTheModel() throws {
    let layers = Fixtures("keras/layers/tf2").path("any_length_lstm_sequences")
    try withTemporaryFolder { folder in
      let path = folder + "/m.mlmodel"
      let made = try Command.run(
        "convert", layers + ".h5", "-o", path, "--forget-bias", "add", "--inputs",
        layers + ".inputs.npz", "--expected", layers + ".expected.npz")
      #expect(made.code == 0, "\(made.output)\(made.errors)")
      let diff = try Command.run(
        "diff", path, layers + ".inputs.npz", "--expected", layers + ".expected.npz")
      #expect(diff.code == 0, "\(diff.output)")
      let program = try Command.run(
        "convert", path, "-o", folder + "/m.mlpackage", "--inputs", layers + ".inputs.npz")
      #expect(program.code == 0, "\(program.output)\(program.errors)")
    }
  }

  @Test func smallMistakesAreUnderstood() throws {
    let typo = try Command.run("convert", "--hlep")
    #expect(typo.code == 64 && typo.errors.contains("'--hlep'"), "\(typo.errors)")
    try withTemporaryFolder { folder in
      let path = folder + "/m.mlmodel"
      let made = try Command.run(
        "convert", Self.network, "-o", path, "--preset", "keras-tf", "--labels",
        Fixtures("demo").path("labels.txt"))
      #expect(made.code == 0, "\(made.errors)")
      let joined = try Command.run("run", "-t1", path, Self.picture, "--json")
      #expect(joined.code == 0, "\(joined.errors)")
      #expect(joined.output.matches(of: /"label":/).count == 1, "\(joined.output)")
    }
  }

  /// Earlier spellings produce the same model.
  @Test func earlierSpellings() throws {
    let labels = Fixtures("demo").path("labels.txt")
    let current = [
      "--image-input", "input1", "--image-scale", "1/127.5", "--image-mean", "1,1,1", "--labels",
      labels, "--metadata", "author=A", "--metadata", "license=L", "--metadata",
      "shortDescription=S", "--metadata", "versionString=V", "--description", "input1=I",
      "--target", "iOS14",
    ]
    let earlier = [
      "--image-input", "input1", "--image-scale", "1/127.5", "--red-bias=-1", "--green-bias", "-1",
      "--blue-bias=-1", "--class-labels", labels, "--author", "A", "--license=L",
      "--short-description", "S", "--version-string", "V", "--input-description", "input1=I",
      "--max-spec", "5",
    ]
    try withTemporaryFolder { folder in
      for (name, options) in [("a", current), ("b", earlier)] {
        let result = try Command.run(
          ["convert", Self.network, "-o", "\(folder)/\(name).mlmodel"] + options)
        #expect(result.code == 0, "\(result.errors)")
      }
      #expect(try fileBytes(folder + "/a.mlmodel") == fileBytes(folder + "/b.mlmodel"))
    }
  }

  /// `--precision` applies to a file, `--arithmetic` to a run; an empty name removes a function.
  @Test func oneWordForOneConcept() throws {
    let demo = Fixtures("demo")
    let words = ["swish.h5", "picture.png"].map(demo.path) + ["--preset", "keras-tf", "--json"]
    let outputs = try [["--arithmetic", "float16"], ["--precision=float16"], []].map {
      try Command.run(["run"] + words + $0).output
    }
    #expect(outputs[0] == outputs[1] && outputs[0] != outputs[2] && outputs[0] != "")
    let package = Fixtures("programs").path("functions.mlpackage")
    try withTemporaryFolder { folder in
      for option in [["--rename-function", "square="], ["--remove-function", "square"]] {
        let path = folder + "/\(option[1]).mlpackage"
        let edited = try Command.run(
          ["edit", package, "-o", path, "--default-function", "triple"] + option)
        #expect(edited.code == 0, "\(edited.errors)")
        let shown = try Command.run("inspect", path).output
        #expect(shown.contains("2×3") && !shown.contains("square"), "\(shown)")
      }
    }
  }
}
