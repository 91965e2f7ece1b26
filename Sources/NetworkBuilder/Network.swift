import CoreMLModel
import CustomLayers
import Engine
import TensorCore

/// A network described in code, from its inputs to its outputs.
///
///     let input = Input()
///     let output = input
///       --> Resize(width: 28, height: 28, colors: .grayscale, scale: 1 / 255)
///       --> Convolution(kernel: (5, 5), channels: 20, activation: .relu, name: "conv1")
///       --> Pooling(kernel: (2, 2))
///       --> Dense(neurons: 10, activation: .softmax, name: "fc1")
///     let network = Network(input: input, output: output)
///     print(try network.summary())
///     let model = try network.compile(weights: .folder("weights"))
///     print(try model.predict(image).output.top(5))
///
/// It becomes a Core ML document, which can be run here or written as an `.mlmodel` file.
public struct Network: Sendable {
  /// The implementation of a custom layer.
  public typealias CustomLayerType = any (CustomLayer & SendableMetatype).Type

  /// All inputs that an output depends on.
  public let inputs: [Input]
  /// The outputs, each named after the layer that computes it.
  public let outputs: [NetworkTensor]
  private var kept: [NetworkTensor] = []

  /// A network with one input and one output.
  public init(input: Input, output: NetworkTensor) { self.init(inputs: [input], outputs: [output]) }

  /// A network with several inputs or outputs.
  ///
  /// Errors are reported only when the network is compiled, written or summarized.
  public init(inputs: [Input], outputs: [NetworkTensor]) {
    self.inputs = inputs
    self.outputs = outputs
  }

  /// Makes the tensor's value available in predictions: ``NetworkPrediction/value(of:)``. This
  /// applies to networks that are compiled afterward.
  public mutating func keep(_ tensor: NetworkTensor) { kept.append(tensor) }

  /// A table of all layers with their shapes and numbers of parameters, and the total.
  ///
  /// - Throws: `ModelError` with the first layer that does not fit its input.
  public func summary(customLayers: [CustomLayerType] = []) throws -> String {
    try written(.outline, Self.registry(customLayers)).summary
  }

  /// The number of values in all weights; those of a shared layer are counted once.
  public func parameterCount(customLayers: [CustomLayerType] = []) throws -> Int {
    try written(.outline, Self.registry(customLayers)).parameterCount
  }

  /// The Core ML document.
  ///
  /// - Parameter customLayers: implementations that compute the output shape of a ``Custom`` layer.
  /// - Throws: `ModelError` with the layer, if a size is unknown, shapes do not fit, or weights
  ///   have the wrong length.
  public func model(weights: WeightSource, customLayers: [CustomLayerType] = []) throws -> Model {
    try written(weights, Self.registry(customLayers)).model
  }

  /// Writes the network as an `.mlmodel` file, atomically; the same network and weights always give
  /// the same bytes.
  public func write(
    to path: String, weights: WeightSource, customLayers: [CustomLayerType] = []
  ) throws {
    try model(weights: weights, customLayers: customLayers).write(to: path)
  }

  /// Makes the network ready to run.
  ///
  /// - Parameters:
  ///   - weights: the source of each layer's weights and bias, requested once each.
  ///   - customLayers: implementations in addition to the built-in ones.
  ///   - threads: threads per prediction; nil means one per core.
  /// - Throws: `ModelError` with the layer, if a size is unknown, shapes do not fit, weights have
  ///   the wrong length, or a custom layer has no implementation.
  public func compile(
    weights: WeightSource, customLayers: [CustomLayerType] = [], threads: Int? = nil
  ) throws -> CompiledModel {
    let registry = Self.registry(customLayers)
    let written = try written(weights, registry)
    var options = CompileOptions()
    options.customLayers = registry
    options.threads = threads
    var names: [Int: String] = [:]
    for tensor in outputs + kept { names[tensor.id] = try Self.find(tensor, in: written).blob }
    options.keep = .named(Set(names.values))
    return try CompiledModel(written, options: options, names: names)
  }

  /// Makes the network ready to run with weights from `values`, which gets a layer's name, the
  /// number of values and the kind.
  public func compile(
    customLayers: [CustomLayerType] = [], threads: Int? = nil,
    weights values: @escaping (_ name: String, _ count: Int, _ kind: WeightKind) throws -> [Float]
  ) throws -> CompiledModel {
    try compile(weights: WeightSource(values), customLayers: customLayers, threads: threads)
  }

  fileprivate func shape(
    of tensor: NetworkTensor, _ customLayers: [CustomLayerType]
  ) throws -> TensorShape {
    try Self.find(tensor, in: written(.outline, Self.registry(customLayers))).shape
  }

  private func written(
    _ weights: WeightSource, _ customLayers: CustomLayerRegistry
  ) throws -> WrittenNetwork {
    try WrittenNetwork(
      TensorGraph(inputs: inputs, outputs: outputs), outputs: outputs, weights: weights,
      customLayers: customLayers)
  }

  private static func registry(_ types: [CustomLayerType]) -> CustomLayerRegistry {
    var registry = CustomLayerRegistry()
    for type in types { registry.register(type) }
    return registry
  }

  private static func find(
    _ tensor: NetworkTensor, in written: WrittenNetwork
  ) throws -> WrittenTensor {
    return try written.tensors[tensor.id].orThrow(
      ModelError(
        .mismatch, "the tensor is not part of the network",
        hint: "only tensors that an output depends on are computed"))
  }
}

extension NetworkTensor {
  /// The shape, as far as it is known.
  ///
  /// - Throws: `ModelError` with the first layer that does not fit its input.
  public func shape(customLayers: [Network.CustomLayerType] = []) throws -> TensorShape {
    if case .input(_, let shape) = source { return shape }
    let inputs = TensorGraph.ordered([self]).compactMap { $0 as? Input }
    return try Network(inputs: inputs, outputs: [self]).shape(of: self, customLayers)
  }
}
