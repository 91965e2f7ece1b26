import Assay
import Foundation
import TestSupport
import Testing

/// The code in `docs/library.md` and in the catalog's examples, with `Assay` as the only import;
/// the pages contain no other code.
@Suite struct LibraryTests {
  @Test func convertLoadPredictCompare() throws {
    try withTemporaryFolder { folder in
      let fixtures = packageRoot + "/Fixtures/networks/keras3-sequential"
      for (from, to) in [
        (".h5", "network.h5"), (".inputs.npz", "inputs.npz"), (".expected.npz", "expected.npz"),
      ] {
        try FileManager.default.copyItem(atPath: fixtures + from, toPath: "\(folder)/\(to)")
      }
      let source = try ModelSource(contentsOf: "\(folder)/network.h5")
      let model = try source.convert(ConversionOptions()).model
      try model.write(to: "\(folder)/network.mlmodel")
      let comparison = try Comparison.compare(
        model, inputs: ["\(folder)/inputs.npz"], expected: "\(folder)/expected.npz",
        options: Comparison.Options())
      print(comparison.matches)
      #expect(comparison.matches)

      let loaded = try Model(contentsOf: "\(folder)/network.mlmodel")
      let predictor = try Predictor(model: loaded)
      let input = Tensor(shape: [1, 4], [0.5, -1, 2, 0])
      for output in try predictor.predict(["input_layer": .array(input)]).outputs {
        print(output.name, output.value.shape, output.value.elements)
      }
      #expect(loaded == model)
    }
  }

  @Test func predictionsOfASequence() async throws {
    let source = try ModelSource(
      contentsOf: packageRoot + "/Fixtures/networks/keras3-sequential.h5")
    let predictor = try Predictor(model: source.convert(ConversionOptions()).model)
    let inputs: [[String: FeatureValue]] = [[0.5, -1, 2, 0], [1, 2, 3, 4]].map {
      ["input_layer": .array(Tensor(shape: [1, 4], $0))]
    }
    let input = Tensor(shape: [1, 4], [0.5, -1, 2, 0])
    let frames = AsyncStream<[String: FeatureValue]> { continuation in
      continuation.yield(["input_layer": .array(input)])
      continuation.finish()
    }
    for try await prediction in predictor.predictions(of: frames) {
      print(prediction.outputs[0].value.elements)
    }
    var found: [Tensor] = []
    let again = AsyncStream { continuation in
      for input in inputs { continuation.yield(input) }
      continuation.finish()
    }
    for try await prediction in predictor.predictions(of: again) {
      found.append(prediction.outputs[0].value)
    }
    #expect(try found == inputs.map { try predictor.predict($0).outputs[0].value })
  }

  @Test func options() throws {
    var options = ConversionOptions()
    options.imageInputs = ["input1"]
    options.preprocessing.scale = PerFeature(1 / 127.5)
    options.preprocessing.redBias = PerFeature(-1)
    options.preprocessing.greenBias = PerFeature(-1)
    options.preprocessing.blueBias = PerFeature(-1)
    let source = try ModelSource(
      contentsOf: packageRoot + "/Fixtures/builder/inception.h5")
    // Sixteen channels are not an image.
    #expect(throws: ModelError.self) { try source.convert(options) }

    var settings = Predictor.Options()
    settings.engine.customLayers.register(Amplify.self)
    settings.engine.threads = 2
    let image = try Image.read(packageRoot + "/Fixtures/demo/picture.png")
    #expect(image.channelCount == 3)
  }

  /// The network matches Keras's predictions, so that no cause is found.
  @Test func examplesOfTheCatalog() throws {
    try withTemporaryFolder { folder in
      let fixtures = packageRoot + "/Fixtures/"
      for (from, to) in [
        ("networks/keras3-sequential.h5", "network.h5"),
        ("networks/keras3-sequential.inputs.npz", "inputs.npz"),
        ("networks/keras3-sequential.expected.npz", "expected.npz"),
        ("demo/picture.png", "a.png"), ("demo/picture.png", "b.png"),
      ] {
        try FileManager.default.copyItem(atPath: fixtures + from, toPath: "\(folder)/\(to)")
      }
      let source = try ModelSource(contentsOf: "\(folder)/network.h5")
      let plan: ConversionPlan = try source.plan(ConversionOptions())
      print(plan.error?.description ?? "every layer can be converted")
      let model = try source.convert(ConversionOptions()).model
      #expect(plan.error == nil)

      let inspection = Inspection(model)
      print(inspection.layers.map(\.type), inspection.parameterCount, inspection.multiplyAdds)
      let check = ModelCheck(model)
      print(check.errors.isEmpty, check.warnings)
      #expect(check.errors.isEmpty)

      let comparison = try Comparison.compare(
        model, inputs: ["\(folder)/inputs.npz"], expected: "\(folder)/expected.npz",
        options: Comparison.Options())
      print(comparison.matches, comparison.outputs.map(\.name))
      let images = try Comparison.compare(
        arrays: "\(folder)/a.png", with: "\(folder)/b.png", options: Comparison.Options()
      ).images
      for image: ImageDifference in images { print(image.name, try image.amplified().largest) }
      #expect(comparison.matches)

      let diagnosis = try Diagnosis(
        model, inputs: ["\(folder)/inputs.npz"], expected: "\(folder)/expected.npz",
        options: Comparison.Options())
      if let cause: Cause = diagnosis.best?.causes.first {
        print(cause.summary, cause.remedy ?? "")
      }
      let study = try HalfPrecisionStudy(
        model, inputs: ["\(folder)/inputs.npz"], options: Comparison.Options())
      print(study.agrees, study.kept)
      #expect(study.agrees)
    }
  }

  @Test func examplesOfSettings() throws {
    var options = ConversionOptions()
    options.arrayType = ArrayFeatureType.DataType.float32
    var images = ImagePreprocessing()
    images.preset = PreprocessingPreset.kerasTF
    images.color = PerFeature(ImageFeatureType.ColorSpace.rgb)
    options.preprocessing = images
    options.metadata = MetadataOptions()
    options.metadata.author = "the authors"
    options.customLayers = CustomLayerRules()
    options.networkState = NetworkState()
    options.networkState.phase = .train
    options.missingWeights = MissingWeights.random(RandomWeights(seed: 1))
    let classifier: ClassifierOptions? = options.classifier
    print(classifier?.predictedFeatureName ?? "the model is not a classifier")
    #expect(classifier == nil)
  }

  @Test func examplesOfSources() throws {
    try withTemporaryFolder { folder in
      try FileManager.default.copyItem(
        atPath: packageRoot + "/Fixtures/corpus/caffe/ip_activation_absval/deploy.prototxt",
        toPath: "\(folder)/network.prototxt")
      let source = try ModelSource(contentsOf: "\(folder)/network.prototxt")
      if case .caffe(let network) = source { print(type(of: network) == CaffeSource.self) }
      do {
        let result: ConversionResult = try source.convert(ConversionOptions())
        print(result.notes)
      } catch let error as ModelError {
        print(error.layer ?? "", error.message, error.hint ?? "")
      }
    }
  }

  @Test func examplesOfModels() throws {
    try withTemporaryFolder { folder in
      let fixtures = packageRoot + "/Fixtures/networks/keras3-sequential"
      for name in ["inputs", "expected"] {
        try FileManager.default.copyItem(
          atPath: "\(fixtures).\(name).npz", toPath: "\(folder)/\(name).npz")
      }
      let model = try ModelSource(contentsOf: fixtures + ".h5").convert(ConversionOptions()).model
      do {
        let description: ModelDescription = model.description ?? ModelDescription()
        let metadata: Metadata = description.metadata ?? Metadata()
        print(metadata.author, model.forgetBias == ForgetBias.ignore)
        for feature: FeatureDescription in description.input {
          let type: FeatureType? = feature.type
          print(feature.name, type?.isOptional ?? false)
        }
      }
      do {
        var engine = CompileOptions()
        engine.threads = 1
        engine.hooks = EngineHooks()
        var settings = Predictor.Options()
        settings.engine = engine
        settings.layout = ArrayLayout.source
        settings.precision = ComputePrecision.float32
        var preparation: ImageOptions = ImageRecipe.kerasLoadImage.options
        preparation.fitting = Fitting.squash
        preparation.interpolation = Interpolation.bicubic
        settings.images = preparation
        let predictor = try Predictor(model: model, options: settings)
        let zeros = NumberArray(shape: [1, 4], [0, 0, 0, 0])
        let values = ["input_layer": FeatureValue.numbers(zeros)]
        let prediction: Prediction = try predictor.predict(values)
        let output: PredictedOutput = prediction.outputs[0]
        print(output.name, output.value.elements)
        let red = Bytes([255, 0, 0] as [UInt8])
        let pixel = Image(width: 1, height: 1, channelCount: 3, samples: red)
        print(try pixel.grayscale().samples.count, FeatureKey.string("a label"))
        #expect(output.value.shape.last == output.value.elements.count)
      }
      do {
        var options = Comparison.Options()
        options.tolerances = Tolerances(Tolerance(relative: 1e-4, absolute: 1e-6))
        options.top = 1
        options.layers = "\(folder)/expected.npz"
        options.reference = true
        let comparison = try Comparison.compare(
          model, inputs: ["\(folder)/inputs.npz"], expected: "\(folder)/expected.npz",
          options: options)
        for output: OutputComparison in comparison.outputs {
          let metrics: ErrorMetrics? = output.metrics
          let histogram: ErrorHistogram? = metrics?.histogram
          let classes: ClassAgreement? = output.classes
          let verdict: ReferenceVerdict? = comparison.verdicts[output.name]
          print(metrics?.cosine ?? 0, histogram?.exact ?? 0, classes?.top1 ?? 0, verdict ?? .agrees)
        }
        let blobs: BlobComparison? = comparison.blobs
        print(blobs?.firstDifference?.name ?? "every blob agrees")
        #expect(comparison.matches)
      }
    }
  }

  @Test func examplesOfCustomLayers() throws {
    var registry = CustomLayerRegistry()
    registry.register(Amplify.self)
    let layer: (any CustomLayerImplementation)? = try registry["Amplify"]?(["factor": .double(2)])
    print(layer != nil, registry.classNames)
    #expect(layer is Amplify)
  }

  @Test(arguments: [("docs/library.md", 5), ("Sources/Assay/Assay.docc/Examples.md", 11)])
  func thePageHoldsCompiledCode(_ name: String, _ count: Int) throws {
    func lines(_ text: String) -> [String] {
      text.components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    let page = try String(
      contentsOfFile: packageRoot + "/" + name, encoding: .utf8)
    let source = lines(try String(contentsOfFile: #filePath, encoding: .utf8))
    let blocks = page.components(separatedBy: "```swift\n").dropFirst()
      .compactMap { $0.components(separatedBy: "```").first }
    #expect(blocks.count == count)
    for block in blocks {
      let wanted = lines(block.trimmingCharacters(in: .newlines))
      #expect(
        source.indices.contains { source[$0...].starts(with: wanted) },
        "not in this file:\n\(block)")
    }
  }
}

/// Multiplies by the parameter `factor`.
final class Amplify: CustomLayer {
  static let className = "Amplify"
  private let factor: Float

  init(parameters: [String: CustomLayerParameter]) {
    factor = parameters["factor"]?.floatValue ?? 1
  }

  func setWeights(_ weights: [CustomLayerWeight]) {}

  func outputShapes(forInputShapes shapes: [[Int]]) -> [[Int]] { shapes }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) {
    for index in inputs[0].elements.indices {
      outputs[0].elements[index] = factor * inputs[0].elements[index]
    }
  }
}
