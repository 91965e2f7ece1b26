import ByteFormats
import Interpretation
import TensorCore

/// Wrapper layers.
enum Wrappers {
  static let operations: [String: KerasOperations.Operation] = [
    "TimeDistributed": stepwise, "Bidirectional": bidirectional,
  ]

  private static func inner(_ run: LayerRun, _ field: String) throws -> LayerRun {
    guard let layer = run.field(field), let className = layer["class_name"]?.string else {
      throw run.missing("it has no layer")
    }
    var result = run
    result.className = KerasModel.plain(className)
    result.fields = layer["config"] ?? .null
    return result
  }

  private static func with(_ name: String, _ value: Bool, _ run: LayerRun) -> LayerRun {
    var result = run
    if var fields = run.fields.object {
      fields[name] = .bool(value)
      result.fields = .object(fields)
    }
    return result
  }

  /// The steps are treated as a batch.
  private static func stepwise(_ run: LayerRun) throws -> [KerasValue] {
    try run.require(run.input.rank >= 3, "an input of shape \(run.input.shape)")
    let shape = run.input.shape
    var inner = try inner(run, "layer")
    inner.inputs = [
      KerasValue(array: try run.input.reshaped([shape[0] * shape[1]] + shape[2...]))
    ]
    return try inner.outputs().prefix(1).map {
      KerasValue(
        array: try $0.array.reshaped([shape[0], shape[1]] + $0.array.shape.dropFirst()),
        mask: run.inputs[0].mask)
    }
  }

  private static func bidirectional(_ run: LayerRun) throws -> [KerasValue] {
    var forward = try inner(run, "layer")
    var backward = forward
    if run.field("backward_layer") != nil {
      backward = try inner(run, "backward_layer")
    } else {
      backward = with("go_backwards", !forward.bool("go_backwards"), backward)
    }
    if run.generation.zeroesMaskedSteps {
      // tf.keras's wrapper sets it, whatever the layers say.
      let isSequence = forward.bool("return_sequences")
      forward = with("zero_output_for_mask", isSequence, forward)
      backward = with("zero_output_for_mask", isSequence, backward)
    }
    let half = run.weights.count / 2
    forward.weights = Array(run.weights[..<half])
    backward.weights = Array(run.weights[half...])
    let states = Array(run.inputs.dropFirst())
    forward.inputs = [run.inputs[0]] + states.prefix(states.count / 2)
    backward.inputs = [run.inputs[0]] + states.suffix(states.count - states.count / 2)
    let ahead = try forward.outputs()
    var behind = try backward.outputs()
    if forward.bool("return_sequences") {
      let array = behind[0].array
      behind[0].array = DoubleArray.concatenated(
        (0..<array.shape[1]).reversed().map { array.slice(1, $0..<$0 + 1) }, axis: 1)
    }
    let (a, b) = (ahead[0].array, behind[0].array)
    let rest = Array(ahead.dropFirst() + behind.dropFirst())
    func result(_ array: DoubleArray) -> [KerasValue] {
      [KerasValue(array: array, mask: ahead[0].mask)] + rest
    }
    if let mode = run.fields["merge_mode"], mode.isNull {
      return [ahead[0], behind[0]] + rest
    }
    switch run.field("merge_mode")?.string ?? "concat" {
    case "concat": return result(DoubleArray.concatenated([a, b], axis: a.rank - 1))
    case "sum": return try result(Merges.broadcast(a, b, +))
    case "mul": return try result(Merges.broadcast(a, b, *))
    case "ave": return try result(Merges.broadcast(a, b) { ($0 + $1) / 2 })
    default: throw run.missing("its merge_mode is not interpreted")
    }
  }
}
