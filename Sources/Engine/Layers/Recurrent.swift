import CoreMLModel
import TensorCore

/// A recurrent cell over a sequence, forward, backward or both.
struct RecurrentOperation: NodeOperation {
  /// One cell, or a forward and a backward cell.
  var cells: [RecurrentCell]
  var isReversed: Bool
  var givesSequence: Bool
  var inputCount: Int
  var units: Int

  var kind: String { "recurrent" }
  var sumsProducts: Bool { true }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let operation = self
    let inputs = context.inputs
    let outputs = context.outputs
    let shape = inputs[0].layout.shape
    return { run in
      let source = UnsafeBufferPointer(
        start: run.pointer(inputs[0]), count: shape.images * operation.inputCount)
      let width = operation.units * operation.cells.count
      for (direction, cell) in operation.cells.enumerated() {
        let isReversed = direction == 0 ? operation.isReversed : true
        for item in 0..<shape.batch {
          var state = RecurrentState(units: operation.units)
          for (slot, path) in [\RecurrentState.hidden, \RecurrentState.cell].enumerated() {
            let index = 1 + direction * cell.stateCount + slot
            guard slot < cell.stateCount, index < inputs.count else { continue }
            let given = run.pointer(inputs[index])
            let start = inputs[index].layout.shape.images == 1 ? 0 : item * operation.units
            for unit in 0..<operation.units { state[keyPath: path][unit] = given[start + unit] }
          }
          let target = run.pointer(outputs[0])
          for step in 0..<shape.sequence {
            let time = isReversed ? shape.sequence - 1 - step : step
            let row = (time * shape.batch + item) * operation.inputCount
            cell.advance(
              &state, UnsafeBufferPointer(rebasing: source[row..<row + operation.inputCount]))
            if operation.givesSequence || step == shape.sequence - 1 {
              // A reversed layer outputs its steps in processing order, a bidirectional layer in
              // time order.
              let position =
                !operation.givesSequence ? 0 : operation.cells.count == 1 ? step : time
              let offset = (position * shape.batch + item) * width + direction * operation.units
              for unit in 0..<operation.units { target[offset + unit] = state.hidden[unit] }
            }
          }
          for (slot, values) in [state.hidden, state.cell].enumerated() {
            let index = 1 + direction * cell.stateCount + slot
            guard slot < cell.stateCount, index < outputs.count else { continue }
            let given = run.pointer(outputs[index])
            for unit in 0..<operation.units { given[item * operation.units + unit] = values[unit] }
          }
        }
      }
    }
  }
}

struct RecurrentState {
  var hidden: [Float]
  var cell: [Float]

  init(units: Int) {
    hidden = [Float](repeating: 0, count: units)
    cell = hidden
  }
}

/// One cell: its gates, and how they compute the next state.
struct RecurrentCell: Sendable {
  typealias Function = @Sendable (Float) -> Float

  enum Kind: Sendable {
    case simple(Function)
    /// Gates z, r and o; a second o with b′ if the reset gate applies after the product.
    case gru(gate: Function, output: Function)
    /// Gates i, f, o and the block input.
    case lstm(LSTM)
  }

  struct LSTM: Sendable {
    var gate: Function
    var input: Function
    var output: Function
    var isCoupled: Bool
    var clip: Float
    /// Peephole weights of i, f and o; empty if there are none.
    var peepholes: [[Float]]
  }

  var kind: Kind
  var gates: [RecurrentGates]

  /// The number of states: h, and for an LSTM also c.
  var stateCount: Int { if case .lstm = kind { 2 } else { 1 } }

  /// The specification clips every argument of a function to −50 to 50.
  private static func clipped(_ value: Float) -> Float { min(max(value, -50), 50) }

  func advance(_ state: inout RecurrentState, _ x: UnsafeBufferPointer<Float>) {
    let h = state.hidden
    switch kind {
    case .simple(let f):
      state.hidden = gates[0].sums(x, h).map { f(Self.clipped($0)) }
    case .gru(let gate, let output):
      let z = gates[0].sums(x, h).map { gate(Self.clipped($0)) }
      let r = gates[1].sums(x, h).map { gate(Self.clipped($0)) }
      let candidate =
        gates.count == 3
        ? gates[2].sums(x, zip(r, h).map { $0 * $1 })
        : zip(gates[2].sums(x, []), zip(r, gates[3].sums(.init(start: nil, count: 0), h)))
          .map { $0 + $1.0 * $1.1 }
      let o = candidate.map { output(Self.clipped($0)) }
      for unit in h.indices { state.hidden[unit] = (1 - z[unit]) * o[unit] + z[unit] * h[unit] }
    case .lstm(let settings):
      advance(&state, x, settings)
    }
  }

  private func advance(
    _ state: inout RecurrentState, _ x: UnsafeBufferPointer<Float>, _ settings: LSTM
  ) {
    let h = state.hidden
    // `forgetBias` is ignored: converters set it although the stored bias includes the 1.
    func gate(_ index: Int, _ peephole: Int, _ cell: [Float]) -> [Float] {
      var sums = gates[index].sums(x, h)
      for unit in sums.indices {
        var sum = sums[unit]
        if !settings.peepholes.isEmpty { sum += settings.peepholes[peephole][unit] * cell[unit] }
        sums[unit] = settings.gate(Self.clipped(sum))
      }
      return sums
    }
    let i = gate(0, 0, state.cell)
    let f =
      settings.isCoupled
      ? i.map { 1 - $0 } : gate(1, 1, state.cell)
    let z = gates[3].sums(x, h).map { settings.input(Self.clipped($0)) }
    for unit in h.indices {
      let value = state.cell[unit] * f[unit] + i[unit] * z[unit]
      state.cell[unit] = min(max(value, -settings.clip), settings.clip)
    }
    let o = gate(2, 2, state.cell)
    for unit in h.indices {
      state.hidden[unit] = settings.output(Self.clipped(state.cell[unit])) * o[unit]
    }
  }
}

/// W·x + R·h + b of one gate.
struct RecurrentGates: Sendable {
  /// `[units, inputs]` and `[units, units]`
  var weights: [Float]
  var recursion: [Float]
  var bias: [Float]

  func sums(_ x: UnsafeBufferPointer<Float>, _ h: [Float]) -> [Float] {
    var sums = bias
    h.withUnsafeBufferPointer { h in
      weights.withUnsafeBufferPointer { w in
        recursion.withUnsafeBufferPointer { r in
          for unit in sums.indices {
            sums[unit] +=
              Self.dot(w.baseAddress, row: unit, x) + Self.dot(r.baseAddress, row: unit, h)
          }
        }
      }
    }
    return sums
  }

  private static func dot(
    _ matrix: UnsafePointer<Float>?, row: Int, _ vector: UnsafeBufferPointer<Float>
  ) -> Float {
    guard let matrix, let elements = vector.baseAddress else { return 0 }
    let weights = matrix + row * vector.count
    var sum = SIMD8<Float>.zero
    var index = 0
    while index + 8 <= vector.count {
      let a = UnsafeRawPointer(weights + index).loadUnaligned(as: SIMD8<Float>.self)
      let b = UnsafeRawPointer(elements + index).loadUnaligned(as: SIMD8<Float>.self)
      sum += a * b
      index += 8
    }
    var rest: Float = 0
    while index < vector.count {
      rest += weights[index] * elements[index]
      index += 1
    }
    return sum.sum() + rest
  }
}
