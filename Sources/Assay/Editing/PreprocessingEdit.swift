import CoreMLModel
import ImportSupport
import ModelTransforms
import TensorCore

/// Changes to the preprocessing of images: colors, scaler, mean image.
struct PreprocessingEdit {
  let options: ImagePreprocessing
  /// Inputs that have just become images.
  let newImages: [String]

  func apply(to model: Model, _ notes: inout [String]) throws -> Model {
    guard options.isUsed || !newImages.isEmpty else { return model }
    try checkNames(model)
    var model = model
    for name in model.imageInputs {
      if let color = color(name, model) { model = try model.settingImage(name, colorSpace: color) }
    }
    for (name, color) in options.color.named.sorted(by: { $0.key < $1.key })
    where !model.imageInputs.contains(name) {
      model = try model.settingImage(name, colorSpace: color)
    }
    return try prepare(model, &notes)
  }

  private func checkNames(_ model: Model) throws {
    if let description = model.description { try options.requireColor(of: description) }
    let images = model.imageInputs
    for names in [
      options.scale.named.keys.sorted(), options.redBias.named.keys.sorted(),
      options.greenBias.named.keys.sorted(), options.blueBias.named.keys.sorted(),
      options.grayBias.named.keys.sorted(), options.mean.named.keys.sorted(),
      options.std.named.keys.sorted(), options.meanImage.named.keys.sorted(),
    ] {
      for name in names where !images.contains(name) {
        throw ModelError(
          .mismatch, "'\(name)' is not an image input of the model",
          hint: images.isEmpty
            ? "create one with \(setting: "imageInput")"
            : "it has " + images.joined(separator: ", "))
      }
    }
    guard !images.isEmpty || options.color.all == nil && options.color.named.isEmpty else { return }
    try require(
      !images.isEmpty || !options.isUsed, .mismatch, "the model has no image input",
      hint: "create one with \(setting: "imageInput")")
  }

  private func color(_ name: String, _ model: Model) -> ImageFeatureType.ColorSpace? {
    if let named = options.color.named[name] { return named }
    guard let present = model.imageType(of: name)?.colorSpace else { return nil }
    let common = options.color.all ?? options.preset?.colorSpace
    return common.flatMap { $0.channelCount == present.channelCount ? $0 : nil }
  }

  /// Sets the scalers of the model, and of a pipeline's models that receive the image.
  private func prepare(_ model: Model, _ notes: inout [String]) throws -> Model {
    var model = model
    if var network = model.neuralNetwork {
      for name in model.imageInputs {
        guard let type = model.imageType(of: name) else { continue }
        if let mean = options.meanImage[name] {
          network.preprocessing.removeAll { $0.featureName == name || $0.featureName.isEmpty }
          network.preprocessing.append(try mean.preprocessing(name, type))
        } else if try scale(name, type, &network) {
          continue
        } else if newImages.contains(name),
          !network.preprocessing.contains(where: { $0.featureName == name })
        {
          try ImageScaler(ImagePreprocessing(), name: name, type: type).add(to: &network)
        }
      }
      model.neuralNetwork = network
    }
    model.pipelineModels = try model.pipelineModels.map { try prepare($0, &notes) }
    return model
  }

  /// Returns whether a change was requested. Scale and biases modify an existing scaler; means,
  /// deviations and presets replace it.
  private func scale(
    _ name: String, _ type: ImageFeatureType, _ network: inout NeuralNetwork
  ) throws -> Bool {
    guard options.isPrepared(name) else { return false }
    let index = network.preprocessing.firstIndex {
      $0.featureName == name || $0.featureName.isEmpty
    }
    let isPartial =
      options.preset == nil && options.mean[name] == nil && options.std[name] == nil
    if isPartial, let index, case .scaler(var scaler)? = network.preprocessing[index].preprocessor {
      if let scale = options.scale[name] { scaler.channelScale = Float(scale) }
      if let bias = options.redBias[name] { scaler.redBias = Float(bias) }
      if let bias = options.greenBias[name] { scaler.greenBias = Float(bias) }
      if let bias = options.blueBias[name] { scaler.blueBias = Float(bias) }
      if let bias = options.grayBias[name] { scaler.grayBias = Float(bias) }
      try require(
        scaler.channelScale != 0, .mismatch,
        "\(setting: "imageScale") of '\(name)' must be a number other than 0")
      try scaler.requireFinite(name)
      network.preprocessing[index].preprocessor = .scaler(scaler)
      return true
    }
    if let index { network.preprocessing.remove(at: index) }
    try ImageScaler(options, name: name, type: type).add(to: &network)
    return true
  }
}

extension Model {
  /// The inputs that are images.
  var imageInputs: [String] {
    (description?.input ?? []).map(\.name).filter { imageType(of: $0) != nil }
  }

  package func imageType(of input: String) -> ImageFeatureType? {
    let feature = description?.input.first { $0.name == input }
    if case .image(let image)? = feature?.type?.kind { return image }
    return nil
  }
}
