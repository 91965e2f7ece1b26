import CoreMLModel
import TensorCore

/// A recurrent cell as one Core ML LSTM that runs several phases per step of the cell, for
/// sequences of unknown length.
///
/// The LSTM has sigmoid gates and no other functions: c = f ∘ c + i ∘ z and h = c with i, f = σ(…)
/// and a linear z. Its units form blocks, each active in one phase of a step; in the other phases,
/// a large term keeps its gates open or closed. A block with input gate σ(2v) and z = 2 yields
/// tanh(v) + 1. The input is repeated for each phase, with a one-hot vector of the phase. A masked
/// step has no phase, only the term that keeps the states: no sum has large terms of both signs, so
/// one that overflows half precision is infinite, but never NaN.
struct PhasedCell {
  /// The terms of one gate of a block.
  struct Sum {
    /// A matrix `[units, inputs]`.
    var input: [Float]?
    /// Matrices `[units, units]` for the outputs of other blocks.
    var recurrent: [(block: Int, matrix: [Float])] = []
    var bias: [Float]?
    /// The term added in each phase of an unmasked step.
    var phases: [Float] = []
    /// The term added at masked steps.
    var mask: Float = 0
  }

  struct Block {
    var i: Sum
    var f: Sum
    var z: Sum
  }

  /// A term that opens or closes a gate, whatever its other terms.
  static let large: Float = 0x1p17
  /// The input that marks a phase or a masked step: the weights of large terms fit into half
  /// precision.
  static let mark: Float = 4

  var units: Int
  var inputs: Int
  var phases: Int
  var blocks: [Block]
  /// The block that holds each state.
  var states: [Int]

  /// Terms that open or close a gate in each phase; nil leaves the gate to its other terms.
  static func phases(_ open: Bool?...) -> [Float] {
    open.map { $0.map { $0 ? large : -large } ?? 0 }
  }

  static func scaled(_ values: FloatValues, _ factor: Float) throws -> [Float] {
    try values.array().map { factor * $0 }
  }

  static func unit(_ size: Int, _ factor: Float = 1) throws -> [Float] {
    var matrix = try [Float](zeros: size * size)
    for index in 0..<size { matrix[index * (size + 1)] = factor }
    return matrix
  }

  /// The LSTM's weights. Its inputs are the cell's, then one per phase, then the mask.
  func weights() throws -> LSTMWeights {
    let rows = try checkedProduct([units, blocks.count], limit: 1 << 14)
    let columns = inputs + phases + 1
    func matrices(_ part: (Block) -> Sum) throws -> RecurrentWeights {
      var input = try [Float](zeros: rows * columns)
      var recurrent = try [Float](zeros: rows * rows)
      var bias = [Float](repeating: 0, count: rows)
      for (index, block) in blocks.enumerated() {
        let sum = part(block)
        for unit in 0..<units {
          let row = index * units + unit
          if let matrix = sum.input {
            for column in 0..<inputs {
              input[row * columns + column] = matrix[unit * inputs + column]
            }
          }
          for (phase, value) in sum.phases.enumerated() {
            input[row * columns + inputs + phase] = value / Self.mark
          }
          input[row * columns + inputs + phases] = sum.mask / Self.mark
          for (source, matrix) in sum.recurrent {
            for column in 0..<units {
              recurrent[row * rows + source * units + column] += matrix[unit * units + column]
            }
          }
          bias[row] = sum.bias?[unit] ?? 0
        }
      }
      return RecurrentWeights(Weights(input), Weights(recurrent), Weights(bias))
    }
    var weights = LSTMWeights()
    weights.inputGate = try matrices { $0.i }
    weights.forgetGate = try matrices { $0.f }
    weights.blockInput = try matrices { $0.z }
    weights.outputGate = try matrices { _ in
      Sum(bias: [Float](repeating: Self.large / Self.mark, count: units))
    }
    return weights
  }
}

extension KerasWriter {
  /// Runs a phased cell over a sequence.
  ///
  /// - Returns: the blobs of the output and the states.
  mutating func add(
    _ cell: PhasedCell, _ input: KerasTensor, _ path: RecurrentPath, initial: [String],
    _ name: String
  ) throws -> (output: String, states: [String]) {
    let phases = cell.phases
    let layout = TensorLayout.steps
    let rows = relaid(input, to: layout, for: name)
    func repeated(_ blob: String, _ name: String) -> String {
      add(name, Upsample([1, phases]), [blob])
    }
    // Turns a 1 per unmasked step into a one-hot vector per phase.
    let counts =
      if let mask = input.mask { relaid(steps(of: mask), to: layout, for: name).blob } else {
        affine(slice(rows.blob, 0..<1, name + "__first__"), 0, 1, name + "__ones__")
      }
    var positions = [Float](repeating: 0, count: phases * phases)
    for phase in 0..<phases {
      let position = path.isReversed ? phases - 1 - phase : phase
      positions[phase * phases + position] = PhasedCell.mark
    }
    var spread = Convolution(Weights(positions), inputs: 1, outputs: phases, size: [1, phases])
    spread.isDeconvolution = true
    spread.stride = [1, phases]
    let indicators = add(name + "__phases__", spread, [counts])
    let ignored = affine(counts, -PhasedCell.mark, PhasedCell.mark, name + "__ignored__")
    var all = rows
    all.mask = nil
    all.shape[2] = cell.inputs + phases + 1
    all.shape[1] = input.shape[1].map { $0 * phases }
    all.blob = joined(
      [
        repeated(rows.blob, name + "__repeated__"), indicators,
        repeated(ignored, name + "__mask__"),
      ], alongSequence: false, name + "__inputs__")
    all = relaid(all, to: .sequence, for: name + "_phases")
    let units = cell.units * cell.blocks.count
    var layer = UniDirectionalLSTM()
    layer.inputVectorSize = cell.inputs + phases + 1
    layer.outputVectorSize = units
    layer.activations = [
      Activation(.sigmoid), Activation(.linear(alpha: 1, beta: 0)),
      Activation(.linear(alpha: 1, beta: 0)),
    ]
    var parameters = LSTMParameters()
    parameters.sequenceOutput = path.returnsSequences
    parameters.hasBiasVectors = true
    parameters.cellClipThreshold = 50000
    layer.params = parameters
    layer.weightParams = try cell.weights()
    layer.reverseInput = path.isReversed
    // Blocks that hold no state start with zeros.
    let zero = affine(initial[0], 0, 0, name + "__zero__")
    let first = joined(
      cell.blocks.indices.map { block in
        cell.states.firstIndex(of: block).map { initial[$0] } ?? zero
      }, alongSequence: false, name + "__states__")
    let blobs = add(
      name + "__lstm__", layer, [all.blob, first, first],
      outputs: ["output", "h", "c"].map { "\(name)__lstm__\($0)" })
    func block(_ blob: String, _ index: Int, _ name: String) -> String {
      slice(blob, index * cell.units..<(index + 1) * cell.units, name)
    }
    let states = cell.states.enumerated().map { index, state in
      block(blobs[2], state, "\(name)__state_\(index)__")
    }
    guard path.returnsSequences else { return (block(blobs[0], cell.states[0], name), states) }
    // Selects the last phase of each step.
    var result = all
    result.blob = block(blobs[0], cell.states[0], name + "__all__")
    result.shape[2] = cell.units
    result = relaid(result, to: layout, for: name + "_last")
    var kernel = [Float](repeating: 0, count: cell.units * phases)
    for unit in 0..<cell.units { kernel[(unit + 1) * phases - 1] = 1 }
    var last = Convolution(Weights(kernel), inputs: 1, outputs: cell.units, size: [1, phases])
    last.nGroups = cell.units
    last.stride = [1, phases]
    result.blob = add(name, last, [result.blob])
    result.shape[1] = input.shape[1]
    return (relaid(result, to: .sequence, for: name + "_back").blob, states)
  }
}
