import CoreMLModel
import CustomLayers
import Engine
import ImportSupport
import MILImport
import ModelPrediction
import TensorCore
import Verification

extension ModelSource {
  /// Converts to a model with the interface of `model`, so that both can be compared: its names,
  /// its images with their preprocessing, and its classes. Settings in `options` take precedence.
  ///
  /// Features are matched by name, and the rest by position.
  package func convert(
    _ options: ConversionOptions, like model: Model, customLayers: CustomLayerRegistry
  ) throws -> ConversionResult {
    var options = options
    let other = try model.programNetwork()?.model ?? model
    let (takesImages, onVisit) = (options.imageInputs.isEmpty, options.onVisit)
    options.onVisit = nil
    var plainOptions = options
    if takesImages { plainOptions.preprocessing = ImagePreprocessing() }
    let plain = try convert(plainOptions, customLayers: customLayers)
    guard let own = plain.model.description, let wanted = other.description else { return plain }
    options.onVisit = onVisit
    options.inputNames = Self.names(own.input, like: wanted.input)
    options.outputNames = Self.names(
      own.output, like: wanted.output.filter { $0.name != wanted.predictedFeatureName })
    let takesPreprocessing = !options.preprocessing.isUsed
    var engine = CompileOptions()
    engine.customLayers = customLayers
    for (feature, name) in zip(own.input, options.inputNames) where takesImages {
      guard case .multiArray? = feature.type?.kind, let image = other.imageType(of: name)
      else { continue }
      options.imageInputs.append(name)
      if takesPreprocessing {
        try PixelPreparation(
          of: name, image, in: other, beyond: feature.name, in: plain.model,
          isProgram: model.neuralNetwork == nil, engine
        ).add(to: &options.preprocessing)
      }
    }
    if options.imageOutputs.isEmpty {
      for (feature, name) in zip(own.output, options.outputNames) {
        guard case .multiArray? = feature.type?.kind,
          case .image(let image)? = wanted.output.first(where: { $0.name == name })?.type?.kind
        else { continue }
        options.imageOutputs.append(name)
        options.preprocessing.color.named[name] = image.colorSpace
      }
    }
    if options.classifier == nil, let labels = other.classLabels {
      var classifier = ClassifierOptions(labels: labels)
      classifier.predictedFeatureName = wanted.predictedFeatureName
      if options.outputNames.contains(wanted.predictedProbabilitiesName) {
        classifier.probabilitiesOutput = wanted.predictedProbabilitiesName
      }
      options.classifier = classifier
    }
    options.metadata.userDefined.merge(
      (wanted.metadata?.userDefined ?? [:]).filter { $0.key.hasPrefix("assay.image.") }
    ) { given, _ in given }
    return try convert(options, customLayers: customLayers)
  }

  private static func names(
    _ own: [FeatureDescription], like others: [FeatureDescription]
  ) -> [String] {
    var names = own.map(\.name)
    let pairing = ArrayPairing(actual: others.map(\.name), expected: names)
    for pair in pairing.pairs { names[pair.expected] = others[pair.actual].name }
    return names
  }
}

/// The preprocessing of an image's pixels before the layers of its source.
private struct PixelPreparation {
  private let type: ImageFeatureType
  private let name: String
  private var scaler = NeuralNetworkImageScaler()
  private var mean: [Float] = []
  /// The scales and biases that layers then apply to each color, in the network's order.
  private var layers: [(scale: Double, bias: Double)] = []

  /// - Parameter plain: a conversion of the source with the array `ownName`, whose first layers are
  ///   not preprocessing.
  init(
    of name: String, _ type: ImageFeatureType, in model: Model, beyond ownName: String,
    in plain: Model,
    isProgram: Bool, _ engine: CompileOptions
  ) throws {
    (self.name, self.type) = (name, type)
    scaler.channelScale = 1
    let step = model.neuralNetwork?.preprocessing.last {
      $0.featureName == name || $0.featureName.isEmpty
    }
    if case .scaler(let given)? = step?.preprocessor { scaler = given }
    if case .meanImage(let image)? = step?.preprocessor { mean = image.meanImage }
    let (chain, own) = (model.affineBlobs(after: name), plain.affineBlobs(after: ownName))
    guard let last = chain.last, isProgram || chain.count > own.count else { return }
    let all = try model.response(of: last, to: name, engine)
    let part = try own.last.map { try plain.response(of: $0, to: ownName, engine) }
    let plane = type.width * type.height
    var biases: [Double] = []
    for (index, value) in all.enumerated() {
      let (scale, bias) = part.flatMap { $0.count == all.count ? $0[index] : nil } ?? (1, 0)
      let (factor, summand) = (value.scale / scale, (value.bias - bias) / scale)
      biases.append(summand)
      if index % plane == 0 { layers.append((factor, summand)) }
    }
    let isUniform = biases.indices.allSatisfy { biases[$0] == biases[$0 - $0 % plane] }
    guard mean.isEmpty, !isUniform else { return }
    mean = biases.map { Float(-$0) }
    layers = []
  }

  func add(to options: inout ImagePreprocessing) throws {
    let (colors, isGray) = (type.colorSpace, type.colorSpace == .grayscale)
    options.color.named[name] = colors
    guard mean.isEmpty else {
      options.meanImage.named[name] = try MeanImage(
        name: name, channels: colors.channelCount, height: type.height, width: type.width,
        values: mean)
      return
    }
    let scale = Double(scaler.channelScale)
    options.scale.named[name] = scale
    var biases = scaler.biases(colors).map(Double.init)
    var deviations = layers.map { scale / $0.scale }
    if layers.count == biases.count {
      let all = zip(layers, deviations).map { $0.bias * $1 }
      // Measured values have the error of single precision.
      if zip(all, biases).contains(where: { abs($0 - $1) > 1e-5 * max(1, abs($1)) }) {
        biases = all
      }
    }
    if colors == .bgr {
      biases.reverse()
      deviations.reverse()
    }
    if !deviations.isEmpty { options.std.named[name] = deviations }
    if isGray {
      options.grayBias.named[name] = biases[0]
      return
    }
    (options.redBias.named[name], options.greenBias.named[name], options.blueBias.named[name]) = (
      biases[0], biases[1], biases[2]
    )
  }
}

extension Model {
  /// The blobs of consecutive layers at the start that scale or shift `input`.
  func affineBlobs(after input: String) -> [String] {
    let layers = neuralNetwork?.layers ?? []
    let constants = Set(layers.filter(\.input.isEmpty).flatMap(\.output))
    var blobs: [String] = []
    while blobs.count < layers.count {
      let blob = blobs.last ?? input
      let readers = layers.filter { $0.input.contains(blob) }
      guard readers.count == 1, let output = readers[0].output.first,
        readers[0].input.filter({ !constants.contains($0) }) == [blob]
      else { break }
      switch readers[0].parameters {
      case is Scale, is Bias, is Add, is Multiply, is AddBroadcastable, is MultiplyBroadcastable,
        is SubtractBroadcastable, is DivideBroadcastable:
        break
      case let activation as Activation:
        guard case .linear? = activation.function else { return blobs }
      default: return blobs
      }
      blobs.append(output)
    }
    return blobs
  }

  /// The scale and bias of each element of `blob` as a function of `input`, its only variable.
  fileprivate func response(
    of blob: String, to input: String, _ engine: CompileOptions
  ) throws -> [(scale: Double, bias: Double)] {
    var options = Predictor.Options()
    options.keep = .named([blob])
    options.engine = engine
    let predictor = try Predictor(model: self, options: options)
    var blobs = try predictor.randomBlobs(seed: 0)
    let values = try [Float(0), 256].map { value in
      blobs[input] = blobs[input].map {
        Tensor(shape: $0.shape, [Float](repeating: value, count: $0.count))
      }
      return try predictor.outputBlobs(blobs)[blob]?.elements.map(Double.init) ?? []
    }
    return zip(values[0], values[1]).map { (($1 - $0) / 256, $0) }
  }
}

extension Model {
  /// A formula such as `pixel / 127.5 − 1` for a step; nil if the step is empty.
  package func preprocessingText(_ step: NeuralNetworkPreprocessing) -> String? {
    if case .meanImage(let mean)? = step.preprocessor {
      return "pixel − mean image of \(mean.meanImage.count) values"
    }
    guard case .scaler(let scaler)? = step.preprocessor else { return nil }
    func number(_ value: Double) -> String {
      let text = String(Float(value))
      return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
    let isGray = imageType(of: step.featureName)?.colorSpace == .grayscale
    let (scale, biases) = (Double(scaler.channelScale), scaler.biases(isGray ? .grayscale : .rgb))
    if scale == 1, biases.allSatisfy({ $0 == 0 }) { return "none (pixels 0–255)" }
    let inverse = (1e4 / scale).rounded() / 1e4
    var text =
      scale == 1
      ? "pixel"
      : abs(inverse * scale - 1) < 1e-6 ? "pixel / \(number(inverse))" : "pixel · \(number(scale))"
    if Set(biases).count > 1 {
      text +=
        " + (\(biases.map { number(Double($0)) }.joined(separator: ", "))) for red, green, blue"
    } else if let bias = biases.first, bias != 0 {
      text += (bias < 0 ? " − " : " + ") + number(Double(abs(bias)))
    }
    return text
  }
}
