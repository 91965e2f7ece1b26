import CoreMLModel
import ModelPrediction
import TensorCore

/// Converts the inputs and outputs of a network to those of a program.
struct ProgramInterface {
  private(set) var description: ModelDescription
  private(set) var functionInputs: [MILNamedType] = []
  /// The shapes of the inputs in the network.
  private(set) var inputShapes: [String: [Int]] = [:]
  private let model: Model
  private let network: NeuralNetwork
  private let builder: ProgramBuilder
  private let probe: SizeProbe?
  /// Whether an input is a sequence of any length.
  private(set) var hasAnyLength = false
  /// Whether arrays have the axes and types of the source framework.
  private let isOfSource: Bool
  private let isForONNX: Bool
  /// The number of items for batches of unspecified size.
  private let batch: Int?
  /// The outputs with the next values of states, by the blobs of the states.
  private let states: [String: String]

  init(
    _ model: Model, _ network: NeuralNetwork, _ builder: ProgramBuilder, _ probe: SizeProbe?,
    _ options: ProgramOptions
  ) throws {
    (isOfSource, self.model, self.network, self.builder, self.probe) = (
      options.isOfSource, model, network, builder, probe
    )
    isForONNX = options.isForONNX
    // A state that is omitted has one item.
    let hasStates = model.description?.input.contains { $0.type?.isOptional == true } ?? false
    batch = options.hasOpenBatch && !hasStates ? probe?.batch : nil
    states =
      options.hasStates
      ? Dictionary(model.recurrentStates.map { ($0.input, $0.output) }) { first, _ in first } : [:]
    if options.hasStates {
      try require(
        !states.isEmpty, .mismatch,
        "the network has no optional inputs and outputs for states of recurrent layers")
      try builder.requireTarget(.iOS18, "states")
    }
    var description = model.description ?? ModelDescription()
    // The recorded layouts of inner blobs refer to the network's shapes.
    let metadata = description.metadata?.userDefined ?? [:]
    description.metadata?.userDefined = metadata.filter {
      !$0.key.hasPrefix(SourceLayout.blobKey) && !$0.key.hasPrefix(SourceLayout.typePrefix)
    }
    self.description = description
  }

  // MARK: - Inputs

  /// The variables of the inputs, by their blobs, after the network's preprocessing.
  mutating func inputs(_ preprocessing: [NeuralNetworkPreprocessing]) throws -> [String: Variable] {
    var blobs: [String: Variable] = [:]
    for index in description.input.indices {
      let feature = description.input[index]
      let name = builder.uniqueName(feature.name)
      description.input[index].name = name
      var variable: Variable
      var source: SourceArray?
      switch feature.type?.kind {
      case .image(let image):
        variable = Variable(
          name: name, type: .float32,
          shape: [batch ?? 1, image.colorSpace.channelCount, image.height, image.width])
        inputShapes[feature.name] = (feature.type?.networkShape(in: network)).map {
          $0.dropLast(4) + [variable.shape[0]] + $0.suffix(3)
        }
      case .multiArray(var array):
        let type: MILDataType
        switch array.dataType {
        case .int32: type = .int32
        case .float16 where builder.target >= .iOS16: type = .float16
        case _ where isOfSource && recorded(SourceLayout.typePrefix, feature.name) == "int32":
          type = .int32
          array.dataType = .int32
        default:
          type = .float32
          array.dataType = .float32
        }
        if feature.type?.isOptional == true, array.defaultValue == nil {
          array.defaultValue = type == .int32 ? .int(0) : .float(0)
        }
        let inner: [Int]
        (array.shape, inner) = try shapes(of: feature, array)
        inputShapes[feature.name] = inner
        if states[feature.name] != nil {
          blobs[feature.name] = try state(at: index, array.shape)
          continue
        }
        source = sourceArray(feature.name, inner, batch: batch)
        array.shape = source?.shape ?? array.shape
        inputShapes[feature.name] = source?.inner ?? inner
        description.input[index].type?.kind = .multiArray(array)
        variable = Variable(name: name, type: type, shape: array.shape)
      default:
        throw ModelError(
          .unsupported, "an ML Program accepts only images and arrays",
          field: "input '\(feature.name)'")
      }
      functionInputs.append(MILNamedType(name, MILValueType(variable)))
      if case .image(let image)? = feature.type?.kind {
        for step in preprocessing
        where step.featureName == feature.name || step.featureName.isEmpty {
          variable = try builder.preprocess(variable, step, image.colorSpace)
        }
      }
      blobs[feature.name] = try source?.network(variable, builder) ?? variable
    }
    description.state = description.input.filter(\.isState)
    description.input.removeAll(where: \.isState)
    return blobs
  }

  // MARK: - States

  /// Converts an input to a state and reads it. Core ML keeps states in half precision.
  private mutating func state(at index: Int, _ shape: [Int]) throws -> Variable {
    let name = description.input[index].name
    let value = Variable(name: name, type: .float16, shape: shape)
    description.input[index] = FeatureDescription(
      name: name, kind: .state(ArrayFeatureType(shape: shape, dataType: .float16)))
    let state = MILStateType().with(\.wrappedType, MILValueType(value))
    functionInputs.append(MILNamedType(name, MILValueType().with(\.kind, .state(state))))
    return try builder.add(
      "read_state", name, [("input", .variable(value))], type: .float16, shape: shape)
  }

  /// Writes the next value of each state to the state instead of to an output.
  private mutating func updateStates(_ blobs: [String: Variable]) throws {
    let names = Set(states.values)
    description.output.removeAll { names.contains($0.name) }
    for (name, output) in states.sorted(by: { $0.key < $1.key }) {
      guard let feature = description.state.first(where: { $0.name == name }),
        case .state(let array)? = feature.type?.kind, let blob = blobs[output]
      else { throw ModelError(.malformed, "no layer produces it", field: "output '\(output)'") }
      let state = Variable(name: name, type: .float16, shape: array.shape)
      let value = try builder.reshape(builder.cast(blob, to: .float16), to: array.shape)
      _ = try builder.add(
        "coreml_update_state", name, [("state", .variable(state)), ("value", .variable(value))],
        type: .float16, shape: array.shape)
    }
  }

  /// The shape of an array in the program and in the network.
  private mutating func shapes(
    of feature: FeatureDescription, _ array: ArrayFeatureType
  ) throws -> (own: [Int], network: [Int]) {
    let shape = try (feature.type?.networkShape(in: network)).orThrow(
      ModelError(.unsupported, "an input without a fixed shape", field: "input '\(feature.name)'"))
    let layout = SourceLayout(of: feature.name, in: model)
    let isSequence =
      layout?.axes.contains(.sequence)
      ?? (array.shape.count == 1 && network.readsSequences && !network.isState(feature.name))
    if network.arrayInputShapeMapping == .exact || !isSequence {
      let sizes = recorded(SourceLayout.shapePrefix, feature.name)
      if network.arrayInputShapeMapping == .exact, !builder.hasOpenSizes,
        sizes?.split(separator: ",").dropFirst().contains("?") == true
      {
        throw Self.anyLength(feature.name, "set the size when you convert the source network")
      }
      record(feature.name, [1: "C", 3: "CHW", 5: "TNCHW"][array.shape.count])
      return (array.shape, shape)
    }
    let known = layout?.steps(of: feature.name, in: model)
    let steps = try (known ?? probe?.steps).orThrow(
      Self.anyLength(
        feature.name, "omit \(setting: "fixedSizes"): the program then accepts any length"))
    if known == nil { hasAnyLength = true }
    let five = [steps, 1] + shape[2...]
    if array.shape.count == 1 {
      record(feature.name, "TNC")
      return ([steps, 1, array.shape[0]], five)
    }
    record(feature.name, "TNCHW")
    return (five, five)
  }

  private static func anyLength(_ input: String, _ hint: String) -> ModelError {
    ModelError(.unsupported, "a sequence of any length", field: "input '\(input)'", hint: hint)
  }

  private func recorded(_ prefix: String, _ feature: String) -> String? {
    model.description?.metadata?.userDefined[prefix + feature]
  }

  /// Records the order of a feature's axes, given by letters, in the source framework.
  private mutating func record(_ feature: String, _ axes: String?) {
    guard let recorded = recorded(SourceLayout.metadataPrefix, feature),
      let layout = recorded.contains(":") ? recorded : axes.map({ "\(recorded):\($0)" }),
      ExactLayout(layout) != nil
    else { return }
    description.metadata?.userDefined[SourceLayout.metadataPrefix + feature] = layout
  }

  /// A feature's array in the source framework, if the program uses the source's axes.
  private mutating func sourceArray(
    _ feature: String, _ inner: [Int], batch: Int? = nil
  ) -> SourceArray? {
    guard isOfSource,
      let array = SourceArray(
        recorded(SourceLayout.metadataPrefix, feature), inner, channelsFirst: isForONNX,
        batch: batch)
    else { return nil }
    description.metadata?.userDefined[SourceLayout.metadataPrefix + feature] = array.letters
    return array
  }

  // MARK: - Outputs

  /// Adds the operations that set the names, types and shapes of the outputs; returns the names.
  mutating func outputs(
    _ model: Model, _ blobs: [String: Variable], _ shapes: [String: [Int]]
  ) throws -> [String] {
    var (blobs, names): ([String: Variable], [String]) = (blobs, [])
    if !states.isEmpty { try updateStates(blobs) }
    for index in description.output.indices {
      let feature = description.output[index]
      var shape: [Int]
      var source: SourceArray?
      switch feature.type?.kind {
      case .image(let image):
        shape = [batch ?? 1, image.colorSpace.channelCount, image.height, image.width]
      case .multiArray(var array):
        let blob = try shapes[feature.name].orThrow(
          ModelError(.unsupported, "its shape is not known", field: "output '\(feature.name)'"))
        shape = try outputShape(array, blob)
        let letters = shape == blob ? "TNCHW" : ["", "C", "", "CHW"][min(shape.count, 3)]
        record(feature.name, letters.isEmpty ? nil : letters)
        source = sourceArray(feature.name, blob)
        shape = source?.shape ?? shape
        array.shape = shape
        if array.dataType != .int32 { array.dataType = .float32 }
        description.output[index].type?.kind = .multiArray(array)
      case .double where !description.predictedFeatureName.isEmpty:
        // A regressor's value.
        shape = [1]
        description.output[index].type?.kind = .multiArray(
          ArrayFeatureType(shape: [1], dataType: .float32))
        description.predictedFeatureName = ""
      default: continue
      }
      let blob = try blobs[feature.name].orThrow(
        ModelError(.malformed, "no layer produces it", field: "output '\(feature.name)'"))
      var type = MILDataType.float32
      if case .multiArray(let array)? = description.output[index].type?.kind,
        array.dataType == .int32
      {
        type = .int32
      }
      let name = try output(feature.name, &blobs) {
        let cast = try builder.cast(blob, to: type)
        return try source?.source(cast, builder) ?? builder.reshape(cast, to: shape)
      }
      description.output[index].name = name
      names.append(name)
    }
    guard case .neuralNetworkClassifier(let classifier)? = model.type else { return names }
    // coremltools only accepts `classify` as the last operation.
    return try classify(classifier, &blobs) + names
  }

  /// The declared shape if the element count matches, otherwise the network's shape without leading
  /// unit axes.
  private func outputShape(_ array: ArrayFeatureType, _ blob: [Int]) throws -> [Int] {
    let count = try checkedProduct(blob)
    if !array.shape.isEmpty, array.shape.count <= 3, try checkedProduct(array.shape) == count {
      return array.shape
    }
    if network.arrayInputShapeMapping == .exact || blob.count != 5 { return blob }
    if blob[0] == 1, blob[1] == 1 {
      return blob[3] == 1 && blob[4] == 1 ? [blob[2]] : Array(blob[2...])
    }
    return blob
  }

  /// Writes the variable that `make` returns under the output's name.
  private func output(
    _ name: String, _ blobs: inout [String: Variable], _ make: () throws -> Variable
  ) throws -> String {
    let mark = builder.operations.count
    var result = try make()
    if result.name == name { return name }
    if !builder.wrote(result, since: mark) { result = try builder.copy(result, name) }
    release(name, &blobs)
    return builder.rename(result, to: name).name
  }

  /// Renames the variable that has this name.
  private func release(_ name: String, _ blobs: inout [String: Variable]) {
    guard let owner = blobs.values.first(where: { $0.name == name }) else { return }
    let renamed = builder.rename(owner, to: name + "_blob")
    for (key, blob) in blobs where blob == owner { blobs[key] = renamed }
  }

  /// The label and the probabilities of a classifier.
  private mutating func classify(
    _ classifier: NeuralNetworkClassifier, _ blobs: inout [String: Variable]
  ) throws -> [String] {
    let outputs = [description.predictedFeatureName, description.predictedProbabilitiesName]
    for name in outputs where !name.isEmpty { release(name, &blobs) }
    guard let blob = classifier.probabilitiesBlob, let variable = blobs[blob] else {
      throw ModelError(.malformed, "no layer produces the probabilities")
    }
    let labels = try classifier.classLabels.orThrow(
      ModelError(.malformed, "the classifier has no labels"))
    let (list, type): (MILValue, MILDataType)
    switch labels {
    case .string(let texts): (list, type) = (MILValue(list: texts), .string)
    case .int64(let numbers):
      let values = numbers.map { MILValue(.int64, [], .longInts([$0])) }
      (list, type) = (MILValue(list: values, of: .int64), .int64)
    }
    let items = batch ?? 1
    let count = try checkedProduct(variable.shape) / items
    let probabilities = try builder.reshape(
      builder.cast(variable, to: .float32), to: [items, count])
    func rename(_ name: inout String) -> String {
      let old = name
      name = builder.uniqueName(name.isEmpty ? "classLabel_probs" : name)
      for index in description.output.indices where description.output[index].name == old {
        description.output[index].name = name
      }
      return name
    }
    let label = rename(&description.predictedFeatureName)
    if description.predictedProbabilitiesName.isEmpty {
      description.predictedProbabilitiesName =
        description.output.first {
          if case .dictionary? = $0.type?.kind { true } else { false }
        }?.name ?? ""
    }
    let hasProbabilities = !description.predictedProbabilitiesName.isEmpty
    let scores = rename(&description.predictedProbabilitiesName)
    if !hasProbabilities {
      description.output.append(
        FeatureDescription(name: scores, kind: .dictionary(type == .string ? .string : .int64)))
    }
    let dictionary = MILDictionaryType().with(\.keyType, MILValueType(type, []))
      .with(\.valueType, MILValueType(.float64, []))
    try builder.append(
      MILOperation(
        "classify", name: "classify",
        inputs: [
          MILArgumentEntry("probabilities", [.name(probabilities.name)]),
          MILArgumentEntry("classes", [.value(list)]),
        ],
        outputs: [
          MILNamedType(label, MILValueType(type, [])),
          MILNamedType(scores, MILValueType().with(\.kind, .dictionary(dictionary))),
        ]))
    return [label, scores]
  }
}

extension NeuralNetwork {
  /// Whether the input is the initial state of a recurrent layer.
  fileprivate func isState(_ input: String) -> Bool {
    layers.contains { layer in
      layer.parameters is any RecurrentLayer && layer.input.dropFirst().contains(input)
    }
  }

  /// Whether a layer operates along the sequence axis.
  fileprivate var readsSequences: Bool {
    layers.contains { layer in
      switch layer.parameters {
      case is any RecurrentLayer, is SequenceRepeat: true
      case let concat as Concat: concat.sequenceConcat
      case let permute as Permute: permute.axis.first ?? 0 != 0
      case let reshape as Reshape: reshape.targetShape.count == 4
      default: false
      }
    }
  }
}

extension FeatureDescription {
  fileprivate var isState: Bool { if case .state? = type?.kind { true } else { false } }
}
