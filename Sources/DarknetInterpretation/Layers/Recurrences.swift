import Interpretation
import LibC
import TensorCore

extension DarknetOperations {
  static let recurrences: [String: DarknetOperation] = [
    "rnn": simple, "gru": gated, "lstm": longShortTermMemory, "crnn": convolutionalRecurrent,
    "conv_lstm": convolutionalLongMemory,
  ]

  /// rnn_layer.c: s = f(U · x) + g(W · s), out = f(V · s)
  private static let simple: DarknetOperation = { maker, plan in
    let outputs = try maker.size("output", 1)
    let hidden = try maker.size("hidden", outputs)
    let isNormalized = try maker.section.bool("batch_normalize")
    let matrices = try [(maker.count, hidden), (hidden, hidden), (hidden, outputs)].map {
      try ConnectedProduct($0, $1, isNormalized: isNormalized, &plan)
    }
    let keepsState = try maker.section.bool("shortcut")
    let activation = try maker.activation("logistic")
    let names = [1: "logistic", 2: "loggy"]
    let own = try names[maker.int("logistic", 0)].map { try DarknetActivations.function($0) }
    return try maker.made([outputs, 1, 1], states: [("state", [hidden, 1, 1])]) { call in
      let state = try call.state("state", [hidden, 1, 1])
      let parts = [
        try activation(matrices[0].applied(to: call.input)),
        try (own ?? activation)(matrices[1].applied(to: state)),
      ]
      let next = DoubleArray(
        shape: state.shape,
        state.values.indices.map {
          parts[0].values[$0] + parts[1].values[$0] + (keepsState ? state.values[$0] : 0)
        })
      call.states["state"] = next
      return try activation(matrices[2].applied(to: next))
    }
  }

  /// gru_layer.c. Redmon's version stores the matrices for the state first, Bochkovskiy's those for
  /// the input.
  private static let gated: DarknetOperation = { maker, plan in
    let outputs = try maker.size("output", 1)
    let isNormalized = try maker.section.bool("batch_normalize")
    let isTanh = try maker.section.bool("tanh")
    let sizes = [outputs, maker.count]
    let inputFirst = plan.weights.isOfBochkovskiy
    var stored: [[ConnectedProduct]] = []
    for inputs in inputFirst ? sizes.reversed() : sizes {
      stored.append(
        try (0..<3).map { _ in
          try ConnectedProduct(inputs, outputs, isNormalized: isNormalized, &plan)
        })
    }
    let (ofInput, ofState) = inputFirst ? (stored[0], stored[1]) : (stored[1], stored[0])
    return try maker.made([outputs, 1, 1], states: [("state", [outputs, 1, 1])]) { call in
      let state = try call.state("state", [outputs, 1, 1])
      func sum(_ gate: Int, _ state: DoubleArray) throws -> [Double] {
        zip(
          try ofInput[gate].applied(to: call.input).values,
          try ofState[gate].applied(to: state).values
        ).map(+)
      }
      let z = try sum(0, state).map(DarknetActivations.logistic)
      let r = try sum(1, state).map(DarknetActivations.logistic)
      let forgotten = DoubleArray(shape: state.shape, zip(r, state.values).map(*))
      let h = try sum(2, forgotten).map { isTanh ? tanh($0) : DarknetActivations.logistic($0) }
      let next = DoubleArray(
        shape: state.shape, z.indices.map { z[$0] * state.values[$0] + (1 - z[$0]) * h[$0] })
      call.states["state"] = next
      return next
    }
  }

  /// lstm_layer.c. Redmon's version stores the gates in the order i, f, o, g, Bochkovskiy's in the
  /// order f, i, g, o; the matrices for the state come first.
  private static let longShortTermMemory: DarknetOperation = { maker, plan in
    let outputs = try maker.size("output", 1)
    let isNormalized = try maker.section.bool("batch_normalize")
    let gates = plan.weights.isOfBochkovskiy ? ["f", "i", "g", "o"] : ["i", "f", "o", "g"]
    var stored: [[String: ConnectedProduct]] = []
    for inputs in [outputs, maker.count] {
      var matrices: [String: ConnectedProduct] = [:]
      for gate in gates {
        matrices[gate] = try ConnectedProduct(inputs, outputs, isNormalized: isNormalized, &plan)
      }
      stored.append(matrices)
    }
    let matrices = stored
    let states = ["state", "cell"].map { (name: $0, shape: [outputs, 1, 1]) }
    return try maker.made([outputs, 1, 1], states: states) { call in
      let state = try call.state("state", [outputs, 1, 1])
      let cell = try call.state("cell", [outputs, 1, 1])
      func sum(_ gate: String) throws -> [Double] {
        zip(
          try matrices[0][gate]?.applied(to: state).values ?? [],
          try matrices[1][gate]?.applied(to: call.input).values ?? []
        ).map(+)
      }
      let i = try sum("i").map(DarknetActivations.logistic)
      let f = try sum("f").map(DarknetActivations.logistic)
      let o = try sum("o").map(DarknetActivations.logistic)
      let g = try sum("g").map { tanh($0) }
      let next = i.indices.map { f[$0] * cell.values[$0] + i[$0] * g[$0] }
      let result = DoubleArray(shape: state.shape, i.indices.map { o[$0] * tanh(next[$0]) })
      call.states["state"] = result
      call.states["cell"] = DoubleArray(shape: state.shape, next)
      return result
    }
  }
}
