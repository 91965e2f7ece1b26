import CoreMLModel
import TensorCore

/// Settings that all recurrent cells share.
struct RecurrentSettings: Sendable {
  let units: Int
  let activation: ActivationFunction
  let hasBias: Bool
  /// The activation; nil if Core ML's recurrent layers lack it.
  let nativeActivation: Activation?

  var isUnbounded: Bool { nativeActivation?.isUnbounded == true }

  init(_ configuration: LayerConfiguration) throws {
    units = try configuration.int("units", "output_dim")
    activation = try configuration.recurrentActivation("activation", default: "tanh")
    nativeActivation = activation.native(configuration.version)
    hasBias = try configuration.bool("use_bias", default: true)
  }
}

/// The direction of a recurrent layer, and what it returns.
struct RecurrentPath: Sendable {
  let returnsSequences: Bool
  let returnsState: Bool
  var isReversed: Bool
  /// Whether masked steps output 0 instead of repeating the previous output.
  var zeroesIgnored: Bool

  init(_ configuration: LayerConfiguration) throws {
    returnsSequences = try configuration.bool("return_sequences", default: false)
    returnsState = try configuration.bool("return_state", default: false)
    isReversed = try configuration.bool("go_backwards", default: false)
    try configuration.require(
      !configuration.bool("time_major", default: false), "time_major",
      unsupported: "time-major sequences are not supported",
      hint: "build the model with time_major=False, the default")
    zeroesIgnored = try configuration.bool("zero_output_for_mask", default: false)
  }

  func output(_ input: KerasTensor, units: Int) -> KerasTensor {
    var output = input
    output.shape =
      returnsSequences ? [input.shape[0], input.shape[1], units] : [input.shape[0], units]
    output.layout = returnsSequences ? .sequence : .vector
    output.isShapeAssumed = false
    if !returnsSequences { output.mask = nil }
    return output
  }
}

extension LayerConfiguration {
  /// The activation of a gate or a state.
  func recurrentActivation(_ names: String..., default standard: String) throws
    -> ActivationFunction
  {
    let name = names.first { self[$0] != nil }
    return try name.map { try ActivationFunction(self, $0) } ?? .named(standard)
  }
}

extension ActivationFunction {
  /// The activation for Core ML's recurrent layers, with explicit parameters.
  func native(_ version: KerasVersion) -> Activation? {
    switch self {
    case .linear: return Activation(.linear(alpha: 1, beta: 0))
    case .layer, .code: return nil
    case .named(let text):
      switch text {
      case "tanh": return Activation(.tanh)
      case "sigmoid": return Activation(.sigmoid)
      case "relu": return Activation(.relu)
      // Keras 3 uses x / 6 + 0.5, which Core ML's recurrent layers lack.
      case "hard_sigmoid" where !version.isAtLeast(3, 0):
        return Activation(.sigmoidHard(alpha: 0.2, beta: 0.5))
      default: return nil
      }
    }
  }
}

/// The activation of gates in Core ML's recurrent layers.
struct GateFunction: Sendable {
  /// The activation; nil if Core ML lacks it.
  let activation: Activation?
  /// The factor for the gates' weights: Keras 3's hard sigmoid of x, x / 6 + 0.5, equals the
  /// earlier hard sigmoid, 0.2x + 0.5, of 5x / 6.
  let scale: Float

  init(_ function: ActivationFunction, _ version: KerasVersion) {
    if version.isAtLeast(3, 0), function == .named("hard_sigmoid") {
      activation = Activation(.sigmoidHard(alpha: 0.2, beta: 0.5))
      scale = 5.0 / 6
    } else {
      activation = function.native(version)
      scale = 1
    }
  }
}

/// The weights of a recurrent layer's gates.
struct GateWeights {
  /// One matrix `[units, inputs]` per gate.
  var input: [FloatValues]
  /// One matrix `[units, units]` per gate.
  var recurrent: [FloatValues]
  /// One vector per gate; empty if there is no bias.
  var bias: [FloatValues] = []
  /// Biases of the recurrent products; empty if there are none.
  var recurrentBias: [FloatValues] = []
  var inputSize: Int

  /// The weights of one gate in Core ML's form.
  func native(_ gate: Int) -> RecurrentWeights {
    RecurrentWeights(
      Weights(input[gate]), Weights(recurrent[gate]), bias.isEmpty ? nil : Weights(bias[gate]))
  }

  /// How a layer stores its weights.
  enum Storage {
    case keras
    /// With a separate bias for the recurrent part: `[2, gates · units]`.
    case twoBiases
    /// In cuDNN's form: matrices transposed in place, and both biases in one vector.
    case cuDNN
  }

  /// Reads the weights of the gates. Keras 2 concatenates the gates in `kernel`, `recurrent_kernel`
  /// and `bias`; Keras 1 stores them separately.
  ///
  /// - Parameter names: Keras 1's letters for the gates, in the order of the result.
  init(
    _ call: LayerCall, units: Int, hasBias: Bool, gates names: [String], inputs channels: Int?,
    prefix: String = "", storage: Storage = .keras
  ) throws {
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
    let isTransposed = storage == .cuDNN
    input = try Self.blocks(kernel, units, names.count, isTransposed: isTransposed)
    recurrent = try Self.blocks(recurrentKernel, units, names.count, isTransposed: isTransposed)
    inputSize = kernel.shape[0]
    guard hasBias else { return }
    func parts(_ values: ArraySlice<Float>) -> [FloatValues] {
      (0..<names.count).map { FloatValues(Array(values.dropFirst($0 * units).prefix(units))) }
    }
    switch storage {
    case .keras: bias = parts(try call.weight(prefix + "bias", [width]).array()[...])
    case .twoBiases, .cuDNN:
      let shape: [Int?] = storage == .cuDNN ? [2 * width] : [2, width]
      let values = try call.weight(prefix + "bias", shape).array()
      bias = parts(values[..<width])
      recurrentBias = parts(values[width...])
    }
  }

  /// Splits `[rows, count · units]` into matrices `[units, rows]`. A block that is transposed in
  /// place stores `[units, rows]` in the memory of `[rows, units]`.
  private static func blocks(
    _ values: FloatValues, _ units: Int, _ count: Int, isTransposed: Bool
  ) throws -> [FloatValues] {
    let rows = values.shape[0]
    let source = try values.array()
    let width = units * count
    return (0..<count).map { block in
      var target: [Float] = []
      target.reserveCapacity(units * rows)
      if isTransposed {
        for row in 0..<rows {
          for unit in 0..<units { target.append(source[row * width + block * units + unit]) }
        }
      } else {
        for unit in 0..<units {
          for row in 0..<rows { target.append(source[row * width + block * units + unit]) }
        }
      }
      return FloatValues(target).shaped([units, rows])
    }
  }

  /// The weights, with those of the given gates multiplied by a factor.
  func scaled(_ gates: [Int], by factor: Float) throws -> GateWeights {
    guard factor != 1 else { return self }
    func scaled(_ values: [FloatValues]) throws -> [FloatValues] {
      try values.enumerated().map { index, value in
        gates.contains(index) ? try value.map { factor * $0 } : value
      }
    }
    var result = self
    result.input = try scaled(input)
    result.recurrent = try scaled(recurrent)
    result.bias = try scaled(bias)
    result.recurrentBias = try scaled(recurrentBias)
    return result
  }

  /// Computes the gates' products with the input in the given `order`, and then runs `step`.
  func steps(_ order: [Int]? = nil, _ step: @escaping RecurrentSteps.Step) throws -> RecurrentSteps
  {
    let order = order ?? Array(input.indices)
    let matrix = try Self.stacked(order.map { input[$0] })
    let stackedBias = bias.isEmpty ? nil : try Self.stacked(order.map { bias[$0] })
    let outputs = input.reduce(0) { $0 + $1.shape[0] }
    return RecurrentSteps(
      prepare: { blob, name, network in
        network.matrixProduct(
          blob, matrix, inputs: inputSize, outputs: outputs, bias: stackedBias, name)
      }, step: step)
  }

  /// Adds the recurrent biases to the others, if nothing separates the two products.
  mutating func mergeBiases() throws {
    for (gate, other) in recurrentBias.enumerated() {
      bias[gate] = FloatValues(try zip(bias[gate].array(), other.array()).map(+))
    }
    recurrentBias = []
  }

  /// The concatenated matrices or vectors of some gates.
  static func stacked(_ values: [FloatValues]) throws -> Weights {
    var all: [Float] = []
    all.reserveCapacity(try computedCount([values.reduce(0) { $0 + $1.count }]))
    for part in values { all += try part.array() }
    return Weights(all)
  }

  /// The weight slots of a layer: three in Keras 2, three per gate in Keras 1.
  static func slots(
    _ configuration: LayerConfiguration, gates: [String], hasBias: Bool
  ) -> [WeightSlot] {
    let isKeras1 = configuration["output_dim"] != nil
    if isKeras1, gates.count > 1, configuration["consume_less"]?.string != "gpu" {
      return gates.flatMap { gate in ["W_", "U_", "b_"].map { WeightSlot($0 + gate) } }
    }
    return WeightSlot.named("kernel", "recurrent_kernel", hasBias ? "bias" : nil)
  }
}
