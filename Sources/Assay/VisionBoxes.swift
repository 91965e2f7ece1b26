import CoreMLModel
import CustomLayers
import Detection
import Engine
import ModelPrediction
import TensorCore

extension Model {
  /// A pipeline of this detector with layers that decode its boxes, and non-maximum suppression.
  /// Vision turns its outputs into `VNRecognizedObjectObservation`s.
  ///
  /// - Throws: `.mismatch` if the metadata do not describe the boxes, `.unsupported` if their
  ///   decoding is not a fixed computation of the outputs.
  package func withVisionBoxes(customLayers: CustomLayerRegistry) throws -> Model {
    guard case .neuralNetwork(var network)? = type, var description,
      let image = description.input.first(where: { $0.type?.kind?.imageType != nil }),
      let size = image.type?.kind?.imageType
    else {
      throw ModelError(
        .mismatch, "\(setting: "visionBoxes") needs a network with an image input",
        hint: "convert with \(setting: "imageInput")")
    }
    try require(
      description.input.count == 1 && image.type?.isFlexible != true, .mismatch,
      "\(setting: "visionBoxes") needs one input, an image of one size")
    var options = Predictor.Options()
    options.engine.customLayers = customLayers
    let predictor = try Predictor(model: self, options: options)
    // The shapes of all blobs, and the values of constant ones.
    let blobs = try predictor.outputBlobs(predictor.randomBlobs(seed: 1))
    let settings = DetectorSettings(metadata: description.metadata?.userDefined ?? [:])
    let detector = try Detector(
      .auto, settings: settings, width: size.width, height: size.height)
    let outputs = predictor.assembled([blobs]).outputs.map {
      DetectorOutput(name: $0.name, value: $0.value, channels: $0.channels)
    }
    var layers = BoxLayers(network, size: size, blobs: blobs)
    var parts: [BoxLayers.Rows] = []
    for decoding in try detector.decodings(of: outputs) {
      parts.append(try layers.rows(decoding, labels: detector.labels?.count, views: outputs))
    }
    let classes = parts.map(\.classes).max() ?? 0
    try require(
      parts.allSatisfy { $0.classes == classes } && classes > 0, .mismatch,
      "the outputs have different numbers of classes")
    let count = try layers.finish(parts)
    network.layers = layers.layers
    network.removeUnused([BoxLayers.confidence, BoxLayers.coordinates])

    func array(_ name: String, _ rows: Int?, _ columns: Int) -> FeatureDescription {
      var array = ArrayFeatureType(shape: rows.map { [$0, columns] } ?? [], dataType: .double)
      if rows == nil {
        array.flexibility = .range([SizeRange(0, -1), SizeRange(columns, columns)])
      }
      return FeatureDescription(name: name, kind: .multiArray(array))
    }
    var decoder = self
    decoder.type = .neuralNetwork(network)
    decoder.description?.output = [
      array(BoxLayers.confidence, count, classes), array(BoxLayers.coordinates, count, 4),
    ]
    decoder.description?.metadata = nil

    var suppression = NonMaximumSuppressionModel()
    suppression.method = .pickTop(perClass: true)
    suppression.labels = .string((0..<classes).map(detector.label))
    (suppression.overlap, suppression.confidence) = (detector.overlap, detector.threshold)
    (suppression.confidenceInput, suppression.coordinatesInput) = (
      BoxLayers.confidence, BoxLayers.coordinates
    )
    (suppression.overlapInput, suppression.confidenceThresholdInput) = (
      "iouThreshold", "confidenceThreshold"
    )
    (suppression.confidenceOutput, suppression.coordinatesOutput) = ("confidence", "coordinates")
    func threshold(_ name: String, _ value: Double, _ text: String) -> FeatureDescription {
      var feature = FeatureDescription(name: name, kind: .double, isOptional: true)
      feature.shortDescription = "\(text) (default: \(value))"
      return feature
    }
    let thresholds = [
      threshold("iouThreshold", detector.overlap, "The largest overlap of two boxes of a class"),
      threshold("confidenceThreshold", detector.threshold, "The smallest confidence of a box"),
    ]
    var confidence = array("confidence", nil, classes)
    confidence.shortDescription = "Boxes × classes"
    var coordinates = array("coordinates", nil, 4)
    coordinates.shortDescription = "Boxes × [x, y, width, height], x and y the center, from 0 to 1"
    var last = Model()
    last.type = .features(FeatureModel(suppression))
    last.description?.input = decoder.description?.output ?? []
    last.description?.output = [confidence, coordinates]
    var pipeline = Pipeline()
    for var part in [decoder, last] {
      part.specificationVersion = part.minimumSpecificationVersion
      pipeline.models.append(part)
    }
    pipeline.names = ["network", "suppression"]

    description.input += thresholds
    description.output = [confidence, coordinates]
    for key in description.metadata?.userDefined.keys.sorted() ?? []
    where key.hasPrefix(DetectorSettings.prefix)
      || outputs.contains(where: { key.contains($0.name) })
    {
      description.metadata?.userDefined[key] = nil
    }
    var result = self
    result.description = description
    result.type = .pipeline(pipeline)
    result.specificationVersion = result.minimumSpecificationVersion
    return result
  }
}

extension FeatureType.Kind {
  fileprivate var imageType: ImageFeatureType? {
    if case .image(let image) = self { image } else { nil }
  }
}

extension NeuralNetwork {
  /// Removes layers whose outputs are never read.
  fileprivate mutating func removeUnused(_ outputs: [String]) {
    var needed = Set(outputs)
    var kept: [NeuralNetworkLayer] = []
    for layer in layers.reversed() where !needed.isDisjoint(with: layer.output) {
      needed.formUnion(layer.input)
      kept.append(layer)
    }
    layers = kept.reversed()
  }
}
