import Interpretation
import TensorCore

/// Quantized Dense and Embedding layers of Keras 3.
enum QuantizedWeights {
  /// The layer with dequantized weights, and with its input rounded as in Keras.
  static func plain(_ run: LayerRun) throws -> LayerRun {
    let policy = (run.fields["dtype"] ?? .null).text
    let (isByte, isTable) = (policy.contains("int8"), run.className == "Embedding")
    try run.require(
      ["Dense", "Embedding"].contains(run.className) && run.weights.first?.rank == 2
        && (isByte || policy.contains("int4")) && run.field("lora_rank") == nil,
      "quantized weights are not interpreted")
    // The arrays are kernel, bias, scales, and if grouped, zero points and each row's group.
    let hasBias = !isTable && run.bool("use_bias", default: true)
    let position = hasBias ? 2 : 1
    let stored = try run.weight(0, rank: 2)
    let scale = try run.weight(position)
    let width =
      isByte ? stored.shape[1] : isTable ? run.field("output_dim")?.int ?? 0 : scale.shape.last ?? 0
    var table = try DoubleArray(shape: [stored.shape[0], width])
    try run.require(stored.shape[1] == (isByte ? width : (width + 1) / 2), "codes of another width")
    let isGrouped = run.weights.count > position + 2
    let zeros = isGrouped ? try run.weight(position + 1).values : []
    let groups = isGrouped ? try run.weight(position + 2).values.map { Int(exactly: $0) ?? -1 } : []
    let count = isTable ? scale.shape.last ?? 1 : width
    for index in table.values.indices {
      let (row, column) = (index / max(width, 1), index % max(width, 1))
      var code = stored.values[row * stored.shape[1] + (isByte ? column : column / 2)]
      if !isByte {
        let low = code - 16 * (code / 16).rounded(.down)
        code = column % 2 == 1 ? (code / 16).rounded(.down) : low < 8 ? low : low - 16
      }
      guard isGrouped else {
        let position = isTable ? row : column
        try run.require(scale.values.indices.contains(position), "\(scale.count) scales")
        table.values[index] = code / scale.values[position]
        continue
      }
      let key = isTable ? column : row
      try run.require(groups.indices.contains(key), "\(groups.count) groups")
      let position = isTable ? row * count + groups[key] : groups[key] * count + column
      try run.require(
        scale.values.indices.contains(position) && zeros.indices.contains(position),
        "\(scale.count) scales")
      table.values[index] = (code - zeros[position]) * scale.values[position]
    }
    var result = run
    result.weights = [table] + (hasBias ? [try run.weight(1)] : [])
    let size = run.input.shape.last ?? 1
    let rounding = run.fields["quantization_config"]?["config"]?["activation_quantizer"]
    if isByte, !isTable, rounding?.isNull != true, size > 0 {
      for start in stride(from: 0, to: run.input.count, by: size) {
        let largest = run.input.values[start..<start + size].reduce(0) { max($0, abs($1)) }
        let steps = 127 / (largest + 1e-7)
        for index in start..<start + size {
          result.inputs[0].array.values[index] =
            (run.input.values[index] * steps).rounded(.toNearestOrEven) / steps
        }
      }
    }
    return result
  }
}
