import CoreMLModel
import TensorCore

/// A layer with time and stream axes.
protocol RecurrentConverter: CaffeLayerConverter {}

extension RecurrentConverter {
  /// Caffe's time and stream axes are Core ML's sequence and batch.
  static func batchAxis(_ layer: LayerCall, _ batch: OmittedBatch) -> Int? {
    // Bottoms are (T, N, …), except the third, static one: (N, …).
    let isEach = layer.inputs.enumerated().allSatisfy { index, input in
      input.batch?.size == batch.size
        && (input.batch?.axis == 1 || index == 2 && input.batch?.axis == 0)
    }
    return isEach ? 1 : nil
  }

  static func inputAxes(_ layer: LayerCall, bottom index: Int, shape: [Int]) -> [Int]? {
    switch shape.count {
    case 2 where index == 1 || index == 0: [0, 1]
    case 3: [0, 1, 2]
    default: nil
    }
  }
}

/// The part shared by Caffe's recurrent layers: `cont[t, n]` is 0 where a sequence starts. Steps
/// are unrolled, because Core ML's recurrent layers have no such input.
struct Recurrence {
  let layer: LayerCall
  let units: Int
  let steps: Int
  let streams: Int
  /// The number of sums: the rows of the input weights.
  let sums: Int
  /// The bottoms: x (T, N, …), cont (T, N), x_static (N, …) or nil, and the initial states.
  let x: CaffeTensor
  let cont: CaffeTensor
  let fixed: CaffeTensor?
  let states: [CaffeTensor]

  /// - Parameter stateCount: the number of states that `expose_hidden` exposes.
  init(_ layer: LayerCall, stateCount: Int, gates: Int) throws {
    self.layer = layer
    let inputs = layer.inputs
    let parameters = layer.parameters("recurrent_param")
    units = try parameters.int("num_output", atLeast: 1)
    sums = try checkedProduct([units, gates], limit: Limits.dimension)
    let shown = try parameters.bool("expose_hidden") ? stateCount : 0
    try layer.requireBottoms(2 + shown...3 + shown)
    let (x, cont) = (inputs[0], inputs[1])
    let states = inputs.suffix(shown)
    try layer.require(
      x.shape.count >= 2 && cont.shape == Array(x.shape.prefix(2)),
      "its bottoms have the shapes \(x.shapeText) and \(cont.shapeText); (T, N, …) and (T, N) are "
        + "needed")
    let steps = x.shape[0]
    let expected = [1, x.shape[1], units]
    try layer.require(
      states.allSatisfy { $0.shape == expected },
      "its states have the shapes \(states.map(\.shapeText).joined(separator: ", ")), "
        + "expected \(expected)")
    try layer.require(
      steps <= Limits.writtenOutSteps, unsupported: "unrolling would give \(steps) steps",
      hint: "the limit is \(Limits.writtenOutSteps)")
    try layer.require(
      layer.tops.count == 1 + shown,
      "it has \(layer.tops.count) tops, \(1 + shown) are needed", field: "top")
    (self.x, self.cont, self.steps) = (x, cont, steps)
    streams = x.shape[1]
    fixed = inputs.count > 2 + shown ? inputs[2] : nil
    self.states = Array(states)
  }

  /// The index of the recurrent matrix among the layer's weights; that of the static bottom
  /// precedes it.
  var matrix: Int { fixed == nil ? 2 : 3 }

  /// The layer's tops.
  ///
  /// - Parameter compute: returns a step's result and new states, h first, from the sums W · x + b
  ///   + R · h, the previous states, the `cont` flag and a name. The states are empty and the flag
  ///   is nil if the states are zeros.
  func tops(
    _ network: inout CaffeWriter,
    compute: (inout CaffeWriter, String, [String], String?, String) -> (String, [String])
  ) throws -> [CaffeTensor] {
    let products = try products(&network)
    let matrix = Weights(try layer.weight(matrix, "recurrent weight", shape: [sums, units]))
    var states = states.map {
      network.placed(
        network.five($0, for: layer.name), axes: [0, 1, 2], for: layer.part("state")
      ).blob
    }
    let flags = states.isEmpty && steps == 1 ? [] : flags(&network)
    var results: [String] = []
    for step in 0..<steps {
      let name = layer.part("step\(step)")
      var sums = products[step]
      if let h = states.first {
        let kept = network.product(h, flags[step], name + "_h")
        let product = network.matrixProduct(
          kept, matrix, inputs: units, outputs: self.sums, name + "_product")
        sums = network.sum([sums, product], name + "_sums")
      }
      let result: String
      (result, states) = compute(&network, sums, states, states.isEmpty ? nil : flags[step], name)
      results.append(result)
    }
    return [sequence(results, &network)] + finalStates(states, &network)
  }

  /// W · x + b for every step, plus the static bottom's part: one blob with `sums` channels per
  /// step.
  private func products(_ network: inout CaffeWriter) throws -> [String] {
    let inputs = try x.count(2..<x.shape.count)
    let vectors = try self.vectors(x, leading: 2, axes: [0, 1, 2], "x", &network)
    let matrix = try layer.weight(0, "weight", shape: [sums, inputs])
    let bias = try layer.weight(1, "bias", shape: [sums])
    var blob = network.matrixProduct(
      vectors, Weights(matrix), inputs: inputs, outputs: sums, bias: Weights(bias),
      layer.part("x_product"))
    let tensor = CaffeTensor(blob, [steps, streams, sums], axes: [0, 1, 2])
    blob = network.placed(tensor, axes: [4, 1, 2], for: layer.part("steps")).blob
    if let fixed {
      try layer.require(
        fixed.shape.first == streams,
        "its third bottom is \(fixed.shapeText); expected (\(streams), …)")
      let count = try fixed.count(1..<fixed.shape.count)
      let vectors = try self.vectors(fixed, leading: 1, axes: [1, 2], "x_static", &network)
      let matrix = try layer.weight(2, "static weight", shape: [sums, count])
      let product = network.matrixProduct(
        vectors, Weights(matrix), inputs: count, outputs: sums, layer.part("static_product"))
      blob = network.sum([blob, product], layer.part("x_sum"))
    }
    return slices(blob, "x", &network)
  }

  /// `cont` for every step.
  private func flags(_ network: inout CaffeWriter) -> [String] {
    let flags = network.placed(
      network.five(cont, for: layer.name), axes: [4, 1], for: layer.part("cont"))
    return slices(flags.blob, "cont", &network)
  }

  /// The results of all steps, concatenated: the first top.
  private func sequence(_ blobs: [String], _ network: inout CaffeWriter) -> CaffeTensor {
    let blob =
      blobs.count == 1
      ? network.add(layer.name, Activation(.linear(alpha: 1, beta: 0)), blobs, to: layer.tops[0])
      : network.joined(blobs, alongSequence: true, layer.name, to: layer.tops[0])
    return CaffeTensor(blob, [steps, streams, units], axes: [0, 1, 2])
  }

  /// The states after the last step: the other tops.
  private func finalStates(_ blobs: [String], _ network: inout CaffeWriter) -> [CaffeTensor] {
    zip(blobs, layer.tops.dropFirst()).enumerated().map { index, pair in
      CaffeTensor(
        network.add(
          layer.part("state\(index)"), Activation(.linear(alpha: 1, beta: 0)), [pair.0],
          to: pair.1),
        [1, streams, units], axes: [0, 1, 2])
    }
  }

  private func vectors(
    _ tensor: CaffeTensor, leading: Int, axes: [Int], _ name: String,
    _ network: inout CaffeWriter
  ) throws -> String {
    var input = network.five(tensor, for: layer.name)
    if input.shape.count != axes.count {
      let count = try tensor.count(leading..<tensor.shape.count)
      input = try network.reshaped(
        input, to: Array(tensor.shape.prefix(leading)) + [count], layer,
        name: layer.part("\(name)_vectors"))
    }
    return network.placed(input, axes: axes, for: layer.part(name)).blob
  }

  private func slices(_ blob: String, _ name: String, _ network: inout CaffeWriter) -> [String] {
    if steps == 1 { return [blob] }
    return (0..<steps).map {
      network.slice(blob, $0..<$0 + 1, of: .width, layer.part("\(name)\($0)"))
    }
  }
}
