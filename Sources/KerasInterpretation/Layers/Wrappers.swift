import ByteFormats
import Interpretation
import TensorCore

/// Wrapper layers.
enum Wrappers {
  static let operations: [String: KerasOperations.Operation] = [
    "TimeDistributed": stepwise, "Bidirectional": bidirectional,
  ]

  private static func inner(_ run: LayerRun, _ field: String) throws -> LayerRun {
    guard let layer = run.field(field) else { throw run.missing("it has no layer") }
    var result = run
    result.className = ClassIdentity.name(layer)
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

  /// Treats the steps as a batch, with the mask of the elements within each step.
  ///
  /// In Keras 2, the output has the inner layer's mask; if it has none, a step is valid if any
  /// element in it is. Keras 3 keeps the input's mask, and so does Keras before 2.2, which passes
  /// no masks to the inner layer.
  private static func stepwise(_ run: LayerRun) throws -> [KerasValue] {
    try run.require(run.input.rank >= 3, "an input of shape \(run.input.shape)")
    return try stepwise(run.inputs[0], run.generation) { value in
      var inner = try inner(run, "layer")
      inner.inputs = [value]
      // Keras multiplies by the codes of a quantized layer without applying their scales.
      if inner.className == "Dense", var fields = inner.fields.object, inner.weights.count > 1,
        (fields["dtype"] ?? .null).text.contains("int8")
      {
        fields["dtype"] = .null
        inner.fields = .object(fields)
        inner.weights.removeLast()
      }
      return try inner.outputs()
    }
  }

  static func stepwise(
    _ input: KerasValue, _ generation: KerasGeneration,
    _ body: (KerasValue) throws -> [KerasValue]
  ) throws -> [KerasValue] {
    let steps = Array(input.array.shape[..<2])
    func parts(_ array: DoubleArray) throws -> DoubleArray {
      try array.reshaped([steps[0] * steps[1]] + array.shape[2...])
    }
    func whole(_ array: DoubleArray) throws -> DoubleArray {
      try array.reshaped(steps + array.shape.dropFirst())
    }
    let mask = input.mask
    let inMask = generation.masksSteps ? mask.flatMap { $0.rank > 2 ? $0 : nil } : nil
    let value = KerasValue(array: try parts(input.array), mask: try inMask.map(parts))
    return try body(value).prefix(1).map { output in
      var result = KerasValue(array: try whole(output.array), mask: mask)
      guard generation.masksSteps, generation.major < 3 else { return result }
      result.mask = try output.mask.map(whole)
      if result.mask == nil, var any = mask {
        while any.rank > 2 { any = try maximum(any) }
        result.mask = any
      }
      return result
    }
  }

  /// The largest values along the last axis.
  private static func maximum(_ array: DoubleArray) throws -> DoubleArray {
    let width = array.shape.last ?? 1
    var result = try DoubleArray(shape: Array(array.shape.dropLast()))
    for (index, value) in array.values.enumerated() {
      result.values[index / width] = max(result.values[index / width], value)
    }
    return result
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
      // tf.keras's wrapper overrides the layers' setting.
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
    if let mode = run.fields["merge_mode"], mode.isNull { return [ahead[0], behind[0]] + rest }
    switch run.field("merge_mode")?.string ?? "concat" {
    case "concat": return result(DoubleArray.concatenated([a, b], axis: a.rank - 1))
    case "sum": return try result(Merges.broadcast(a, b, +))
    case "mul": return try result(Merges.broadcast(a, b, *))
    case "ave": return try result(Merges.broadcast(a, b) { ($0 + $1) / 2 })
    default: throw run.missing("its merge_mode is not interpreted")
    }
  }
}
