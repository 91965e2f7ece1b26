import CoreMLModel
import Foundation
import LayerTemplates
import TestSupport
import Testing

/// `assay generate`: the class has the interface of those that Xcode generated, and it compiles
/// with a stand-in for Core ML.
@Suite struct ModelClassTests {
  /// A class that Xcode generated for a model with the features of one in `Fixtures`.
  struct Example: Sendable, CustomTestStringConvertible {
    let name: String
    let path: String
    let version: Int
    /// The declarations of the input and output classes, and the prediction with the features.
    let declarations: [String]
    /// Whether its version of Xcode supported `async` functions and shaped arrays.
    let isNew: Bool
    /// `NAME=VALUE` for `run`.
    let inputs: [String]
    /// The prediction in Swift, and its properties.
    let call: String
    let outputs: [String]

    var testDescription: String { name }
    var file: String { packageRoot + "/Fixtures/" + path }
    var className: String { name.replacing("-", with: "_") }

    func text() throws -> String { ModelClass(of: try Model(contentsOf: file), name: name).text }
  }

  /// The declarations for an image input.
  private static func image(_ name: String, _ more: String = "") -> [String] {
    let title = name.prefix(1).uppercased() + name.dropFirst()
    return [
      "\(name): CVPixelBuffer", "init(\(name): CVPixelBuffer\(more))",
      "convenience init(\(name)With \(name): CGImage\(more)) throws",
      "convenience init(\(name)At \(name): URL\(more)) throws",
      "func set\(title)(with \(name): CGImage) throws",
      "func set\(title)(with \(name): URL) throws",
    ]
  }

  private static let boxes = [
    "confidence: MLMultiArray", "coordinates: MLMultiArray",
    "init(confidence: MLMultiArray, coordinates: MLMultiArray)",
  ]

  // The repositories of the first seven also have the models; see Fixtures/generated/make.py.
  static let examples = [
    Example(
      name: "SSDOcr", path: "generated/SSDOcr.mlmodel", version: 2,
      declarations: image("_0") + [
        "scores: MLMultiArray", "boxes: MLMultiArray", "filter: MLMultiArray",
        "init(scores: MLMultiArray, boxes: MLMultiArray, filter: MLMultiArray)",
        "func prediction(_0: CVPixelBuffer) throws -> SSDOcrOutput",
      ], isNew: false, inputs: ["0=color.json"], call: "_0: color",
      outputs: ["scores", "boxes", "filter"]),
    Example(
      name: "best", path: "generated/best.mlmodel", version: 4,
      declarations: image("image") + [
        "_937: MLMultiArray", "_950: MLMultiArray", "_963: MLMultiArray",
        "init(_937: MLMultiArray, _950: MLMultiArray, _963: MLMultiArray)",
        "func prediction(image: CVPixelBuffer) throws -> bestOutput",
      ], isNew: false, inputs: ["image=color.json"], call: "image: color",
      outputs: ["_937", "_950", "_963"]),
    Example(
      name: "MNIST", path: "generated/MNIST.mlmodel", version: 1,
      declarations: Array(image("image").prefix(2)) + [
        "output: [String : Double]", "classLabel: String",
        "init(output: [String : Double], classLabel: String)",
        "func prediction(image: CVPixelBuffer) throws -> MNISTOutput",
      ], isNew: false, inputs: ["image=gray.json"], call: "image: gray",
      outputs: ["output", "classLabel"]),
    Example(
      name: "FindFit", path: "generated/FindFit.mlmodel", version: 1,
      declarations: [
        "normalized_score: Double", "init(normalized_score: Double)", "admissions_rate: Double",
        "init(admissions_rate: Double)",
        "func prediction(normalized_score: Double) throws -> FindFitOutput",
      ], isNew: false, inputs: ["normalized_score=0.75"], call: "normalized_score: 0.75",
      outputs: ["admissions_rate"]),
    Example(
      name: "MarsHabitatPricer", path: "generated/MarsHabitatPricer.mlmodel", version: 1,
      declarations: [
        "solarPanels: Double", "greenhouses: Double", "size: Double", "price: Double",
        "init(solarPanels: Double, greenhouses: Double, size: Double)", "init(price: Double)",
        "func prediction(solarPanels: Double, greenhouses: Double, size: Double) throws -> MarsHabitatPricerOutput",
      ], isNew: false, inputs: ["solarPanels=1", "greenhouses=2.5", "size=750"],
      call: "solarPanels: 1, greenhouses: 2.5, size: 750", outputs: ["price"]),
    Example(
      name: "coreml_decoder_base_en", path: "generated/coreml_decoder_base_en.mlpackage",
      version: 6,
      declarations: [
        "token_data: MLMultiArray", "audio_data: MLMultiArray", "cast_112: MLMultiArray",
        "init(token_data: MLMultiArray, audio_data: MLMultiArray)",
        "convenience init(token_data: MLShapedArray<Int32>, audio_data: MLShapedArray<Float>)",
        "init(cast_112: MLMultiArray)", "cast_112ShapedArray: MLShapedArray<Float>",
        "func prediction(token_data: MLMultiArray, audio_data: MLMultiArray) throws -> coreml_decoder_base_enOutput",
        "func prediction(token_data: MLShapedArray<Int32>, audio_data: MLShapedArray<Float>) throws -> coreml_decoder_base_enOutput",
      ], isNew: true, inputs: ["token_data=token.json", "audio_data=audio.json"],
      call:
        "token_data: MLShapedArray<Int32>(scalars: [7], shape: [1, 1]), audio_data: MLShapedArray<Float>(scalars: (0..<32).map { Float($0) / 8 }, shape: [1, 4, 8])",
      outputs: ["cast_112"]),
    Example(
      name: "all-MiniLM-L6-v2", path: "generated/all-MiniLM-L6-v2.mlpackage", version: 9,
      declarations: [
        "input_ids: MLMultiArray", "attention_mask: MLMultiArray", "var_554: MLMultiArray",
        "init(input_ids: MLMultiArray, attention_mask: MLMultiArray)",
        "convenience init(input_ids: MLShapedArray<Int32>, attention_mask: MLShapedArray<Int32>)",
        "init(var_554: MLMultiArray)", "var_554ShapedArray: MLShapedArray<Float16>",
        "func prediction(input_ids: MLMultiArray, attention_mask: MLMultiArray) throws -> all_MiniLM_L6_v2Output",
        "func prediction(input_ids: MLShapedArray<Int32>, attention_mask: MLShapedArray<Int32>) throws -> all_MiniLM_L6_v2Output",
      ], isNew: true, inputs: ["input_ids=ids.json", "attention_mask=ids.json"],
      call: "input_ids: ids, attention_mask: ids", outputs: ["var_554"]),
    Example(
      name: "yolov8m", path: "detection/vision/ultralytics.mlmodel", version: 5,
      declarations: image("image", ", iouThreshold: Double, confidenceThreshold: Double") + boxes
        + [
          "iouThreshold: Double", "confidenceThreshold: Double",
          "confidenceShapedArray: MLShapedArray<Float>",
          "coordinatesShapedArray: MLShapedArray<Float>",
          "func prediction(image: CVPixelBuffer, iouThreshold: Double, confidenceThreshold: Double) throws -> yolov8mOutput",
        ], isNew: true,
      inputs: ["image=large.json", "iouThreshold=0.6", "confidenceThreshold=0.5"],
      call: "image: large, iouThreshold: 0.6, confidenceThreshold: 0.5",
      outputs: ["confidence", "coordinates"]),
    // github.com/alpaycli/BasketballAnalyzer 05ed8c7b3e31; Create ML wrote the model.
    Example(
      name: "HoopDetectorOnlineIshleyir", path: "detection/vision/createml.mlmodel", version: 3,
      declarations: image(
        "imagePath", ", iouThreshold: Double? = nil, confidenceThreshold: Double? = nil") + boxes
        + [
          "iouThreshold: Double? = nil", "confidenceThreshold: Double? = nil",
          "confidenceShapedArray: MLShapedArray<Double>",
          "coordinatesShapedArray: MLShapedArray<Double>",
          "func prediction(imagePath: CVPixelBuffer, iouThreshold: Double?, confidenceThreshold: Double?) throws -> HoopDetectorOnlineIshleyirOutput",
        ], isNew: true, inputs: ["imagePath=large.json", "iouThreshold=0.6"],
      call: "imagePath: large, iouThreshold: 0.6, confidenceThreshold: nil",
      outputs: ["confidence", "coordinates"]),
  ]

  /// The declarations for every model.
  private static func declarations(of example: Example) -> [String] {
    let name = example.className
    let configuration = "configuration: MLModelConfiguration"
    let standard = configuration + " = MLModelConfiguration()"
    let handler = "completionHandler handler: @escaping (Swift.Result<\(name), Error>) -> Void)"
    let options = "options: MLPredictionOptions"
    var all = [
      "class \(name)Input : MLFeatureProvider", "class \(name)Output : MLFeatureProvider",
      "class \(name)", "featureNames: Set<String>", "featureNames: Set<String>",
      "func featureValue(for featureName: String) -> MLFeatureValue?",
      "func featureValue(for featureName: String) -> MLFeatureValue?",
      "init(features: MLFeatureProvider)", "model: MLModel", "class urlOfModelInThisBundle : URL",
      "init(model: MLModel)", "convenience init(contentsOf modelURL: URL) throws",
      "convenience init(contentsOf modelURL: URL, \(configuration)) throws",
      "class func load(\(standard), \(handler)",
      "class func load(contentsOf modelURL: URL, \(standard), \(handler)",
      "func prediction(input: \(name)Input) throws -> \(name)Output",
      "func prediction(input: \(name)Input, \(options)) throws -> \(name)Output",
      "func predictions(inputs: [\(name)Input], \(options) = MLPredictionOptions()) throws -> [\(name)Output]",
    ]
    // Before iOS 14, loading could not fail.
    all +=
      example.version < 5
      ? ["convenience init()", "convenience init(\(configuration)) throws"]
      : ["convenience init(\(standard)) throws"]
    if example.isNew {
      all += [
        "class func load(\(standard)) async throws -> \(name)",
        "class func load(contentsOf modelURL: URL, \(standard)) async throws -> \(name)",
        "func prediction(input: \(name)Input, \(options) = MLPredictionOptions()) async throws -> \(name)Output",
      ]
    }
    return all + example.declarations
  }

  /// A property is computed, lazy or stored, depending on the version of Xcode.
  private static func declarations(in text: String) -> [String] {
    text.split(separator: "\n").map { $0.drop { $0 == " " } }.compactMap { line in
      guard !line.hasPrefix("private"), !line.hasPrefix("let results"),
        !line.hasPrefix("let bundle"),
        let start = line.firstMatch(of: #/^(class |convenience |func |init\(|var |let [a-z]+: )/#)
      else { return nil }
      var text = String(line).replacing(#/ \{$/#, with: "").replacing(#/^(var|let) /#, with: "")
      text = text.replacing("class var ", with: "class ")
      return start.output.0.isEmpty ? nil : text
    }
  }

  @Test(arguments: examples)
  func interfaceIsThatOfXcode(_ example: Example) throws {
    let found = Self.declarations(in: try example.text()).sorted()
    let expected = Self.declarations(of: example).sorted()
    if example.isNew { #expect(found == expected) }
    for declaration in expected {
      #expect(found.contains(declaration), "\(declaration)\n\(found.joined(separator: "\n"))")
    }
  }

  /// A program that makes predictions through all classes, whose results match those of `run`. It
  /// passes inputs to `run` in files that the test has written.
  @Test(.program("swiftc")) func classesCompileAndPredict() throws {
    let swiftc = try #require(Program.find("swiftc"))
    let support = packageRoot + "/Sources/PluginSupport/Support/CoreML/"
    let sources =
      try FileManager.default.contentsOfDirectory(atPath: support)
      .filter { $0.hasSuffix(".swift") }.map { support + $0 }
      + [packageRoot + "/Fixtures/generated/MLModel.swift"]
    try withTemporaryFolder { folder in
      func compile(_ arguments: [String]) throws {
        let result = try swiftc.run(arguments, in: folder)
        #expect(result.code == 0, "\(result.errors)")
      }
      func write(_ text: String, _ file: String) throws {
        try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(file)"))
      }
      try compile(
        [
          "-parse-as-library", "-module-name", "CoreML", "-emit-module", "-emit-library", "-static",
          "-o", "libCoreML.a",
        ] + sources)
      for example in Self.examples { try write(example.text(), example.className + ".swift") }
      let calls = Self.examples.enumerated().map { place, example in
        "let o\(place) = try \(example.className)(contentsOf: url(\(place))).prediction(\(example.call))\n"
          + "print(" + example.outputs.map { "text(o\(place).\($0))" }.joined(separator: ", ")
          + ")\n"
      }
      try write(Self.program + calls.joined(), "main.swift")
      try compile(
        [
          "-module-name", "Uses", "-I", ".", "-L", ".", "-lCoreML", "-o", "uses", "main.swift",
        ] + Self.examples.map { $0.className + ".swift" })
      let run = try Program(folder + "/uses").run(
        [Command.binary] + Self.examples.map(\.file), in: folder)
      #expect(run.code == 0, "\(run.errors)")
      let printed = run.output.split(separator: "\n")
      try #require(printed.count == Self.examples.count, "\(run.output)\(run.errors)")
      for (name, shape) in [("color", [4, 4, 3]), ("gray", [4, 4]), ("large", [64, 64, 3])] {
        try write(Self.array(shape) { "\(($0 * 7) % 256)" }, name + ".json")
      }
      try write("[[7]]", "token.json")
      try write(Self.array([1, 4, 8]) { "\(Float($0) / 8)" }, "audio.json")
      try write(Self.array([1, 32]) { "\($0)" }, "ids.json")
      for (example, line) in zip(Self.examples, printed) {
        let run = try Program(Command.binary).run(
          ["run", example.file] + example.inputs + ["-o", "out.json", "--json"], in: folder)
        #expect(run.code == 0, "\(example): \(run.errors)")
        var values = try #require(
          try JSONSerialization.jsonObject(
            with: Data(contentsOf: URL(filePath: folder + "/out.json"))) as? [String: Any])
        let json = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
        if let classes = json?["classes"] as? [[String: Any]] {
          values["output"] = Dictionary(
            uniqueKeysWithValues: classes.map { ("\($0["label"]!)", $0["probability"]!) })
          values["classLabel"] = classes[0]["label"]
        }
        let text = example.outputs.map { name in
          Self.text(values[name] ?? values[String(name.dropFirst())] ?? "missing")
        }
        #expect(text.joined(separator: " ") == line, "\(example)")
      }
    }
  }

  private static func text(_ value: Any) -> String {
    switch value {
    case let list as [Any]: list.map(text).joined(separator: " ")
    case let numbers as [String: Any]:
      numbers.sorted { $0.key < $1.key }.map { "\($0.key) \(text($0.value))" }
        .joined(separator: " ")
    case let string as String: string
    default: "\((value as? NSNumber)?.doubleValue ?? .nan)"
    }
  }

  /// An array with elements computed from their indices.
  private static func array(_ shape: [Int], _ element: (Int) -> String) -> String {
    var next = -1
    func text(_ rest: ArraySlice<Int>) -> String {
      guard let count = rest.first else {
        next += 1
        return element(next)
      }
      return "[" + (0..<count).map { _ in text(rest.dropFirst()) }.joined(separator: ",") + "]"
    }
    return text(shape[...])
  }

  /// Takes `assay` and the models; classes predict through `run` on the inputs that they pass.
  private static let program = #"""
    import CoreML

    func url(_ place: Int) -> URL { URL(filePath: CommandLine.arguments[place + 2]) }
    func rows(_ values: [Any], _ shape: some Collection<Int>) -> Any {
      guard let count = shape.first else { return values[0] }
      let size = values.count / count
      return (0..<count).map { rows(Array(values[$0 * size..<($0 + 1) * size]), shape.dropFirst()) }
    }
    func elements(_ value: Any) -> [Double] {
      (value as? [Any])?.flatMap(elements) ?? [(value as! NSNumber).doubleValue]
    }
    func shape(_ value: Any) -> [Int] {
      guard let list = value as? [Any] else { return [] }
      return [list.count] + (list.first.map(shape) ?? [])
    }
    func json(_ value: MLFeatureValue) -> Any {
      if let array = value.multiArrayValue {
        return rows((0..<array.count).map { array[$0] }, array.shape.map(\.intValue))
      }
      guard let image = value.imageBufferValue else { return value.doubleValue }
      let isGray = image.bytes.count == image.width * image.height
      let samples = image.bytes.indices.filter { isGray || $0 % 4 > 0 }.map { Int(image.bytes[$0]) }
      return rows(samples, [image.height, image.width] + (isGray ? [] : [3]))
    }
    MLModel.predict = { url, input in
      var arguments = ["run", url.path, "-o", "predicted.json", "--json"]
      for name in input.featureNames.sorted() {
        guard let feature = input.featureValue(for: name) else { continue }
        let value = json(feature)
        if value is Double { arguments.append("\(name)=\(value)"); continue }
        try JSONSerialization.data(withJSONObject: value).write(to: URL(filePath: "in-\(name).json"))
        arguments.append("\(name)=in-\(name).json")
      }
      let process = Process()
      process.executableURL = URL(filePath: CommandLine.arguments[1])
      process.arguments = arguments
      try Data().write(to: URL(filePath: "printed.json"))
      process.standardOutput = try FileHandle(forWritingTo: URL(filePath: "printed.json"))
      try process.run()
      process.waitUntilExit()
      func object(_ file: String) throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: file)))
          as! [String: Any]
      }
      var values = try object("predicted.json")
      if let classes = try object("printed.json")["classes"] as? [[String: Any]] {
        let pairs = classes.map { ("\($0["label"]!)", $0["probability"] as! NSNumber) }
        values["output"] = Dictionary(uniqueKeysWithValues: pairs)
        values["classLabel"] = classes[0]["label"]
      }
      return try MLDictionaryFeatureProvider(
        dictionary: values.mapValues { value in
          switch value {
          case let number as NSNumber: return MLFeatureValue(double: number.doubleValue)
          case let text as String: return MLFeatureValue(string: text)
          case let numbers as [String: NSNumber]:
            return try MLFeatureValue(dictionary: numbers)
          default:
            let array = try MLMultiArray(
              shape: shape(value).map { NSNumber(value: $0) }, dataType: .double)
            for (index, element) in elements(value).enumerated() {
              array[index] = NSNumber(value: element)
            }
            return MLFeatureValue(multiArray: array)
          }
        })
    }
    func text(_ value: MLMultiArray) -> String {
      (0..<value.count).map { "\(value[$0].doubleValue)" }.joined(separator: " ")
    }
    func text(_ value: [String: Double]) -> String {
      value.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: " ")
    }
    func text(_ value: some CustomStringConvertible) -> String { "\(value)" }
    func image(_ side: Int, _ isGray: Bool = false) -> CVPixelBuffer {
      var bytes: [UInt8] = []
      for sample in 0..<side * side * (isGray ? 1 : 3) {
        if !isGray && sample % 3 == 0 { bytes.append(255) }
        bytes.append(UInt8((sample * 7) % 256))
      }
      return CVPixelBuffer(width: side, height: side, bytes: bytes)
    }
    let (color, gray, large) = (image(4), image(4, true), image(64))
    let ids = MLShapedArray<Int32>(scalars: 0..<32, shape: [1, 32])

    """#
}
