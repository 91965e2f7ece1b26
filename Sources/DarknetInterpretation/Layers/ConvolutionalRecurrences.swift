import Interpretation
import TensorCore

/// The convolutions of a recurrent section; their outputs have the size of their inputs.
private struct PlaneConvolutions {
  let plane: [Int]
  private let size: Int
  private let pad: Int
  private let dilation: Int
  private let groups: Int
  private let takesSigns: Bool
  private let isNormalized: Bool
  private let activation: (DoubleArray) throws -> DoubleArray

  init(_ maker: SectionMaker, border: (Int) -> Int, activation: String) throws {
    plane = Array(maker.input[1...])
    size = try maker.size("size", 3)
    let own = try maker.int("padding", border(size))
    let border = try maker.section.bool("pad") ? size / 2 : own
    dilation = size == 1 ? 1 : try maker.size("dilation", 1)
    pad = border * dilation
    takesSigns = try maker.section.bool("xnor")
    groups = takesSigns ? 1 : max(1, try maker.int("groups", 1))
    isNormalized = try maker.section.bool("batch_normalize")
    self.activation = try maker.activation(activation)
    try require(maker.int("stride", 1) == 1, .unsupported, "stride is not interpreted")
    try maker.require(2 * border == size - 1, "windows of \(size) with a padding of \(border)")
  }

  /// Reads the weights of the next convolution.
  func next(
    _ inputs: Int, _ filters: Int, _ maker: SectionMaker, _ plan: inout DarknetPlan
  ) throws -> (DoubleArray) throws -> DoubleArray {
    try maker.require(inputs % groups == 0 && filters % groups == 0, "\(groups) groups")
    let weights = try StoredConvolution(
      [filters, inputs / groups, size, size], filters, isNormalized: isNormalized,
      isFlipped: false, &plan)
    let kernel = takesSigns ? weights.signs(filters) : weights.kernel
    let windows = Correlation(
      channels: inputs, outputs: filters, groups: groups, size: [1] + plane, out: [1] + plane,
      kernel: [1, size, size], stride: [1, 1, 1], pad: [0, pad, pad],
      dilation: [1, dilation, dilation])
    let (shape, takesSigns, activation) = ([filters] + plane, takesSigns, activation)
    return { x in
      var result = try DoubleArray(shape: shape)
      windows.add(takesSigns ? x.signs : x, kernel, to: &result)
      weights.affine.apply(to: &result)
      return try activation(result)
    }
  }
}

extension DarknetOperations {
  /// crnn_layer.c: like rnn, with convolutions. Redmon's version has size 3 and padding 1.
  static let convolutionalRecurrent: DarknetOperation = { maker, plan in
    let (outputs, hidden) = (try maker.size("output", 1), try maker.size("hidden", 1))
    let convolutions = try PlaneConvolutions(
      maker, border: { $0 == 3 ? 1 : 0 }, activation: "logistic")
    let first = try convolutions.next(maker.input[0], hidden, maker, &plan)
    let own = try convolutions.next(hidden, hidden, maker, &plan)
    let last = try convolutions.next(hidden, outputs, maker, &plan)
    let keepsState = try maker.section.bool("shortcut")
    let plane = convolutions.plane
    return try maker.made([outputs] + plane, states: [("state", [hidden] + plane)]) { call in
      let state = try call.state("state", [hidden] + plane)
      var next = try first(call.input)
      let other = try own(state)
      for index in next.values.indices {
        next.values[index] += other.values[index] + (keepsState ? state.values[index] : 0)
      }
      call.states["state"] = next
      return try last(next)
    }
  }

  /// conv_lstm_layer.c, forward_conv_lstm_layer_gpu; a prediction is one step.
  static let convolutionalLongMemory: DarknetOperation = { maker, plan in
    let outputs = try maker.size("output", 1)
    let (hasPeephole, hasBottleneck) = (
      try maker.section.bool("peephole"), try maker.section.bool("bottleneck")
    )
    let addsHalf = try hasBottleneck && maker.section.bool("shortcut")
    let limit = Double(try maker.int("state_constrain", 32))
    let own = try DarknetActivations.function(maker.section.string("lstm_activation") ?? "tanh")
    let convolutions = try PlaneConvolutions(maker, border: { _ in 0 }, activation: "linear")
    try maker.require(!hasBottleneck || maker.input[0] == outputs, "a bottleneck")
    func parts(
      _ count: Int, _ inputs: Int, _ plan: inout DarknetPlan
    ) throws -> [(DoubleArray) throws -> DoubleArray] {
      try (0..<count).map { _ in try convolutions.next(inputs, outputs, maker, &plan) }
    }
    // f, i, o for the cell; f, i, g, o for the state and the input.
    let v = try parts(hasPeephole ? 3 : 0, outputs, &plan)
    let w = try parts(hasBottleneck ? 1 : 4, hasBottleneck ? 2 * outputs : outputs, &plan)
    let u = try parts(4, maker.input[0], &plan)
    let shape = [outputs] + convolutions.plane
    return try maker.made(shape, states: [("state", shape), ("cell", shape)]) { call in
      let (state, cell) = (try call.state("state", shape), try call.state("cell", shape))
      var x = call.input
      if hasBottleneck {
        let both = DoubleArray(shape: [2 * outputs] + shape[1...], state.values + x.values)
        x = try own(w[0](both))
      }
      func sum(_ gate: Int, _ peephole: DoubleArray?) throws -> DoubleArray {
        var sum = try u[gate](x)
        var others = hasBottleneck ? [] : [try w[gate](state)]
        if let peephole { others.append(peephole) }
        for other in others {
          for index in sum.values.indices { sum.values[index] += other.values[index] }
        }
        return sum
      }
      let f = try sum(0, v.isEmpty ? nil : v[0](cell)).map(DarknetActivations.logistic)
      let i = try sum(1, v.isEmpty ? nil : v[1](cell)).map(DarknetActivations.logistic)
      let g = try own(sum(2, nil))
      var next = cell
      for index in next.values.indices {
        next.values[index] =
          f.values[index] * cell.values[index] + i.values[index] * g.values[index]
      }
      let o = try sum(3, v.isEmpty ? nil : v[2](next)).map(DarknetActivations.logistic)
      var result = try own(next)
      for index in result.values.indices { result.values[index] *= o.values[index] }
      call.states["state"] = result
      call.states["cell"] = limit > 0 ? next.map { min(max($0, -limit), limit) } : next
      if addsHalf {
        for index in 0..<result.values.count / 2 { result.values[index] += x.values[index] }
      }
      return result
    }
  }
}
