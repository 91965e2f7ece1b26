import CoreMLModel
import Engine
import TensorCore

/// Converts a function of a program to the layers of a network, for inputs of known shapes.
final class ProgramLowering {
  let program: MILProgram
  /// The layers of the current block.
  private(set) var layers: [NeuralNetworkLayer] = []
  private var known: [String: ProgramValue] = [:]
  /// The current values of states.
  var states: [String: ProgramValue] = [:]
  /// The probabilities and labels of a classifier.
  var classes: (probabilities: String, labels: NeuralNetworkClassifier.ClassLabels)?
  private var blobs: Set<String> = []
  /// The blobs of integers.
  private(set) var wholeBlobs: Set<String> = []
  /// The blobs in single precision.
  private(set) var singleBlobs: Set<String> = []
  /// Whether a blob is in half precision.
  private(set) var hasHalfBlobs = false
  /// The last number appended to each name to make it unique.
  private var numbers: [String: Int] = [:]
  /// The layers whose blobs are written only once, for finding values that do not depend on inputs.
  private var producers: [String: NeuralNetworkLayer] = [:]
  /// The shapes of the inputs.
  private(set) var inputs: [String: [Int]] = [:]
  /// The values of the inputs, for sizes that depend on them.
  private let values: [String: Tensor]?
  /// Whether sizes depend on the values of inputs.
  private(set) var dependsOnValues = false
  /// Whether states are inputs of the network.
  let keepsStates: Bool
  private var count = 0
  private var unrolledSteps = 0
  /// The number of blocks around the current one.
  private(set) var depth = 0

  /// The maximum number of bytes for computing one constant.
  private static let constantBytes = 256 << 20

  init(_ program: MILProgram, values: [String: Tensor]?, keepsStates: Bool) {
    self.program = program
    self.values = values
    self.keepsStates = keepsStates
  }

  // MARK: - Values

  func value(_ name: String) throws -> ProgramValue {
    try known[name].orThrow(
      ModelError(.malformed, "neither an input nor an earlier operation produces '\(name)'"))
  }

  func define(_ name: String, _ value: ProgramValue) { known[name] = value }

  func forget(_ name: String) { known[name] = nil }

  /// An input of the network.
  func input(_ name: String, _ type: MILDataType, _ shape: [Int]) throws -> ProgramValue {
    let value = ProgramValue(blob: uniqueBlob(name), type, shape)
    try require(value.blob == name, "two inputs are named '\(name)'")
    inputs[name] = value.blobShape
    noteType(name, type)
    return value
  }

  /// A unique name for a blob.
  func uniqueBlob(_ name: String) -> String {
    var result = name
    while !blobs.insert(result).inserted {
      let number = (numbers[name] ?? 1) + 1
      numbers[name] = number
      result = "\(name)_\(number)"
    }
    return result
  }

  /// The blob of a value; a constant gets a layer in the current block.
  func blob(_ value: ProgramValue, named name: String) throws -> String {
    switch value.content {
    case .blob(let name): return name
    case .constant where value.shape.contains(0):
      let sizes = value.shape.map { Float($0) }
      let shape = LoadConstantND(shape: [sizes.count], Weights(sizes))
      return try append(FillDynamic(), append(shape, [], name: name + "_shape"), name: name)[0]
    case .constant(let elements):
      let layer = LoadConstantND(shape: value.blobShape, try elements.weights())
      let blob = try append(layer, [], name: name)[0]
      noteType(blob, value.type)
      return blob
    case .state: throw ModelError(.malformed, "a state is used where a value is needed")
    }
  }

  /// The axes and the input of the transpose that produces a blob in the current block, if any.
  func transpose(giving blob: String) -> (axes: [Int], input: String)? {
    guard let layer = producers[blob], let transpose = layer.parameters as? Transpose,
      let input = layer.input.first, depth == 0, transpose.axes.allSatisfy({ $0 >= 0 })
    else { return nil }
    return (transpose.axes, input)
  }

  // MARK: - Layers

  /// Adds a layer; its outputs are new blobs.
  func append(
    _ parameters: any LayerParameters, _ inputs: [String], outputs: Int = 1, name: String
  ) throws -> [String] {
    count += 1
    try require(
      count <= Limits.layers, .limitExceeded, "the program has more than \(Limits.layers) layers")
    let names = (0..<outputs).map { _ in uniqueBlob(name) }
    let layer = NeuralNetworkLayer(name, parameters, input: inputs, output: names)
    layers.append(layer)
    for output in names { producers[output] = layer }
    return names
  }

  /// Counts a step of an unrolled loop.
  func countStep() throws {
    unrolledSteps += 1
    try require(
      unrolledSteps <= Limits.unrolledSteps, .limitExceeded,
      "loops in which a value changes its shape have more than \(Limits.unrolledSteps) steps")
  }

  func noteType(_ blob: String, _ type: MILDataType) {
    if !type.isFloat { wholeBlobs.insert(blob) }
    if type == .float32 { singleBlobs.insert(blob) }
    if type == .float16 { hasHalfBlobs = true }
  }

  /// Adds a layer that may overwrite a blob, or that contains networks.
  func append(_ layer: NeuralNetworkLayer) {
    count += 1
    layers.append(layer)
  }

  /// Writes a value to a blob that other layers may also write.
  func copy(_ value: ProgramValue, to target: String, name: String) throws {
    let source = try blob(value, named: name + "_value")
    noteType(target, value.type)
    append(NeuralNetworkLayer(name, Copy(), input: [source], output: [target]))
  }

  /// The layers that `body` adds, separate from the current ones. Names defined in it are local.
  func block(_ body: () throws -> Void) rethrows -> NeuralNetwork {
    let (outerLayers, outerKnown) = (layers, known)
    layers = []
    depth += 1
    defer {
      (layers, known) = (outerLayers, outerKnown)
      depth -= 1
    }
    try body()
    return NeuralNetwork().with(\.layers, layers)
  }

  /// Renames blobs that were added since `mark` to the names of the program's values.
  fileprivate func rename(_ names: [String: String], since mark: Int) {
    for index in layers.indices[mark...] {
      layers[index].input = layers[index].input.map { names[$0] ?? $0 }
      layers[index].output = layers[index].output.map { names[$0] ?? $0 }
    }
    // Two blobs may swap their names.
    func rename(in set: inout Set<String>) {
      let old = names.filter { set.remove($0.key) != nil }
      set.formUnion(old.values)
    }
    rename(in: &blobs)
    rename(in: &wholeBlobs)
    rename(in: &singleBlobs)
    for old in names.keys { producers[old] = nil }
    for layer in layers[mark...] where !(layer.parameters is Copy) {
      for output in layer.output { producers[output] = layer }
    }
  }

  // MARK: - Constants

  /// The elements of a value that depends neither on a loop nor on inputs, except inputs with known
  /// values; nil for others.
  func elements(_ value: ProgramValue) throws -> MILElements? {
    if let constant = value.constant { return constant }
    guard let blob = value.blob else { return nil }
    var order: [NeuralNetworkLayer] = []
    var seen: Set<String> = []
    var used: Set<String> = []
    // Pairs of a blob and whether the layers that it needs have been found.
    var stack = [(blob, false)]
    while let (name, isReady) = stack.popLast() {
      if inputs[name] != nil {
        dependsOnValues = true
        if values?[name] == nil { return nil }
        used.insert(name)
        continue
      }
      guard let layer = producers[name], !(layer.parameters is any ControlLayer) else { return nil }
      if isReady {
        order.append(layer)
      } else if seen.insert(layer.output[0]).inserted {
        stack.append((name, true))
        stack += layer.input.map { ($0, false) }
      }
    }
    let numbers = try compute(blob, order, used)
    // A computed value is a constant from now on.
    let layer = LoadConstantND(shape: value.blobShape, Weights(numbers))
    producers[blob] = NeuralNetworkLayer(blob, layer, input: [], output: [blob])
    return MILElements(numbers, value.shape, value.type)
  }

  /// The elements of a blob that these layers produce.
  private func compute(
    _ blob: String, _ layers: [NeuralNetworkLayer], _ used: Set<String>
  ) throws -> [Float] {
    let given = (values ?? [:]).filter { used.contains($0.key) }
    let features = used.sorted().map {
      let type = ArrayFeatureType(shape: inputs[$0] ?? [], dataType: .float32)
      return FeatureDescription(name: $0, kind: .multiArray(type))
    }
    let description = ModelDescription().with(\.input, features)
      .with(\.output, [FeatureDescription().with(\.name, blob)])
    let network = NeuralNetwork().with(\.layers, layers).with(\.arrayInputShapeMapping, .exact)
    let model = Model().with(\.description, description).with(\.type, .neuralNetwork(network))
    if layers.isEmpty { return given[blob]?.elements ?? [] }
    if !used.isEmpty {
      var options = CompileOptions()
      options.inputShapes = inputs.filter { used.contains($0.key) }
      return try CompiledNetwork(model: model, options: options).predict(given)[blob]?.elements
        ?? []
    }
    let reference = try ReferenceNetwork(model: model, maxMemory: Self.constantBytes)
    return try (reference.predict([:])[blob]?.elements ?? []).map { Float($0) }
  }
}

// MARK: - Operations

extension ProgramLowering {
  func lower(_ block: MILBlock) throws {
    for operation in block.operations {
      do { try lower(operation) } catch let error as ModelError {
        throw error.layer == nil ? error.inLayer(operation.label, class: operation.type) : error
      }
    }
  }

  func lower(_ operation: MILOperation) throws {
    if operation.type == "const" { return try defineConstant(operation) }
    let rule = try operationRulesByName[operation.type].orThrow(
      ModelError(.unsupported, "operation '\(operation.type)' is not supported"))
    for argument in operation.inputs where !rule.arguments.contains(argument.key) {
      throw ModelError(
        .unsupported, "operation '\(rule.name)' has no such argument", field: argument.key)
    }
    for name in rule.required
    where operation.argument(name) == nil && operation.attribute(name) == nil {
      throw ModelError(.malformed, "the argument is missing", field: name)
    }
    let mark = layers.count
    var results = try rule.lower(OperationCall(operation: operation, lowering: self))
    if operation.type == "classify" { return }
    try require(
      results.count >= operation.outputs.count,
      "\(counted(operation.outputs.count, "result")) are named, but the operation has \(results.count)"
    )
    // The blobs of loops and branches are written in nested networks.
    let isFlow = layers[mark...].contains { $0.parameters is any ControlLayer }
    let added = isFlow ? [] : Set(layers[mark...].flatMap(\.output))
    var names: [String: String] = [:]
    for (index, output) in operation.outputs.enumerated() {
      results[index] = try stated(output, results[index])
      guard let blob = results[index].blob, added.contains(blob), blob != output.name,
        names[blob] == nil, names[output.name] == nil
      else { continue }
      // An earlier layer of the operation may have the name.
      if blobs.contains(output.name) {
        guard added.contains(output.name) else { continue }
        names[output.name] = blob
      }
      names[blob] = output.name
    }
    if !isFlow { rename(names, since: mark) }
    for (index, output) in operation.outputs.enumerated() {
      if let blob = results[index].blob, let name = names[blob] {
        results[index].content = .blob(name)
      }
      define(output.name, results[index])
    }
  }

  /// The result, after checking it against the type that the program declares.
  private func stated(_ output: MILNamedType, _ result: ProgramValue) throws -> ProgramValue {
    if result.isList {
      guard case .list(let list)? = output.type?.kind, list.type?.tensor?.dataType == result.type
      else { throw ModelError(.malformed, "the result is a list", field: output.name) }
      return result
    }
    guard let tensor = output.type?.tensor else {
      if case .state = result.content { return result }
      throw ModelError(
        .malformed, "the program does not declare the result as a tensor", field: output.name)
    }
    var result = result
    // A blob has at least one axis.
    if tensor.dimensions.isEmpty, result.shape == [1] { result.shape = [] }
    if result.shape.isEmpty, tensor.shape == [1] { result.shape = [1] }
    try require(
      tensor.allows(result.shape) && tensor.dataType == result.type,
      "the program declares \(ProgramText.type(tensor)), but the result is "
        + ProgramText.type(result.type, result.shape), field: output.name)
    return result
  }

  private func defineConstant(_ operation: MILOperation) throws {
    guard let output = operation.outputs.first, let value = operation.attribute("val") else {
      throw ModelError(.malformed, "the constant has no value", field: "val")
    }
    let elements = try MILElements(value, files: program.weightFiles)
    try require(
      output.type?.tensor?.shape == elements.shape
        && output.type?.tensor?.dataType == elements.type,
      "the type of the value differs from that of the constant", field: "val")
    define(output.name, ProgramValue(elements))
  }
}
