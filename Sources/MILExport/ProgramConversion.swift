import CoreMLModel
import CustomLayers
import ModelTransforms
import TensorCore

/// How a neural network is written as an ML Program.
package struct ProgramOptions: Sendable {
  /// The oldest system that must run the program; nil for the oldest that supports the weights.
  package var target: ProgramTarget?
  /// The type of weights and computations: float32 or float16.
  package var precision = MILDataType.float32
  /// Layers that compute in single precision although the others use half precision.
  package var keptInFloat32: Set<String> = []
  /// Whether the field `forgetBias` of LSTMs adds 1 to the bias of the forget gates.
  package var addsForgetBias = false
  /// Whether flexible inputs keep only their default sizes.
  package var hasFixedSizes = false
  /// Whether states of recurrent layers become states of the program instead of inputs and outputs.
  package var hasStates = false
  /// Whether arrays get the axes and types of the source framework, as recorded by the importer.
  package var isOfSource = false
  /// Whether the program becomes an ONNX model: the source's images are channels-first, and a GRU is
  /// one operation, whatever the target.
  package var isForONNX = false
  /// Whether the source's batch size is arbitrary.
  package var hasOpenBatch = false
  /// The classes of custom layers; those with a formula become operations.
  package var customLayers = CustomLayerRegistry()
  /// The weight file in a package.
  var weightFile = "weight.bin"
  /// Whether to merge and move operations, and to replace sequences equivalent to a single one.
  var simplifies = true

  package init() {}
}

extension Model {
  /// Converts a neural network to an equivalent ML Program, or each network of a pipeline.
  ///
  /// Features are renamed to `namesInProgram`, and arrays of doubles become arrays of floats,
  /// because ML Programs support neither other names nor doubles.
  ///
  /// - Throws: `.unsupported` with all layers that no operation can express; `.mismatch` for models
  ///   that are not networks.
  package func mlProgram(_ options: ProgramOptions = ProgramOptions()) throws -> Model {
    if case .mlProgram? = type { throw ModelError(.mismatch, "the model is an ML Program already") }
    let names = namesInProgram
    if !names.isEmpty { return try renamingFeatures(names).mlProgram(options) }
    if var pipeline = type?.pipeline {
      try require(
        pipeline.models.contains(where: \.isConvertible), .mismatch,
        "no model of the pipeline is a neural network")
      for index in pipeline.models.indices where pipeline.models[index].isConvertible {
        var own = options
        own.weightFile = "\(index)-" + options.weightFile
        pipeline.models[index] = try pipeline.models[index].mlProgram(own)
      }
      var model = self
      model.type?.pipeline = pipeline
      model.specificationVersion = max(
        specificationVersion, pipeline.models.map(\.specificationVersion).max() ?? 0)
      return model
    }
    guard var network = neuralNetwork, let description else {
      throw ModelError(
        .mismatch, "the model is not a neural network",
        hint:
          "only neural networks, classifiers, regressors and pipelines of them can become ML Programs"
      )
    }
    // If a layer is invalid, its conversion reports the reason.
    let folded =
      (try? withFoldedBatchnorm(
        keeping: options.keptInFloat32, widensHalf: options.precision == .float16))?.model ?? self
    network = folded.neuralNetwork ?? network
    func program(_ target: ProgramTarget, _ options: ProgramOptions) throws -> Model {
      var isOpen = description.hasFlexibleInput || options.hasOpenBatch
      func sized(_ probe: SizeProbe?) throws -> (model: Model, hasAnyLength: Bool) {
        var fixed = folded
        fixed.description = description.fixed(probe)
        return try ProgramConversion(
          model: fixed, network: network, options: options, probe: probe,
          builder: ProgramBuilder(
            target, isFixed: options.target != nil, weightFile: options.weightFile,
            hasOpenSizes: probe != nil && isOpen)
        ).program()
      }
      if options.hasFixedSizes { return try sized(nil).model }
      var first = try sized(.first)
      if !isOpen {
        guard first.hasAnyLength else { return first.model }
        isOpen = true
        first = try sized(.first)
      }
      do {
        return try Model.program(first.model, sized(.second).model, of: description, options)
      } catch let error as ModelError {
        // The simplified operations may depend on the sizes.
        guard error.code == .unsupported, options.simplifies, !options.hasOpenBatch else {
          throw error
        }
        var plain = options
        plain.simplifies = false
        return try program(target, plain)
      }
    }
    if let target = options.target { return try program(target, options) }
    var target = ProgramTarget.iOS15
    while true {
      do { return try program(target, options) } catch let error as NewerTargetNeeded {
        target = error.target
      }
    }
  }

  /// New names, all unique identifiers, for the features whose names an ML Program does not allow.
  package var namesInProgram: [String: String] {
    let features = featureNames
    let others = features.filter { MILProgram.identifier($0) != $0 }
    var pool = NamePool(Set(features).subtracting(others))
    return Dictionary(
      others.map { ($0, pool.take(MILProgram.identifier($0))) }, uniquingKeysWith: { $1 })
  }

  private var isConvertible: Bool { neuralNetwork != nil || type?.pipeline != nil }
}

/// Thrown if no target was requested and an operation needs a newer one.
struct NewerTargetNeeded: Error { var target: ProgramTarget }

/// The conversion of one network.
private struct ProgramConversion {
  typealias Failure = NetworkLowering.Failure

  let model: Model
  let network: NeuralNetwork
  let options: ProgramOptions
  let probe: SizeProbe?
  let builder: ProgramBuilder

  func program() throws -> (model: Model, hasAnyLength: Bool) {
    try checkCustomLayers()
    var interface = try ProgramInterface(model, network, builder, probe, options)
    let blobs = try interface.inputs(network.preprocessing)
    let inferred = network.inferredShapes(
      inputs: interface.inputShapes, custom: options.customLayers.outputShapes(of:_:))
    if var error = inferred.errors.first {
      if builder.hasOpenSizes || interface.hasAnyLength, error.hint == nil {
        error.hint =
          "sizes that the source leaves open were assumed; fix them with \(setting: "inputShape")"
      }
      throw error
    }
    let lowering = NetworkLowering(builder: builder, options: options)
    var scope = NetworkLowering.Scope(
      blobs: blobs, inferred: inferred, live: Set(model.description?.output.map(\.name) ?? []))
    var failures: [Failure] = []
    try lowering.lower(network, &scope, &failures)
    try report(failures)
    let outputs = try interface.outputs(model, scope.blobs, inferred.shapes)
    var block = MILBlock().with(\.operations, builder.operations).with(\.outputs, outputs)
    if options.simplifies {
      let types = interface.functionInputs.map { ($0.name, $0.type ?? MILValueType()) }
      block = try block.simplified(builder, types: Dictionary(uniqueKeysWithValues: types))
    }
    return (try package(block, interface), interface.hasAnyLength)
  }

  private func report(_ failures: [Failure]) throws {
    guard let first = failures.first else { return }
    if failures.count == 1 { throw first.error.inLayer(first.layer, class: first.type) }
    let hint = first.error.hint
    let lines = failures.prefix(20).map { "'\($0.layer)' (\($0.type)): \($0.error.message)" }
    let rest = failures.count > 20 ? " and \(failures.count - 20) more" : ""
    throw ModelError(
      .unsupported,
      "\(failures.count) layers have no operations: " + lines.joined(separator: "; ") + rest,
      hint: hint != nil && failures.allSatisfy { $0.error.hint == hint }
        ? hint : "write an .mlmodel, which can hold them")
  }

  /// Reports all custom layers without a formula.
  private func checkCustomLayers() throws {
    var failures: [Failure] = []
    func check(_ network: NeuralNetwork) throws {
      for (index, layer) in network.layers.enumerated() {
        if let control = layer.parameters as? any ControlLayer {
          try control.networks.forEach(check)
        }
        guard let custom = layer.parameters as? Custom else { continue }
        do { _ = try options.customLayers.layerWithFormula(custom) } catch let error as ModelError {
          failures.append((layer.label(at: index), custom.className, error))
        }
      }
    }
    try check(network)
    try report(failures)
  }

  /// Wraps the operations in a model.
  private func package(_ block: MILBlock, _ interface: ProgramInterface) throws -> Model {
    let target = builder.target
    let body = MILBlockEntry().with(\.key, target.opset).with(\.value, block)
    let function = MILFunction().with(\.inputs, interface.functionInputs)
      .with(\.opset, target.opset).with(\.specializations, [body])
    let main = MILFunctionEntry().with(\.key, "main").with(\.value, function)
    var program = MILProgram().with(\.version, 1).with(\.functions, [main])
    if !builder.weights.isEmpty {
      program.weightFiles = [builder.weightFile: try builder.weights.file()]
    }
    var result = model
    result.specificationVersion = target.specificationVersion
    result.description = interface.description
    result.type = .mlProgram(program)
    return result
  }
}
