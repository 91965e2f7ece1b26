import CoreMLModel
import TensorCore

/// What the recurrent layers have in common.
struct RecurrentSettings: Sendable {
  let units: Int
  let activation: Activation
  let hasBias: Bool
  let returnsSequences: Bool
  let returnsState: Bool
  let isReversed: Bool

  init(_ configuration: LayerConfiguration) throws {
    units = try configuration.int("units", "output_dim")
    activation = try configuration.recurrentActivation("activation", default: "tanh")
    hasBias = try configuration.bool("use_bias", default: true)
    returnsSequences = try configuration.bool("return_sequences", default: false)
    returnsState = try configuration.bool("return_state", default: false)
    isReversed = try configuration.bool("go_backwards", default: false)
  }

  /// The sequence that a recurrent layer takes.
  func input(_ call: LayerCall, _ network: inout NetworkWriter) throws -> KerasTensor {
    guard let input = call.inputs.first else { throw call.error("it has no inputs") }
    guard input.rank == 3 else { throw call.error("its input \(input.shapeText) is no sequence") }
    return network.standard(input, for: call.name)
  }

  func output(_ input: KerasTensor, units: Int) -> KerasTensor {
    var output = input
    output.shape =
      returnsSequences
      ? [input.shape[0], input.shape[1], units] : [input.shape[0], units]
    output.layout = returnsSequences ? .sequence : .vector
    output.isGuess = false
    return output
  }

  /// The outputs with the states that `return_state` asks for.
  func outputs(_ blobs: [String], _ input: KerasTensor) -> [KerasTensor] {
    var result = [output(input, units: units)]
    result[0].blob = blobs[0]
    guard returnsState else { return result }
    for blob in blobs.dropFirst() {
      result.append(
        KerasTensor(blob: blob, shape: [input.shape[0], units], layout: .vector))
    }
    return result
  }
}

extension LayerConfiguration {
  /// A function that Core ML's recurrent layers have.
  func recurrentActivation(_ names: String..., default standard: String) throws -> Activation {
    let name = field(names)?.name ?? names[0]
    let function =
      try fields[name].map { _ in try ActivationFunction(self, name) } ?? .named(standard)
    switch function {
    case .linear: return Activation(.linear(alpha: 1, beta: 0))
    case .named(let text):
      switch ActivationFunction.plainName(text) {
      case "tanh": return Activation(.tanh)
      case "sigmoid": return Activation(.sigmoid)
      case "relu": return Activation(.relu)
      case "hard_sigmoid":
        return Activation(.sigmoidHard(alpha: version.isAtLeast(3, 0) ? 1 / 6 : 0.2, beta: 0.5))
      default:
        throw unsupported(
          name, "'\(text)' is not one that Core ML's recurrent layers have",
          hint: "they have linear, tanh, sigmoid, hard_sigmoid and relu")
      }
    case .layer(let className, _):
      throw unsupported(name, "'\(className)' is not one that Core ML's recurrent layers have")
    }
  }
}

/// The gates' weights of a recurrent layer.
struct GateWeights {
  /// One matrix `[units, inputs]` a gate.
  var input: [FloatValues]
  /// One matrix `[units, units]` a gate.
  var recurrent: [FloatValues]
  /// Empty without a bias.
  var bias: [FloatValues]
  var inputSize: Int

  /// Reads the weights of `gates` gates, which Keras 2 keeps side by side in `kernel`,
  /// `recurrent_kernel` and `bias`, and Keras 1 gate by gate.
  ///
  /// - Parameter names: Keras 1's letters, in the order in which the result has the gates.
  init(_ call: LayerCall, _ settings: RecurrentSettings, gates names: [String], prefix: String = "")
    throws
  {
    let units = settings.units
    let channels = call.inputs.first.flatMap { $0.isGuess ? nil : $0.channels }
    if call.weights.contains(where: { $0.name == prefix + "W_\(names[0])" }) {
      input = try names.map {
        try call.weight(prefix + "W_\($0)", [channels, units]).transposed([1, 0])
      }
      recurrent = try names.map {
        try call.weight(prefix + "U_\($0)", [units, units]).transposed([1, 0])
      }
      bias = try names.map { try call.weight(prefix + "b_\($0)", [units]) }
      inputSize = input[0].shape[1]
      return
    }
    let width = try checkedProduct([units, names.count], limit: Limits.dimension)
    let kernel = try call.weight(prefix + "kernel", [channels, width])
    let recurrentKernel = try call.weight(prefix + "recurrent_kernel", [units, width])
    input = Self.blocks(kernel, units, names.count)
    recurrent = Self.blocks(recurrentKernel, units, names.count)
    inputSize = kernel.shape[0]
    bias = []
    if settings.hasBias {
      let values = try call.weight(prefix + "bias", [width]).array()
      bias = (0..<names.count).map { FloatValues(Array(values[$0 * units..<($0 + 1) * units])) }
    }
  }

  /// The blocks of `[rows, count · units]` as `[units, rows]` each.
  private static func blocks(_ values: FloatValues, _ units: Int, _ count: Int) -> [FloatValues] {
    let rows = values.shape[0]
    let source = values.array()
    let width = units * count
    return (0..<count).map { block in
      var target: [Float] = []
      target.reserveCapacity(units * rows)
      for unit in 0..<units {
        for row in 0..<rows { target.append(source[row * width + block * units + unit]) }
      }
      return FloatValues(target).shaped([units, rows])
    }
  }

  /// Slots of a layer: Keras 2's three, or Keras 1's three for each gate.
  static func slots(
    _ configuration: LayerConfiguration, gates: [String], hasBias: Bool
  ) -> [WeightSlot] {
    let isKeras1 = configuration.fields["output_dim"] != nil
    if isKeras1, gates.count > 1, configuration.fields["consume_less"]?.string != "gpu" {
      return gates.flatMap { gate in ["W_", "U_", "b_"].map { WeightSlot($0 + gate) } }
    }
    return [WeightSlot("kernel"), WeightSlot("recurrent_kernel")]
      + (hasBias ? [WeightSlot("bias")] : [])
  }
}

extension NetworkWriter {
  /// Blobs of a recurrent layer's states: those that the call gives, or optional inputs of the
  /// model, named as the reference names them.
  mutating func stateInputs(_ suffixes: [String], _ call: LayerCall, units: Int) throws -> [String]
  {
    if call.inputs.count > 1 {
      guard call.inputs.count == suffixes.count + 1 else {
        throw call.error("it takes \(suffixes.count) initial states, not \(call.inputs.count - 1)")
      }
      return call.inputs.dropFirst().map(\.blob)
    }
    return suffixes.map { addStateInput("\(call.name)_\($0)", units: units) }
  }
}
