import CoreMLModel
import TensorCore

/// Builds a model from an imported network and the user's options: names, feature types, image
/// preprocessing, class labels, metadata.
package enum InterfaceBuilder {
  /// - Parameter notes: receives options that have no effect.
  /// - Throws: `.mismatch` if an option names a missing or unsuitable feature, or if the network
  ///   needs a later specification version than allowed.
  package static func model(
    _ imported: ImportedNetwork, options: ConversionOptions, notes: inout [String]
  ) throws -> Model {
    var imported = imported
    try imported.rename(inputs: options.inputNames, outputs: options.outputNames)
    try check(options, imported)
    let images = imported.inputs.filter { Self.isImage($0.shape) }
    var options = options
    let preprocessing = options.preprocessing
    if preprocessing.isUsed, preprocessing.meanImage.isEmpty, options.imageInputs.isEmpty,
      images.count == 1, options.imageOutputs.isEmpty || preprocessing.preset != nil
    {
      options.imageInputs = [images[0].name]
    }
    var network = NeuralNetwork()
    network.layers = imported.layers
    // Computed once, since both properties examine every layer.
    let declaresBlobs = imported.declaresBlobs
    if imported.needsExactMapping { network.arrayInputShapeMapping = .exact }
    var description = ModelDescription()
    func declare(_ feature: ImportedFeature, _ images: [String]) throws -> FeatureDescription {
      var declared = FeatureDescription(
        name: feature.name,
        kind: images.contains(feature.name)
          ? .image(try image(feature, options))
          : .multiArray(array(feature, declaresBlobs, options)), isOptional: feature.isOptional)
      declared.shortDescription = options.metadata.descriptions[feature.name] ?? ""
      return declared
    }
    for feature in imported.inputs {
      let declared = try declare(feature, options.imageInputs)
      description.input.append(declared)
      if case .image(let type) = declared.type?.kind {
        if let mean = options.preprocessing.meanImage[feature.name] {
          network.preprocessing.append(try mean.preprocessing(feature.name, type))
          if type.colorSpace == .rgb, options.preprocessing.color[feature.name] == nil {
            notes.append(
              "'\(feature.name)' takes RGB pixels; most networks of Caffe expect \(setting: "color") bgr"
            )
          }
          if options.preprocessing.scalesOrShifts(feature.name) {
            notes.append("the mean image of '\(feature.name)' replaces its scale and biases")
          }
          continue
        }
        try ImageScaler(options.preprocessing, name: feature.name, type: type).add(to: &network)
      }
    }
    if !options.preprocessing.meanImage.isEmpty, options.imageInputs.isEmpty {
      throw ModelError(
        .mismatch, "a mean image needs an image input",
        hint: "declare one with \(setting: "imageInput")")
    }
    if options.imageInputs.isEmpty, options.preprocessing.isUsed {
      notes.append(
        "no input is an image, of 1 or 3 channels, so scale, biases, means and colors have no effect"
      )
    }
    for feature in imported.outputs {
      description.output.append(try declare(feature, options.imageOutputs))
    }
    try options.preprocessing.requireColor(of: description)
    description.metadata = metadata(imported, options)
    var model = Model()
    if let classifier = options.classifier {
      model.type = .neuralNetworkClassifier(
        try ClassifierBuilder(classifier, imported).classifier(network, &description))
    } else {
      model.type = .neuralNetwork(network)
    }
    model.description = description
    model.specificationVersion = model.minimumSpecificationVersion
    if let maximum = options.maximumVersion { try model.requireVersion(atMost: maximum) }
    return model
  }

  /// Checks that every name in the options is the name of a feature.
  private static func check(_ options: ConversionOptions, _ network: ImportedNetwork) throws {
    let inputs = network.inputs.map(\.name)
    let outputs = network.outputs.map(\.name)
    func check(_ names: some Sequence<String>, _ option: String, among features: [String]) throws {
      for name in names where !features.contains(name) {
        throw ModelError(
          .mismatch, "\(option) names '\(name)', but the model has no such feature",
          hint: "it has " + features.map { "'\($0)'" }.joined(separator: ", "))
      }
    }
    func check(_ names: [String], of features: [String], _ kind: String, replacing own: [String])
      throws
    {
      try require(
        names.count <= features.count, .mismatch,
        "\(counted(names.count, "\(kind) name")) for \(counted(features.count, kind))",
        hint: "the \(kind)s are \(own.map { "'\($0)'" }.joined(separator: ", "))")
    }
    try check(options.inputNames, of: inputs, "input", replacing: options.replacedNames[0])
    try check(options.outputNames, of: outputs, "output", replacing: options.replacedNames[1])
    let images = options.preprocessing
    try check(options.imageInputs, "\(setting: "imageInput")", among: inputs)
    try check(options.imageOutputs, "\(setting: "imageOutput")", among: outputs)
    try check(images.color.named.keys.sorted(), "\(setting: "color")", among: inputs + outputs)
    try check(images.scale.named.keys.sorted(), "\(setting: "imageScale")", among: inputs)
    try check(images.redBias.named.keys.sorted(), "\(setting: "redBias")", among: inputs)
    try check(images.greenBias.named.keys.sorted(), "\(setting: "greenBias")", among: inputs)
    try check(images.blueBias.named.keys.sorted(), "\(setting: "blueBias")", among: inputs)
    try check(images.grayBias.named.keys.sorted(), "\(setting: "grayBias")", among: inputs)
    try check(images.mean.named.keys.sorted(), "\(setting: "imageMean")", among: inputs)
    try check(images.meanImage.named.keys.sorted(), "\(setting: "imageMean")", among: inputs)
    try check(images.std.named.keys.sorted(), "\(setting: "imageStd")", among: inputs)
    try check(
      options.metadata.descriptions.keys.sorted(), "\(setting: "description")",
      among: inputs + outputs)
    try check(options.inputShapes.keys.sorted(), "\(setting: "inputShape")", among: inputs)
  }

  private static func array(
    _ feature: ImportedFeature, _ declaresBlobs: Bool, _ options: ConversionOptions
  ) -> ArrayFeatureType {
    var array = ArrayFeatureType(
      shape: feature.shape, dataType: feature.isState ? .double : options.arrayType)
    guard declaresBlobs, let shape = feature.blobShape else { return array }
    array.shape = shape.map { $0 ?? ImportedFeature.typicalSteps }
    if shape.contains(nil) {
      array.flexibility = .range(shape.map { SizeRange($0 ?? 1, $0 ?? -1) })
    }
    return array
  }

  private static func isImage(_ shape: [Int]) -> Bool {
    shape.count == 3 && (shape[0] == 1 || shape[0] == 3)
  }

  private static func image(
    _ feature: ImportedFeature, _ options: ConversionOptions
  ) throws -> ImageFeatureType {
    try require(
      isImage(feature.shape), .mismatch,
      "'\(feature.name)' cannot be an image: its shape (C, H, W) is \(feature.shape)",
      hint: "an image has 1 or 3 channels")
    let natural: ImageFeatureType.ColorSpace = feature.shape[0] == 1 ? .grayscale : .rgb
    let preset: ImageFeatureType.ColorSpace? =
      natural == .rgb ? options.preprocessing.preset?.colorSpace : nil
    let named = options.preprocessing.color.named[feature.name]
    // A color order for all inputs applies to those with the same number of channels.
    let common = options.preprocessing.color.all.flatMap {
      $0.channelCount == natural.channelCount ? $0 : nil
    }
    let color = named ?? common ?? preset ?? natural
    try require(
      color.channelCount == feature.shape[0], .mismatch,
      "'\(feature.name)' has \(feature.shape[0]) channels, but its color space has \(color.channelCount)"
    )
    return ImageFeatureType(width: feature.shape[2], height: feature.shape[1], colorSpace: color)
  }

  private static func metadata(
    _ network: ImportedNetwork, _ options: ConversionOptions
  ) -> Metadata {
    var metadata = Metadata()
    metadata.author = options.metadata.author
    metadata.license = options.metadata.license
    metadata.shortDescription = options.metadata.shortDescription
    metadata.versionString = options.metadata.versionString
    metadata.userDefined = options.metadata.userDefined
    metadata.userDefined["assay.source"] = network.source
    if let count = network.trainableParameterCount {
      metadata.userDefined["assay.trainable"] = String(count)
    }
    metadata.userDefined.merge(layouts(network, options)) { _, own in own }
    for feature in network.inputs where !feature.sourceShape.isEmpty {
      metadata.userDefined["assay.shape.\(feature.name)"] =
        feature.sourceShape.map { $0.map(String.init) ?? "?" }.joined(separator: ",")
    }
    for feature in network.inputs where feature.hasIntegers {
      metadata.userDefined["assay.type.\(feature.name)"] = "int32"
    }
    return metadata
  }

  /// `assay.layout.NAME` for each feature, `assay.layout` for the most common layout of inner
  /// blobs, and `assay.layout.NAME` for the remaining blobs.
  private static func layouts(
    _ network: ImportedNetwork, _ options: ConversionOptions
  ) -> [String: String] {
    let features = Set((network.inputs + network.outputs).map(\.name))
    let blobs = Set(network.layers.flatMap(\.output)).subtracting(features)
    let (isExact, declaresBlobs) = (network.needsExactMapping, network.declaresBlobs)
    var layouts: [String: String] = [:]
    func record(_ letters: String, _ name: String?, isBlob: Bool) {
      let key = ["assay.layout", name].compactMap { $0 }.joined(separator: ".")
      layouts[key] = isBlob ? letters + ":" + ImportedFeature.blobAxes : letters
    }
    let inside = network.blobLayouts.filter { blobs.contains($0.key) && !$0.value.isEmpty }
    let counts = Dictionary(inside.values.map { ($0, 1) }, uniquingKeysWith: +)
    let most = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
    if let most { record(most, nil, isBlob: isExact) }
    for (name, letters) in inside where letters != most { record(letters, name, isBlob: isExact) }
    for feature in network.inputs + network.outputs where !feature.layout.isEmpty {
      record(
        feature.layout, feature.name,
        isBlob: declaresBlobs && !options.imageInputs.contains(feature.name)
          && !options.imageOutputs.contains(feature.name))
    }
    return layouts
  }
}
