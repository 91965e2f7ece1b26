import ByteFormats
import CoreMLModel
import Foundation
import Imaging
import TensorCore
import TestSupport
import Testing

/// Values that are legal but probably mistakes are refused or named, once per run.
@Suite struct SuspiciousValueTests {
  /// Runs a command on the model with an input of this text, by default in `x.json`.
  private func run(
    _ model: Model, _ text: String = "[1, 2, 3, 4]", _ arguments: [String] = ["run"],
    file: String = "x.json"
  ) throws -> Command.Result {
    try withTemporaryFolder { folder in
      try model.write(to: folder + "/m.mlmodel")
      try writeFile(Array(text.utf8), to: "\(folder)/\(file)")
      return try Command.run(
        [arguments[0], folder + "/m.mlmodel"] + arguments.dropFirst()
          + (arguments[0] == "check" ? [] : ["\(folder)/\(file)"]))
    }
  }

  // MARK: - Integers

  @Test(arguments: [
    ("[1.7, 2, 3, 4]", "element 0 is 1.7"),
    ("[1, 2, 1099511627776, 4]", "element 2 is 1.0995116e+12"),
    ("[1, \"NaN\", 3, 4]", "element 1 is nan"), ("[-3e9, 2, 3, 4]", "element 0 is -3e+09"),
    ("1\n2\n3.5\n4\n", "element 2 is 3.5"),
  ])
  func anInt32InputTakesWholeNumbers(_ text: String, _ says: String) throws {
    let result = try run(
      denseModel(input: .int32), text, file: text.hasPrefix("[") ? "x.json" : "x.csv")
    #expect(result.code == 2 && result.output.isEmpty)
    #expect(
      result.errors.contains(": x: \(says), and the input is declared as int32\n"),
      "\(result.errors)")
    #expect(
      result.errors.contains("hint: give whole numbers from -2147483648 to 2147483647"),
      "\(result.errors)")
  }

  @Test func anInt32InputTakesItsLimits() throws {
    let result = try run(
      denseModel([1, 0, 0, 0, 0, 1], input: .int32), "[-2147483648, 16777215, 0, 1]")
    #expect(result.code == 0, "\(result.errors)")
    // The first value is 2³¹ as a float, and 2³¹ − 1 would be, too.
    #expect(result.errors.contains("input 'x': 1 value of 4 is at least 2²⁴"), "\(result.errors)")
  }

  @Test func aFeatureModelRefusesThemToo() throws {
    var extractor = ArrayFeatureExtractor()
    extractor.indices = [1]
    var model = denseModel(input: .int32, declared: [1])
    model.specificationVersion = 1
    model.type = .features(FeatureModel(extractor))
    let result = try run(model, "[1.7, 2, 3, 4]")
    #expect(result.code == 2 && result.errors.contains("element 0 is 1.7"), "\(result.errors)")
  }

  @Test func anInt32OutputThatIsNotWholeIsNamed() throws {
    let result = try run(denseModel([0.5], bias: [0, 1e20, 3], output: .int32))
    #expect(result.code == 0)
    #expect(
      result.errors.contains(
        "output 'y': 1 value of 3 is not whole, and Core ML casts to the declared int32\n"),
      "\(result.errors)")
    #expect(
      result.errors.contains("output 'y': 1 value of 3 is beyond the declared int32\n"),
      "\(result.errors)")
  }

  /// 2²⁴ + 1 is the first whole number that single precision lacks.
  @Test func anInt32OutputThatLostDigitsIsNamed() throws {
    let result = try run(denseModel(bias: [0x1p24, 16_777_215, -0x1p30], output: .int32))
    #expect(result.code == 0)
    #expect(
      result.errors.contains("output 'y': 2 values of 3 are at least 2²⁴"), "\(result.errors)")
  }

  // MARK: - Range

  @Test(arguments: ["x.json", "x.csv", "x.npy"])
  func anInputThatOverflowsIsNamed(_ file: String) throws {
    let text = file == "x.json" ? "[1e300, 2, 3, 4]" : "1e300\n2\n3\n4\n"
    let result = try withTemporaryFolder { folder in
      try denseModel().write(to: folder + "/m.mlmodel")
      var bytes = Array(text.utf8)
      if file == "x.npy" {
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }"
        bytes = [0x93] + "NUMPY\u{1}\u{0}".utf8 + [118, 0]
        bytes += header.utf8 + [UInt8](repeating: 0x20, count: 117 - header.utf8.count) + [0x0A]
        bytes += [1e300, 2.0, 3.0, 4.0].withUnsafeBytes { Array($0) }
      }
      try writeFile(bytes, to: "\(folder)/\(file)")
      return try Command.run("run", folder + "/m.mlmodel", "\(folder)/\(file)")
    }
    #expect(result.code == 0, "\(result.errors)")
    #expect(
      result.errors.contains(
        "\(file): 1 value of 4 is beyond single precision, and became infinite\n"),
      "\(result.errors)")
  }

  /// 65520 is the midpoint of 65504 and 2¹⁶, and rounds to infinity.
  @Test func halfPrecisionOverflows() throws {
    var model = denseModel([1], input: .float16, output: .float16)
    model.specificationVersion = 7
    let result = try run(model, "[65520, 65519, 0, 0]")
    #expect(
      result.errors.contains("input 'x': 1 value of 4 is beyond the declared float16"),
      "\(result.errors)")
    #expect(
      result.errors.contains("output 'y': 1 value of 3 is beyond the declared float16"),
      "\(result.errors)")
  }

  /// 3 · 10³⁸ + 3 · 10³⁸ exceeds single precision.
  @Test(arguments: ["run", "diff", "eval", "bench"])
  func infiniteOutputsAreNamed(_ command: String) throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try denseModel([3e38, 3e38]).write(to: model)
      try writeFile(Array("[1, 1, 0, 0]".utf8), to: folder + "/x.json")
      try writeFile(Array("file,label\nx.json,0\n".utf8), to: folder + "/truth.csv")
      let words =
        switch command {
        case "diff": [model, folder + "/x.json"]
        case "eval": [folder + "/x.json", "--truth", folder + "/truth.csv"]
        case "bench": ["--inputs", folder + "/x.json", "--runs", "1", "--warmup", "0"]
        default: [folder + "/x.json", folder + "/x.json", "--json"]
        }
      let result = try Command.run([command, model] + words)
      let parts = result.errors.components(separatedBy: "output 'y': 1 value of 3 is infinite\n")
      #expect(parts.count == 2, "once: \(result.errors)")
      let quiet = try Command.run([command, model] + words + ["--quiet"])
      #expect(!quiet.errors.contains("infinite"))
    }
  }

  /// Only axes of length 1 may differ.
  @Test func aResultThatContradictsTheDescriptionIsNamed() throws {
    let run = try run(denseModel(declared: [7]))
    #expect(run.code == 0)
    #expect(
      run.errors.contains("output 'y': it declares the shape [7], but the model gives [3]\n"),
      "\(run.errors)")
    #expect(try self.run(denseModel(declared: [1, 3, 1])).errors.isEmpty)
  }

  // MARK: - Files

  private static func image(_ width: Int, _ height: Int) -> Model {
    var model = Model()
    model.specificationVersion = 1
    var network = NeuralNetwork()
    network.layers = [NeuralNetworkLayer("f", Flatten(), input: ["x"], output: ["y"])]
    model.type = .neuralNetwork(network)
    model.description?.input = [
      FeatureDescription(
        name: "x",
        kind: .image(ImageFeatureType(width: width, height: height, colorSpace: .grayscale)))
    ]
    model.description?.output = [
      FeatureDescription(
        name: "y",
        kind: .multiArray(ArrayFeatureType(shape: [width * height], dataType: .float32)))
    ]
    return model
  }

  @Test func pixelsThatNoImageHasAreNamed() throws {
    let result = try run(Self.image(2, 1), "[[300.7, 255]]")
    #expect(result.code == 0)
    #expect(
      result.errors.contains(
        "input 'x': 1 value of 2 is not a pixel of Core ML: a whole number from 0 to 255\n"),
      "\(result.errors)")
    #expect(try run(Self.image(2, 1), "[[0, 255]]").errors.isEmpty)
  }

  @Test func damagedImagesAreNamed() throws {
    let source = Fixtures("images").path("420.jpg")
    let image = try Image.read(source)
    try withTemporaryFolder { folder in
      try Self.image(image.width, image.height).write(to: folder + "/m.mlmodel")
      var bytes = try fileBytes(source)
      // A marker in the entropy-coded data, which follows the start of scan.
      let scan = try #require(
        bytes.indices.last { bytes[$0] == 0xFF && $0 + 1 < bytes.count && bytes[$0 + 1] == 0xDA })
      let middle = (scan + bytes.count) / 2
      bytes.replaceSubrange(middle..<middle + 2, with: [0xFF, 0xD3])
      try writeFile(bytes, to: folder + "/bad.jpg")
      let result = try Command.run(
        "run", folder + "/m.mlmodel", source, folder + "/bad.jpg", "-o", folder)
      #expect(result.code == 0, "\(result.errors)")
      #expect(
        result.errors.contains("\(folder)/bad.jpg: the image is damaged: "), "\(result.errors)")
      #expect(!result.errors.contains("420.jpg: the image"))
    }
  }

  @Test func anArrayOfAnotherNameIsNamed() throws {
    let array = "{\"other\": [1, 2, 3, 4]}"
    let result = try run(denseModel(), array)
    #expect(result.code == 0)
    #expect(
      result.errors.contains("x.json: input 'x': the array 'other' is used for it\n"),
      "\(result.errors)")
    #expect(try run(denseModel(), "{\"x\": [1, 2, 3, 4]}").errors.isEmpty)
  }

  @Test func twoValuesForAnInputAreRefused() throws {
    try withTemporaryFolder { folder in
      try denseModel().write(to: folder + "/m.mlmodel")
      try writeFile(
        Array("{\"a\": [1, 2, 3, 4], \"b\": [0, 0, 0, 0]}".utf8), to: folder + "/x.json")
      let result = try Command.run("run", folder + "/m.mlmodel", "x=\(folder)/x.json")
      #expect(result.code == 2 && result.errors.contains("input 'x' already has a value"))
    }
  }
}
