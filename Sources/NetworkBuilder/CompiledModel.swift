import Engine
import ModelPrediction
import TensorCore

/// A network that is ready to run.
///
/// It may be used from several threads. Predictions run one after the other, each on all of the
/// model's threads; the numbers do not depend on the number of threads.
public final class CompiledModel: Sendable {
  private let network: CompiledNetwork
  private let interface: ModelInterface
  private let inputs: [BoundInput]
  /// The blobs of outputs and kept tensors, by tensor ID.
  private let names: [Int: String]

  init(_ written: WrittenNetwork, options: CompileOptions, names: [Int: String]) throws {
    network = try CompiledNetwork(model: written.model, options: options)
    interface = ModelInterface(written.model)
    inputs = written.inputs
    self.names = names
  }

  /// The inputs' names.
  public var inputNames: [String] {
    var seen: Set<String> = []
    return inputs.map(\.name).filter { seen.insert($0).inserted }
  }

  /// The outputs' names, which are those of the layers that compute them.
  public var outputNames: [String] { network.outputs.map(\.name) }

  /// The bytes of memory for weights, rearranged for computing, and for intermediate results.
  public var memoryBytes: Int { network.packedWeightBytes + network.arenaBytes }

  /// Runs a network with a single input on an image.
  public func predict(_ image: Image) throws -> NetworkPrediction { try predict(.image(image)) }

  /// Runs a network with a single input on numbers `[height, width, channels]`.
  public func predict(_ floats: [Float]) throws -> NetworkPrediction {
    try predict(.floats(floats))
  }

  /// Runs a network with a single input.
  public func predict(_ value: InputValue) throws -> NetworkPrediction { try run(prepared(value)) }

  /// Runs the network.
  ///
  /// - Parameter values: one value for each input, by name.
  /// - Throws: `ModelError` that names the input, or the layer that failed.
  public func predict(_ values: [String: InputValue]) throws -> NetworkPrediction {
    try run(prepared(values))
  }

  /// Values, and the crops chosen for images.
  struct PreparedInputs: Sendable {
    var values: [(input: BoundInput, value: InputValue, crop: Resize.Crop?)]
  }

  func prepared(_ value: InputValue) throws -> PreparedInputs {
    guard let name = inputNames.first, inputNames.count == 1 else {
      throw ModelError(
        .mismatch, "one value, but the network has \(counted(inputNames.count, "input"))",
        hint: "pass a dictionary with a value for each of \(inputNames.joined(separator: ", "))")
    }
    return try prepared([name: value])
  }

  func prepared(_ values: [String: InputValue]) throws -> PreparedInputs {
    for name in values.keys.sorted() where !inputNames.contains(name) {
      throw ModelError(
        .mismatch, "the network has no input '\(name)'",
        hint: "its inputs are \(inputNames.joined(separator: ", "))")
    }
    return PreparedInputs(
      values: try inputs.map { input in
        let value = try values[input.name].orThrow(
          ModelError(.mismatch, "no value for input '\(input.name)'"))
        return (input, value, input.crop)
      })
  }

  func run(_ prepared: PreparedInputs) throws -> NetworkPrediction {
    var blobs: [String: Tensor] = [:]
    for (input, value, crop) in prepared.values {
      blobs[input.feature] = try input.blob(value, crop: crop, interface)
    }
    return NetworkPrediction(
      interface.prediction([try network.predict(blobs)], kept: network.keptBlobs.map(\.name)),
      outputCount: network.outputs.count, names: names)
  }
}
