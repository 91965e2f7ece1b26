import CoreMLModel
import Foundation
import LayerTemplates
import TestSupport
import Testing

/// `assay generate`: the interface of the class is that of classes that Xcode generated, and it
/// compiles with the replacement for Core ML.
@Suite struct ModelClassTests {
  /// Declarations of a class that Xcode generated for a model with these features.
  struct Example: Sendable, CustomTestStringConvertible {
    let name: String
    let version: Int
    let inputs: [FeatureDescription]
    let outputs: [FeatureDescription]
    /// Those of the input's and the output's class.
    let declarations: [String]
    /// Whether its Xcode knew `async` functions and shaped arrays.
    let isNew: Bool

    var testDescription: String { name }

    var text: String {
      var model = Model()
      model.specificationVersion = version
      model.description?.input = inputs
      model.description?.output = outputs
      return ModelClass(of: model, name: name).text
    }
  }

  private static func image(_ name: String, _ width: Int, _ height: Int) -> FeatureDescription {
    FeatureDescription(
      name: name, kind: .image(ImageFeatureType(width: width, height: height, colorSpace: .rgb)))
  }

  private static func floats(_ name: String) -> FeatureDescription {
    FeatureDescription(
      name: name, kind: .multiArray(ArrayFeatureType(shape: [], dataType: .float32)))
  }

  static let examples = [
    // github.com/stripe/stripe-ios 75ebfd20a5cd, StripeCardScan/…/MLModels/SSDOcr.swift
    Example(
      name: "SSDOcr", version: 2, inputs: [image("0", 600, 375)],
      outputs: [floats("scores"), floats("boxes"), floats("filter")],
      declarations: [
        "_0: CVPixelBuffer", "init(_0: CVPixelBuffer)",
        "convenience init(_0With _0: CGImage) throws", "convenience init(_0At _0: URL) throws",
        "func set_0(with _0: CGImage) throws", "func set_0(with _0: URL) throws",
        "scores: MLMultiArray", "boxes: MLMultiArray", "filter: MLMultiArray",
        "init(scores: MLMultiArray, boxes: MLMultiArray, filter: MLMultiArray)",
        "func prediction(_0: CVPixelBuffer) throws -> SSDOcrOutput",
      ], isNew: false),
    // github.com/theSalted/Organize 223ac85f0992, OrganizeApp.swiftpm/CoreML/MobileNetV2FP16.swift
    Example(
      name: "MobileNetV2FP16", version: 2, inputs: [image("image", 224, 224)],
      outputs: [
        FeatureDescription(name: "classLabelProbs", kind: .dictionary(.string)),
        FeatureDescription(name: "classLabel", kind: .string),
      ],
      declarations: [
        "image: CVPixelBuffer", "init(image: CVPixelBuffer)",
        "convenience init(imageWith image: CGImage) throws",
        "convenience init(imageAt image: URL) throws",
        "func setImage(with image: CGImage) throws", "func setImage(with image: URL) throws",
        "classLabelProbs: [String : Double]", "classLabel: String",
        "init(classLabelProbs: [String : Double], classLabel: String)",
        "func prediction(image: CVPixelBuffer) throws -> MobileNetV2FP16Output",
      ], isNew: true),
    // github.com/tugjabg/mlcore_detect_card f5f92568352b, build/…/CoreMLGenerated/best/best.swift
    Example(
      name: "best", version: 4, inputs: [image("image", 640, 640)],
      outputs: [floats("937"), floats("950"), floats("963")],
      declarations: [
        "image: CVPixelBuffer", "init(image: CVPixelBuffer)",
        "convenience init(imageWith image: CGImage) throws",
        "convenience init(imageAt image: URL) throws",
        "func setImage(with image: CGImage) throws", "func setImage(with image: URL) throws",
        "_937: MLMultiArray", "_950: MLMultiArray", "_963: MLMultiArray",
        "init(_937: MLMultiArray, _950: MLMultiArray, _963: MLMultiArray)",
        "func prediction(image: CVPixelBuffer) throws -> bestOutput",
      ], isNew: false),
    // github.com/shengyuan-lu/CollegePal 5d9345c08270, CollegePal.swiftpm/Models/FindFit.swift
    Example(
      name: "FindFit", version: 1,
      inputs: [FeatureDescription(name: "normalized_score", kind: .double)],
      outputs: [FeatureDescription(name: "admissions_rate", kind: .double)],
      declarations: [
        "normalized_score: Double", "init(normalized_score: Double)", "admissions_rate: Double",
        "init(admissions_rate: Double)",
        "func prediction(normalized_score: Double) throws -> FindFitOutput",
      ], isNew: false),
  ]

  /// Those of every model.
  private static func declarations(of example: Example) -> [String] {
    let name = example.name
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
      "init(model: MLModel)", "convenience init()", "convenience init(\(configuration)) throws",
      "convenience init(contentsOf modelURL: URL) throws",
      "convenience init(contentsOf modelURL: URL, \(configuration)) throws",
      "class func load(\(standard), \(handler)",
      "class func load(contentsOf modelURL: URL, \(standard), \(handler)",
      "func prediction(input: \(name)Input) throws -> \(name)Output",
      "func prediction(input: \(name)Input, \(options)) throws -> \(name)Output",
      "func predictions(inputs: [\(name)Input], \(options) = MLPredictionOptions()) throws -> [\(name)Output]",
    ]
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
  func interfaceIsThatOfXcode(_ example: Example) {
    let found = Self.declarations(in: example.text).sorted()
    let expected = Self.declarations(of: example).sorted()
    if example.isNew { #expect(found == expected) }
    for declaration in expected {
      #expect(found.contains(declaration), "\(declaration)\n\(found.joined(separator: "\n"))")
    }
  }

  /// A program that makes predictions through the classes; the replacement asks it for the outputs.
  @Test(.program("swiftc")) func classesCompileAndPredict() throws {
    let swiftc = try #require(Program.find("swiftc"))
    let support = packageRoot + "/Sources/PluginSupport/Support/CoreML/"
    let sources = try FileManager.default.contentsOfDirectory(atPath: support)
      .filter { $0.hasSuffix(".swift") }.map { support + $0 }
    let main = """
      import CoreML

      @main struct Main {
        static func predict() throws -> [Double] {
          let model = try FindFit(contentsOf: URL(filePath: "/four"))
          let input = FindFitInput(normalized_score: 2)
          return [
            try model.prediction(normalized_score: 1).admissions_rate,
            try model.prediction(input: input).admissions_rate,
          ] + (try model.predictions(inputs: [input, input]).map(\\.admissions_rate))
        }

        static func main() async throws {
          MLModel.predict = { url, input in
            let score = input.featureValue(for: "normalized_score")!.doubleValue
            return FindFitOutput(admissions_rate: 2 * score + Double(url.path.count))
          }
          let model = try await FindFit.load(contentsOf: URL(filePath: "/"))
          let last = try await model.prediction(input: FindFitInput(normalized_score: 2))
          print(try predict(), last.admissions_rate)
        }
      }
      """
    try withTemporaryFolder { folder in
      func compile(_ arguments: [String]) throws {
        let result = try swiftc.run(arguments, in: folder)
        #expect(result.code == 0, "\(result.errors)")
      }
      try compile(
        [
          "-parse-as-library", "-module-name", "CoreML", "-emit-module", "-emit-library", "-static",
          "-o", "libCoreML.a",
        ] + sources)
      for example in Self.examples {
        try Data(example.text.utf8).write(to: URL(filePath: "\(folder)/\(example.name).swift"))
      }
      try Data(main.utf8).write(to: URL(filePath: folder + "/Main.swift"))
      try compile(
        [
          "-parse-as-library", "-module-name", "Uses", "-I", ".", "-L", ".", "-lCoreML", "-o",
          "uses",
          "Main.swift",
        ] + Self.examples.map { $0.name + ".swift" })
      let run = try Program(folder + "/uses").run([])
      #expect(run.output == "[7.0, 9.0, 9.0, 9.0] 5.0\n", "\(run.output)\(run.errors)")
    }
  }
}
