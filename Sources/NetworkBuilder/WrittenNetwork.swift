import CoreMLModel
import CustomLayers
import ModelPrediction
import TensorCore

/// A network as a document, and what is needed to run it.
struct WrittenNetwork {
  /// A row of the summary.
  struct Row {
    var name: String
    var type: String
    var shape: TensorShape
    /// Nil if the layer's weights were counted at an earlier application.
    var parameterCount: Int?
  }

  let model: Model
  let inputs: [BoundInput]
  /// The tensors in the document, by tensor ID.
  let tensors: [Int: WrittenTensor]
  let rows: [Row]

  init(
    _ graph: TensorGraph, outputs: [NetworkTensor], weights: WeightSource,
    customLayers: CustomLayerRegistry
  ) throws {
    let document = DocumentWriter(weights, names: graph.names)
    var tensors: [Int: WrittenTensor] = [:]
    var rows: [Row] = []
    var inputs: [BoundInput] = []
    var applications: [ObjectIdentifier: Int] = [:]
    let features = Self.featureCounts(graph)
    for tensor in graph.tensors {
      let written: WrittenTensor
      switch tensor.source {
      case .input(_, let shape):
        let name = graph.inputNames[tensor.id] ?? ""
        written = WrittenTensor(blob: name, shape: shape)
        rows.append(Row(name: name, type: "Input", shape: shape, parameterCount: 0))
        if features[tensor.id]?.isDirect == true {
          inputs.append(BoundInput(name: name, feature: name, kind: .array(shape)))
        }
      case .layer(let layer, let parents):
        let own = graph.layerNames[ObjectIdentifier(layer)] ?? ""
        let number = applications[ObjectIdentifier(layer), default: 0] + 1
        applications[ObjectIdentifier(layer)] = number
        let name = number == 1 ? own : document.uniqueApplication(own, number)
        let type = layer.definition.typeName
        let first = document.layers.count
        do {
          if let resize = tensor.resize, let input = parents.first {
            try resize.check()
            let count = features[input.id]
            let isOnly = count.map { !$0.isDirect && $0.resizes == 1 } ?? false
            let inputName = graph.inputNames[input.id] ?? ""
            let feature = isOnly ? inputName : name
            let declared = tensors[input.id]?.shape ?? TensorShape()
            inputs.append(
              BoundInput(name: inputName, feature: feature, kind: .image(resize, declared, name)))
            written = WrittenTensor(blob: feature, shape: resize.shape)
          } else {
            let scope = LayerScope(
              name: name, weightName: own, customLayers: customLayers, document: document)
            let inputs = parents.compactMap { tensors[$0.id] }
            if !(layer.definition is CoreMLDefinition) {
              for input in inputs where input.exact != nil { _ = try input.knownShape() }
            }
            written = try layer.definition.write(inputs, scope)
          }
        } catch let error as ModelError {
          throw error.inLayer(name, class: type)
        }
        let count = document.layers[first...].reduce(0) {
          $0 + ($1.parameters?.parameterCount ?? 0)
        }
        rows.append(
          Row(
            name: name, type: type, shape: written.shape, parameterCount: number == 1 ? count : nil)
        )
      }
      tensors[tensor.id] = written
    }
    self.tensors = tensors
    self.rows = rows
    self.inputs = inputs
    model = try Self.model(
      document.layers, inputs,
      outputs: outputs.map { output in
        guard !output.isInput, output.resize == nil, let written = tensors[output.id] else {
          throw ModelError(.mismatch, "an input cannot be an output without a layer in between")
        }
        if written.exact != nil { _ = try written.knownShape() }
        return written
      })
  }

  /// How each input is used: directly by layers, and by resizes.
  private static func featureCounts(_ graph: TensorGraph) -> [Int: (isDirect: Bool, resizes: Int)] {
    var counts: [Int: (isDirect: Bool, resizes: Int)] = [:]
    for tensor in graph.tensors {
      for parent in tensor.parents where parent.isInput {
        var count = counts[parent.id] ?? (false, 0)
        if tensor.resize != nil { count.resizes += 1 } else { count.isDirect = true }
        counts[parent.id] = count
      }
    }
    return counts
  }

  private static func model(
    _ layers: [NeuralNetworkLayer], _ inputs: [BoundInput], outputs: [WrittenTensor]
  ) throws -> Model {
    var network = NeuralNetwork()
    network.layers = layers
    // Layers of Core ML 3 need arrays with all five axes of blobs.
    let isExact = layers.contains(where: \.needsExactMapping)
    if isExact { network.arrayInputShapeMapping = .exact }
    let axes = isExact ? ":SNCHW" : ""
    var description = ModelDescription()
    var metadata = Metadata()
    metadata.userDefined["assay.source"] = "NetworkBuilder"
    metadata.userDefined[SourceLayout.blobKey] = "NHWC" + axes
    func array(_ name: String, _ shape: TensorShape, _ what: String) throws -> FeatureDescription {
      let sizes = try shape.sizes.orThrow(
        ModelError(
          .mismatch, "the size of the \(what) '\(name)' is unknown: \(shape)",
          hint: "pass sizes to Input(width:height:channels:), or add a Resize after it"))
      for (size, field) in zip(sizes, ["height", "width", "channels"]) {
        do { try requirePositive(size, field) } catch let error as ModelError {
          throw error.inLayer(name, class: "Input")
        }
      }
      let layout = (shape.isVector ? "NC" : "NHWC") + axes
      metadata.userDefined[SourceLayout.metadataPrefix + name] = layout
      let item = shape.isVector ? [sizes[2]] : [sizes[2], sizes[0], sizes[1]]
      return FeatureDescription(
        name: name,
        kind: .multiArray(
          ArrayFeatureType(
            shape: shape.blob.flatMap { isExact ? $0 : nil } ?? item, dataType: .float32)))
    }
    for input in inputs {
      switch input.kind {
      case .array(let shape):
        description.input.append(try array(input.feature, shape, "input"))
      case .image(let resize, _, _):
        description.input.append(
          FeatureDescription(
            name: input.feature,
            kind: .image(
              ImageFeatureType(
                width: resize.width, height: resize.height, colorSpace: resize.colorSpace))))
        if let preprocessing = resize.preprocessing(input.feature) {
          network.preprocessing.append(preprocessing)
        }
      }
    }
    for output in outputs {
      try require(
        !description.output.contains(where: { $0.name == output.blob }), .mismatch,
        "'\(output.blob)' is listed as an output twice")
      description.output.append(try array(output.blob, output.shape, "output"))
    }
    description.metadata = metadata
    var model = Model()
    model.type = .neuralNetwork(network)
    model.description = description
    model.specificationVersion = model.minimumSpecificationVersion
    return model
  }
}

extension ResizeDefinition {
  var colorSpace: ImageFeatureType.ColorSpace {
    switch colors {
    case .rgb: .rgb
    case .bgr: .bgr
    case .grayscale: .grayscale
    }
  }

  /// Scale and biases; nil if samples reach the network unchanged.
  fileprivate func preprocessing(_ feature: String) -> NeuralNetworkPreprocessing? {
    guard scale != 1 || bias.contains(where: { $0 != 0 }) else { return nil }
    var scaler = NeuralNetworkImageScaler()
    scaler.channelScale = scale
    if colors == .grayscale {
      scaler.grayBias = bias[0]
    } else {
      scaler.redBias = bias[0]
      scaler.greenBias = bias[bias.count == 1 ? 0 : 1]
      scaler.blueBias = bias[bias.count == 1 ? 0 : 2]
    }
    var preprocessing = NeuralNetworkPreprocessing()
    preprocessing.featureName = feature
    preprocessing.preprocessor = .scaler(scaler)
    return preprocessing
  }
}
