import TensorCore
import TestSupport
import Testing

@testable import CoreMLModel

/// Models that Core ML's validator rejects are rejected, with the location. If it is available, the
/// validator must also reject each of these, and accept the models from which they were made.
struct BreachTests {
  struct Breach: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// A part of one of the errors.
    let text: String
    let model: @Sendable () -> Model

    init(_ name: String, _ text: String, _ model: @escaping @Sendable () -> Model) {
      testDescription = name
      self.text = text
      self.model = model
    }
  }

  @Test(arguments: [image(), vector(), exact(), sequence(), classifier(), pipeline()])
  func soundModels(_ model: Model) throws {
    #expect(model.validate() == [])
    #expect(try refusals(model) == [])
  }

  @Test(
    arguments: files + features + graphs + ranks + weights + parameters + recurrences + classes
      + pipelines)
  func isRefused(_ breach: Breach) throws {
    let model = breach.model()
    let found = model.validate().map(\.description)
    #expect(found.contains { $0.contains(breach.text) }, "\(found)")
    if Shared.has(AppleValidator.name) { #expect(try refusals(model) != []) }
  }

  /// Core ML's validator accepts these, but references to the name are ambiguous.
  @Test func twoLayersOfOneName() {
    var model = Self.vector()
    model.neuralNetwork?.layers[1].name = "dense"
    let found = model.validate()
    #expect(found.map(\.layer) == ["dense"] && found.map(\.field) == ["name"], "\(found)")
  }

  private func refusals(_ model: Model) throws -> [String] {
    try withTemporaryFolder { folder in
      try model.write(to: folder + "/m.mlmodel")
      return try AppleValidator.refusals(of: [folder + "/m.mlmodel"])
    }
  }
}

// MARK: - Valid models

extension BreachTests {
  private static func array(_ shape: [Int]) -> FeatureType.Kind {
    .multiArray(ArrayFeatureType(shape: shape, dataType: .double))
  }

  private static func network(
    _ layers: [NeuralNetworkLayer], input: FeatureType.Kind, output: String
  ) -> Model {
    var network = NeuralNetwork()
    network.layers = layers
    var model = Model()
    model.specificationVersion = 1
    model.type = .neuralNetwork(network)
    model.description?.input = [FeatureDescription(name: "in", kind: input)]
    model.description?.output = [FeatureDescription(name: output, kind: array([]))]
    return model
  }

  private static func dense(_ inputs: Int, _ outputs: Int) -> InnerProduct {
    var layer = InnerProduct()
    layer.inputChannels = inputs
    layer.outputChannels = outputs
    layer.hasBias = true
    layer.matrix = Weights([Float](repeating: 1, count: inputs * outputs))
    layer.bias = Weights([Float](repeating: 1, count: outputs))
    return layer
  }

  private static func convolution() -> Convolution {
    var layer = Convolution()
    layer.outputChannels = 1
    layer.kernelChannels = 3
    layer.kernelSize = [1, 1]
    layer.padding = .valid(ValidPadding())
    layer.kernel = Weights([1, 2, 3])
    return layer
  }

  /// `[3, 4, 4]` through one layer of each of several types.
  static func image() -> Model {
    var padding = Padding()
    padding.kind = .constant(value: 0)
    padding.paddingAmounts = BorderAmounts(top: 1, bottom: 1, left: 1, right: 1)
    var pooling = Pooling()
    pooling.padding = .same(SamePadding())
    pooling.kernelSize = [2, 2]
    pooling.stride = [2, 2]
    var scale = Scale()
    scale.shapeScale = [1]
    scale.scale = Weights([2])
    var slice = Slice()
    slice.axis = .width
    slice.endIndex = 2
    slice.stride = 1
    return network(
      [
        NeuralNetworkLayer("conv", convolution(), input: ["in"], output: ["a"]),
        NeuralNetworkLayer("relu", Activation(.relu), input: ["a"], output: ["b"]),
        NeuralNetworkLayer("pad", padding, input: ["b"], output: ["c"]),
        NeuralNetworkLayer("pool", pooling, input: ["c"], output: ["d"]),
        NeuralNetworkLayer("scale", scale, input: ["d"], output: ["e"]),
        NeuralNetworkLayer("slice", slice, input: ["e"], output: ["f"]),
        NeuralNetworkLayer("concat", Concat(), input: ["f", "f"], output: ["out"]),
      ], input: array([3, 4, 4]), output: "out")
  }

  /// `[4]` through two layers.
  static func vector() -> Model {
    network(
      [
        NeuralNetworkLayer("dense", dense(4, 2), input: ["in"], output: ["a"]),
        NeuralNetworkLayer("tanh", Activation(.tanh), input: ["a"], output: ["out"]),
      ], input: array([4]), output: "out")
  }

  /// `[2, 3]` with exact ranks.
  static func exact() -> Model {
    var model = network(
      [
        NeuralNetworkLayer("sum", AddBroadcastable(), input: ["in", "in"], output: ["a"]),
        NeuralNetworkLayer("abs", Unary(), input: ["a"], output: ["out"]),
      ], input: array([2, 3]), output: "out")
    model.specificationVersion = 4
    model.neuralNetwork?.arrayInputShapeMapping = .exact
    return model
  }

  /// `[2]` per step through a recurrent layer.
  static func sequence() -> Model {
    var layer = SimpleRecurrent()
    layer.inputVectorSize = 2
    layer.outputVectorSize = 1
    layer.activation = Activation(.tanh)
    layer.weightMatrix = Weights([1, 2])
    layer.recursionMatrix = Weights([1])
    var model = network(
      [
        NeuralNetworkLayer(
          "rnn", layer, input: ["in", "state"], output: ["out", "state_out"])
      ], input: array([2]), output: "out")
    model.description?.input.append(
      FeatureDescription(name: "state", kind: array([1]), isOptional: true))
    return model
  }

  static func classifier() -> Model {
    var model = vector()
    var classifier = NeuralNetworkClassifier()
    classifier.network = model.neuralNetwork ?? NeuralNetwork()
    classifier.classLabels = .string(["a", "b"])
    classifier.labelProbabilityLayerName = "out"
    model.type = .neuralNetworkClassifier(classifier)
    model.description?.output = [
      FeatureDescription(name: "label", kind: .string),
      FeatureDescription(name: "scores", kind: .dictionary(.string)),
    ]
    model.description?.predictedFeatureName = "label"
    model.description?.predictedProbabilitiesName = "scores"
    return model
  }

  /// `vector`, followed by the sum of its output with itself.
  static func pipeline() -> Model {
    var first = vector()
    first.description?.output[0].type?.kind = array([2])
    var second = network(
      [NeuralNetworkLayer("double", Add(), input: ["out", "out"], output: ["twice"])],
      input: array([2]), output: "twice")
    second.description?.input[0].name = "out"
    second.description?.output[0].type?.kind = array([2])
    var pipeline = Pipeline()
    pipeline.models = [first, second]
    pipeline.names = ["first", "second"]
    var model = Model()
    model.specificationVersion = 1
    model.type = .pipeline(pipeline)
    model.description?.input = first.description?.input ?? []
    model.description?.output = second.description?.output ?? []
    return model
  }
}

// MARK: - Breaches

extension BreachTests {
  private static func changed(
    _ model: @autoclosure @escaping @Sendable () -> Model,
    _ name: String, _ text: String, _ change: @escaping @Sendable (inout Model) -> Void
  ) -> Breach {
    Breach(name, text) {
      var model = model()
      change(&model)
      return model
    }
  }

  /// Changes the parameters of the first layer of the given type.
  private static func layer<Layer: LayerParameters>(
    _ model: @autoclosure @escaping @Sendable () -> Model,
    _ name: String, _ text: String, _ change: @escaping @Sendable (inout Layer) -> Void
  ) -> Breach {
    changed(model(), name, text) { model in
      let layers = model.neuralNetwork?.layers ?? []
      guard let index = layers.firstIndex(where: { $0.parameters is Layer }),
        var parameters = layers[index].parameters as? Layer
      else { return }
      change(&parameters)
      model.neuralNetwork?.layers[index].parameters = parameters
    }
  }

  static let files = [
    changed(vector(), "version 0", "specification version 0 is not supported") {
      $0.specificationVersion = 0
    },
    changed(vector(), "version 11", "specification version 11 is not supported") {
      $0.specificationVersion = 11
    },
    changed(vector(), "no type", "type: the model's type is missing") { $0.type = nil },
    changed(vector(), "updatable version 1", "an updatable model needs version 4") {
      $0.isUpdatable = true
    },
    changed(vector(), "no outputs", "the model has no output") { $0.description?.output = [] },
    changed(vector(), "no layers", "the network has no layers") { $0.neuralNetwork?.layers = [] },
  ]

  static let features = [
    changed(vector(), "no name", "the feature has no name") { $0.description?.input[0].name = "" },
    changed(vector(), "no feature type", "description.input.in: the feature has no type") {
      $0.description?.input[0].type?.kind = nil
    },
    changed(
      vector(), "input of text", "description.input.in: a network accepts only images and arrays"
    ) {
      $0.description?.input[0].type?.kind = .string
    },
    changed(vector(), "output of text", "a network produces only images and arrays") {
      $0.description?.output[0].type?.kind = .string
    },
    changed(vector(), "no data type", "description.input.in: the data type is missing") {
      $0.description?.input[0].type?.kind = .multiArray(
        ArrayFeatureType(shape: [4], dataType: .invalid))
    },
    changed(vector(), "half precision in version 1", "needs specification version 7") {
      $0.description?.input[0].type?.kind = .multiArray(
        ArrayFeatureType(shape: [4], dataType: .float16))
    },
    changed(vector(), "no shape", "description.input.in: the shape is missing") {
      $0.description?.input[0].type?.kind = array([])
    },
    changed(vector(), "the only input optional", "the only input, 'in', is optional") {
      $0.description?.input[0].type?.isOptional = true
    },
    changed(sequence(), "all inputs optional", "all inputs are optional") {
      $0.description?.input[0].type?.isOptional = true
    },
    changed(vector(), "optional output", "an output cannot be optional") {
      $0.description?.output[0].type?.isOptional = true
    },
    changed(image(), "image without colors", "description.input.in: the color space is missing") {
      $0.description?.input[0].type?.kind = .image(
        ImageFeatureType(width: 4, height: 4, colorSpace: .invalid))
    },
    changed(image(), "image without a size", "an image of 0 × 0") {
      $0.description?.input[0].type?.kind = .image(
        ImageFeatureType(width: 0, height: 0, colorSpace: .rgb))
    },
    flexible("no shape to choose", "enumeratedShapes: there are none", .enumerated([])),
    flexible("another default", "the shape [4] is not one of them", .enumerated([[5], [6]])),
    flexible("an empty range", "9 to 5 is not a valid range", .range([SizeRange(9, 5)])),
    flexible(
      "a default out of range", "5 to 9 does not include the shape's 4", .range([SizeRange(5, 9)])),
    flexible(
      "ranges of another rank", "2 sizes, but the shape has 1",
      .range([SizeRange(1, 9), SizeRange(1, 9)])),
    changed(exact(), "default of another type", "is not of the data type") {
      var array = ArrayFeatureType(shape: [2, 3], dataType: .double)
      array.defaultValue = .float(1)
      $0.specificationVersion = 5
      $0.description?.input[0].type?.kind = .multiArray(array)
    },
  ]

  private static func flexible(
    _ name: String, _ text: String, _ flexibility: ArrayFeatureType.Flexibility
  ) -> Breach {
    changed(vector(), name, text) {
      var array = ArrayFeatureType(shape: [4], dataType: .double)
      array.flexibility = flexibility
      $0.specificationVersion = 3
      $0.description?.input[0].type?.kind = .multiArray(array)
    }
  }

  static let graphs = [
    changed(vector(), "missing blob", "input: no earlier layer produces 'nowhere'") {
      $0.neuralNetwork?.layers[1].input = ["nowhere"]
    },
    changed(vector(), "cycle", "input: no earlier layer produces 'out'") {
      $0.neuralNetwork?.layers[0].input = ["out"]
    },
    changed(vector(), "blob produced twice", "output: 'a' is produced more than once") {
      $0.neuralNetwork?.layers[1].output = ["a"]
    },
    changed(vector(), "input as output", "description.output.in: no layer produces it") {
      $0.description?.output[0].name = "in"
    },
    changed(vector(), "output without a layer", "description.output.y: no layer produces it") {
      $0.description?.output[0].name = "y"
    },
    changed(vector(), "layer without type", "layer: the layer's type is missing") {
      $0.neuralNetwork?.layers[1].parameters = nil
    },
    changed(image(), "concat of one", "input: the layer cannot have 1 input") {
      $0.neuralNetwork?.layers[6].input = ["f"]
    },
    changed(vector(), "two inputs of a dense layer", "input: the layer cannot have 2 inputs") {
      $0.neuralNetwork?.layers[0].input = ["in", "in"]
    },
    changed(vector(), "two outputs of a function", "output: the layer cannot have 2 outputs") {
      $0.neuralNetwork?.layers[1].output = ["out", "more"]
    },
  ]

  static let ranks = [
    changed(vector(), "rank 2", "the shape [2, 2] has a rank of 2") {
      $0.description?.input[0].type?.kind = array([2, 2])
    },
    changed(image(), "rank 5", "has a rank of 5") {
      $0.description?.input[0].type?.kind = array([1, 1, 3, 4, 4])
    },
    changed(exact(), "outdated mapping", "layers of this type need EXACT_ARRAY_MAPPING") {
      $0.description?.input[0].type?.kind = array([3])
      $0.neuralNetwork?.arrayInputShapeMapping = .rank5
    },
    changed(vector(), "images of rank 4", "RANK4_IMAGE_MAPPING needs EXACT_ARRAY_MAPPING") {
      $0.specificationVersion = 4
      $0.neuralNetwork?.imageInputShapeMapping = .rank4
    },
    changed(image(), "convolution of rank 3", "input: a rank of 3, not 4 or more") {
      $0.specificationVersion = 4
      $0.neuralNetwork?.arrayInputShapeMapping = .exact
    },
    changed(exact(), "function that changes the rank", "a rank of 3, but the input's is 2") {
      $0.description?.output[0].type?.kind = array([1, 2, 3])
      $0.neuralNetwork?.layers = [
        NeuralNetworkLayer("abs", Unary(), input: ["in"], output: ["out"])
      ]
    },
    changed(exact(), "tensor of another rank", "'in' has the rank 2, not 3") {
      var tensor = TensorDescription()
      tensor.rank = 3
      $0.neuralNetwork?.layers[0].inputTensor = [tensor, tensor]
    },
    changed(exact(), "wrong number of tensors", "1 tensors for 2 blobs") {
      var tensor = TensorDescription()
      tensor.rank = 2
      $0.neuralNetwork?.layers[0].inputTensor = [tensor]
    },
    changed(exact(), "recurrence of rank 2", "a rank of 2, not 5") {
      $0.neuralNetwork?.layers = sequence().neuralNetwork?.layers ?? []
      $0.description?.input.append(FeatureDescription(name: "state", kind: array([1])))
    },
  ]

  static let weights: [Breach] = [
    layer(vector(), "weight count", "weights: 7 values; 8 are needed") {
      (layer: inout InnerProduct) in layer.matrix = Weights([Float](repeating: 1, count: 7))
    },
    layer(vector(), "bias count", "bias: 3 values; 2 are needed") {
      (layer: inout InnerProduct) in layer.bias = Weights([1, 2, 3])
    },
    layer(image(), "no weights", "weights: the values are missing") {
      (layer: inout Convolution) in layer.kernel = nil
    },
    layer(
      image(), "two storages", "weights: values are stored both as floatValue and as float16Value"
    ) {
      (layer: inout Convolution) in
      layer.kernel?.float16Value = Bytes([UInt8](repeating: 0, count: 6))
    },
    layer(vector(), "two precisions", "precision in one layer") { (layer: inout InnerProduct) in
      layer.bias = Weights()
      layer.bias?.float16Value = Bytes([UInt8](repeating: 0, count: 4))
    },
    layer(
      vector(), "nine bits",
      "layer 'dense' (innerProduct): weights.quantization: raw bytes without a number of bits from 1 to 8"
    ) {
      (layer: inout InnerProduct) in
      layer.matrix = codes(9, [UInt8](repeating: 0, count: 9), .linear(scale: [1], bias: []))
    },
    layer(vector(), "too few codes", "weights") { (layer: inout InnerProduct) in
      layer.matrix = codes(8, [1, 2], .linear(scale: [1], bias: []))
    },
    layer(vector(), "scales", "weights") { (layer: inout InnerProduct) in
      layer.matrix = codes(
        8, [UInt8](repeating: 0, count: 8), .linear(scale: [1, 2, 3], bias: []))
    },
    layer(vector(), "table", "weights") { (layer: inout InnerProduct) in
      layer.matrix = codes(1, [0], .lookupTable([1, 2, 3]))
    },
    layer(image(), "scales in groups", "1 is needed") { (layer: inout Convolution) in
      // Three groups with one input channel and one of two output channels each.
      (layer.isDeconvolution, layer.nGroups, layer.kernelChannels) = (true, 3, 3)
      (layer.outputChannels, layer.hasBias, layer.bias) = (6, false, nil)
      let count = layer.kernelShape.reduce(1, *)
      layer.kernel = codes(
        8, [UInt8](repeating: 0, count: count), .linear(scale: [1, 1], bias: [0, 0]))
    },
    layer(vector(), "no quantization", "weights") { (layer: inout InnerProduct) in
      layer.matrix = codes(8, [UInt8](repeating: 0, count: 8), nil)
    },
  ]

  private static func codes(
    _ bits: Int, _ bytes: [UInt8], _ kind: Quantization.Kind?
  ) -> Weights {
    var quantization = Quantization()
    quantization.numberOfBits = bits
    quantization.kind = kind
    var weights = Weights()
    weights.rawValue = Bytes(bytes)
    weights.quantization = quantization
    return weights
  }

  static let parameters: [Breach] = [
    layer(image(), "no padding type of a convolution", "layer 'conv' (convolution)") {
      (layer: inout Convolution) in layer.padding = nil
    },
    layer(image(), "no padding type of a pooling", "layer 'pool' (pooling)") {
      (layer: inout Pooling) in layer.padding = nil
    },
    layer(image(), "no function", "NonlinearityType: the function is missing") {
      (layer: inout Activation) in
      layer = Activation()
    },
    layer(image(), "no kind of padding", "layer 'pad' (padding)") { (layer: inout Padding) in
      layer.kind = nil
    },
    layer(image(), "one amount of padding", "layer 'pad' (padding)") { (layer: inout Padding) in
      layer.paddingAmounts?.borderAmounts.removeLast()
    },
    layer(image(), "scale of two sizes", "one or three sizes are needed") {
      (layer: inout Scale) in layer.shapeScale = [1, 1]
    },
    layer(image(), "stride 0", "layer 'slice' (slice)") { (layer: inout Slice) in
      layer.stride = 0
    },
    layer(image(), "end before start", "layer 'slice' (slice)") { (layer: inout Slice) in
      (layer.startIndex, layer.endIndex) = (3, 2)
    },
    replaced("permute of three axes", "permute") {
      var layer = Permute()
      layer.axis = [0, 1, 2]
      return layer
    },
    replaced("reshape to two sizes", "reshape") {
      var layer = Reshape()
      layer.targetShape = [4, 12]
      return layer
    },
    replaced("block of 1", "reorganizeData") {
      var layer = ReorganizeData()
      layer.blockSize = 1
      return layer
    },
    replaced("three factors", "upsample") {
      var layer = Upsample()
      layer.scalingFactor = [2, 2, 2]
      return layer
    },
    replaced("one crop amount", "crop") {
      var layer = Crop()
      layer.cropAmounts = BorderAmounts()
      return layer
    },
    replaced("no class", "className: empty") { Custom() },
  ]

  /// The image network with a different first layer.
  private static func replaced(
    _ name: String, _ text: String, _ layer: @escaping @Sendable () -> any LayerParameters
  ) -> Breach {
    changed(image(), name, text) { model in
      model.specificationVersion = 2
      model.neuralNetwork?.layers[0].parameters = layer()
    }
  }

  static let recurrences: [Breach] = [
    changed(sequence(), "no state", "input: the layer cannot have 1 input") {
      $0.neuralNetwork?.layers[0].input = ["in"]
    },
    changed(sequence(), "no state given", "output: the layer cannot have 1 output") {
      $0.neuralNetwork?.layers[0].output = ["out"]
    },
    layer(sequence(), "function of other layers", "in a recurrent layer") {
      (layer: inout SimpleRecurrent) in layer.activation = Activation(.elu(alpha: 1))
    },
    layer(sequence(), "no bias", "biasVector: the values are missing") {
      (layer: inout SimpleRecurrent) in
      layer.hasBiasVector = true
    },
  ]

  static let classes: [Breach] = [
    changed(classifier(), "no labels", "a classifier needs labels") { model in
      guard case .neuralNetworkClassifier(var classifier)? = model.type else { return }
      classifier.classLabels = nil
      model.type = .neuralNetworkClassifier(classifier)
    },
    changed(
      classifier(), "no label",
      "description.predictedFeatureName: '' is not an output of the labels' type (string)"
    ) {
      $0.description?.predictedFeatureName = ""
    },
    changed(
      classifier(), "label of another type",
      "description.predictedFeatureName: 'label' is not an output of the labels' type (string)"
    ) {
      $0.description?.output[0].type?.kind = .int64
    },
    changed(
      classifier(), "no probabilities",
      "description.predictedProbabilitiesName: 'nowhere' is not an output of the dictionary type"
    ) {
      $0.description?.predictedProbabilitiesName = "nowhere"
    },
    changed(classifier(), "blob without a layer", "no layer produces 'nowhere'") { model in
      guard case .neuralNetworkClassifier(var classifier)? = model.type else { return }
      classifier.labelProbabilityLayerName = "nowhere"
      model.type = .neuralNetworkClassifier(classifier)
    },
    changed(classifier(), "key without a type", "the type of the key is missing") {
      $0.description?.output[1].type?.kind = .dictionary(nil)
    },
    changed(vector(), "regressor without a name", "a regressor needs one") { model in
      var regressor = NeuralNetworkRegressor()
      regressor.network = model.neuralNetwork ?? NeuralNetwork()
      model.type = .neuralNetworkRegressor(regressor)
    },
  ]

  static let pipelines: [Breach] = [
    changed(pipeline(), "empty pipeline", "the pipeline is empty") {
      $0.type?.pipeline?.models = []
      $0.type?.pipeline?.names = []
    },
    changed(pipeline(), "input without a source", "pipeline.models[0].description.input.in") {
      $0.description?.input[0].name = "other"
    },
    changed(pipeline(), "another type", "its type differs from that of its source") {
      $0.type?.pipeline?.models[1].description?.input[0].type?.kind = array([3])
    },
    changed(pipeline(), "output without a model", "description.output.y") {
      $0.description?.output[0].name = "y"
    },
    changed(pipeline(), "one name too few", "1 names for 2 models") {
      $0.type?.pipeline?.names = ["first"]
    },
    changed(pipeline(), "duplicate name", "two models have the same name") {
      $0.type?.pipeline?.names = ["first", "first"]
    },
    changed(pipeline(), "invalid model inside", "pipeline.models[1].layers") {
      $0.type?.pipeline?.models[1].neuralNetwork?.layers = []
    },
  ]
}
