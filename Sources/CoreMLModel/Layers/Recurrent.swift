import TensorCore

/// The shape of a recurrent layer's weight, as implied by its name.
func recurrentWeightShape(_ name: String, _ inputs: Int, _ outputs: Int) -> [Int] {
  let lowered = name.lowercased()
  if lowered.hasSuffix("vector") { return [outputs] }
  return lowered.contains("recursion") ? [outputs, outputs] : [outputs, inputs]
}

/// A layer that computes step by step from a state; its inputs after the first are states.
package protocol RecurrentLayer: LayerParameters {
  var inputVectorSize: Int { get }
  var outputVectorSize: Int { get }
  /// The number of gates of all directions.
  var gateCount: Int { get }
  /// The functions of all gates, cells and directions.
  var functions: [Activation] { get }
}

extension RecurrentLayer {
  package static var minimumRank: Int { 5 }

  package func multiplyAdds(_ inputs: [[Int]], _ outputs: [[Int]]) -> Int {
    MultiplyAdds.recurrent(inputs, gates: gateCount, inputVectorSize, outputVectorSize)
  }
}

/// A recurrent layer with separate fields for the weights of each gate.
protocol GatedLayer: RecurrentLayer {
  var sequenceOutput: Bool { get }
  var hasBias: Bool { get }
}

extension GatedLayer {
  /// Shapes of the output and of the state.
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try recurrentShapes(inputs, states: 1, sequenceOutput: sequenceOutput)
  }
}

/// The weights of one gate: for the input, for the previous state, and the bias.
package struct RecurrentWeights: Sendable, Equatable {
  /// `[units, inputs]`
  package var matrix: Weights?
  /// `[units, units]`
  package var recursion: Weights?
  package var bias: Weights?
  /// Peephole weights for an LSTM's cell.
  package var peephole: Weights?

  package init(_ matrix: Weights? = nil, _ recursion: Weights? = nil, _ bias: Weights? = nil) {
    (self.matrix, self.recursion, self.bias) = (matrix, recursion, bias)
  }

  /// The gate's weights with the suffixes of their field names.
  static let parts: [(name: String, path: WritableKeyPath<Self, Weights?> & Sendable)] = [
    ("WeightMatrix", \.matrix), ("RecursionMatrix", \.recursion), ("BiasVector", \.bias),
  ]
}

extension Field where Message: GatedLayer {
  /// The weights of gates, in the specification's order.
  static func gates(
    _ gates: [(name: String, path: WritableKeyPath<Message, RecurrentWeights>)]
  ) -> [Self] {
    RecurrentWeights.parts.flatMap { part in
      gates.map { gate($0.name + part.name, $0.path.appending(path: part.path)) }
    }
  }

  static func gate(_ name: String, _ path: WritableKeyPath<Message, Weights?>) -> Self {
    .weights(
      name, path, isNeeded: { name.hasSuffix("Matrix") || $0.hasBias },
      { recurrentWeightShape(name, $0.inputVectorSize, $0.outputVectorSize) })
  }
}

extension RecurrentLayer {
  /// `[Seq or 1, Batch, size, 1, 1]` for the output, then the shape of one step for each state.
  func recurrentShapes(
    _ inputs: [[Int]], states: Int, sequenceOutput: Bool
  ) throws -> [[Int]] {
    let shape = try input(inputs)
    try require(
      [1, states + 1].contains(inputs.count),
      "the layer has \(counted(inputs.count, "input")); it needs 1 or \(states + 1)", field: "input"
    )
    try require(
      shape.itemCount == inputVectorSize,
      "the input has \(try shape.itemCount) values per item, not \(inputVectorSize)",
      field: "inputVectorSize")
    let state = try BlobShape([1, shape.batch, outputVectorSize, 1, 1]).checked
    // As in Core ML, only the element count matters: coremltools has [B, H, 1, 1, 1]. If there are
    // more rows than sequences, the first are used: for packed sequences, coremltools passes zeros
    // with as many rows as the longest sequence has steps.
    let count = try checkedProduct(state)
    for input in inputs.dropFirst() {
      let given = try checkedProduct(input)
      try require(
        given >= count && given.isMultiple(of: outputVectorSize),
        "a state has the shape \(input), not \(state)", field: "input")
    }
    var output = state
    if sequenceOutput { output[0] = shape.sequence }
    return [try BlobShape(output).checked] + Array(repeating: state, count: states)
  }
}

extension Activation {
  /// The function as recurrent layers compute it. coremltools omits the constants of three
  /// functions, which then default to those of Keras: tanh(x), 0.2x + 0.5 clamped to 0...1, and x.
  /// Apple's LSTM tests in coremltools do the same.
  package var recurrentFunction: Function? {
    switch function {
    case .linear(alpha: 0, beta: 0): .linear(alpha: 1, beta: 0)
    case .scaledTanh(alpha: 0, beta: 0): .tanh
    case .sigmoidHard(alpha: 0, beta: 0): .sigmoidHard(alpha: 0.2, beta: 0.5)
    default: function
    }
  }

  /// Whether the values of a recurrent layer's function are unbounded.
  package var isUnbounded: Bool {
    switch function {
    case .linear, .relu: true
    default: false
    }
  }
}

extension LayerParameters {
  /// Whether it is a recurrent layer with a function that clipping its arguments to ±50 changes.
  package var clipsArguments: Bool {
    (self as? any RecurrentLayer)?.functions.contains(where: \.isUnbounded) ?? false
  }
}
