import CoreMLModel
import ImportSupport
import TensorCore

/// Scores of each position of an image for the rows and columns of all positions, from its channels
/// and a stored vector per distance: `[heads, height, width, position height, position width]`.
///
/// Source: keras-cv-attention-models 1.4, `botnet.py`.
enum RelativePositionalEmbedding: KerasLayer {
  static let classes = [SourceLayer](
    "RelativePositionalEmbedding", becomes: "innerProducts, reshapes, crops, add",
    options:
      "`position_height`, `position_width`, `use_absolute_pos`; from keras-cv-attention-models",
    refused: "`dynamic_shape`")

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let rows = try configuration.int("position_height", default: 0, atLeast: 0)
    let columns = try configuration.int("position_width", default: 0, atLeast: 0)
    let positions = [rows, columns > 0 ? columns : rows]
    let isAbsolute = try configuration.bool("use_absolute_pos", default: false)
    try configuration.require(
      !configuration.bool("dynamic_shape", default: false), "dynamic_shape",
      unsupported: "true is not supported")
    return conversion(WeightSlot.named("rows", "columns")) { call, network in
      let input = try call.input
      try call.require(
        input.rank == 5, "its input \(input.shapeText) is not the image of several heads")
      let sizes = try call.known(input.shape.dropFirst(), of: input)
      let (heads, height, width) = (sizes[0], sizes[1], sizes[2])
      let ends = [max(positions[0], height), max(positions[1], width)]
      let columns = try scores(
        input, along: width, ends[1], isAbsolute: isAbsolute, "columns", call, &network)
      let transposed = network.settled(input.exchanging(2, 3), for: call.name)
      let rows = try scores(
        transposed, along: height, ends[0], isAbsolute: isAbsolute, "rows", call, &network)
      // [heads · height, width, 1, columns] + [heads · height, width, rows, 1]
      let count = try checkedProduct([heads, height], limit: Limits.dimension)
      let right = try network.reshaped(
        columns, to: [count, width, 1, ends[1]], name: call.name + "__right__", call)
      let down = try network.reshaped(
        network.settled(rows.exchanging(2, 3), for: call.name + "_turned"),
        to: [count, width, ends[0], 1], name: call.name + "__down__", call)
      var sum = try call.part("Add", [right, down], "sum", &network)
      sum.leading = LeadingAxes(sizes: [heads, height])
      return [sum]
    }
  }

  /// The scores along the second-to-last axis, of size `length`: `[…, length, ends]`.
  private static func scores(
    _ input: KerasTensor, along length: Int, _ ends: Int, isAbsolute: Bool, _ part: String,
    _ call: LayerCall, _ network: inout KerasWriter
  ) throws -> KerasTensor {
    let sizes = try call.known(input.shape.dropFirst(), of: input)
    let distances = isAbsolute ? ends : try checkedSum([checkedProduct([2, ends]), -1])
    let table = try call.weight(part, [sizes[3], distances])
    let name = "\(call.name)__\(part)__"
    let all = network.channelProduct(
      input, Weights(table.transposed([1, 0])), inputs: sizes[3], outputs: distances,
      name + "table__")
    if isAbsolute || ends == 1 { return all }
    if length == 1 {
      return try last(all, from: distances - ends, count: ends, name, call, &network)
    }
    // Shifts each score from the index of its distance to the index of its end: without the first
    // length − 1 scores, the flattened rows are read as rows that are one element shorter.
    let outer = [sizes[0], sizes[1]]
    let row = try checkedProduct([length, distances], limit: Limits.dimension)
    let flat = try network.reshaped(all, to: outer + [row], name: name + "flat__", call)
    let shorter = try last(
      flat, from: length - 1, count: row - length, name + "cut__", call, &network)
    let shifted = try network.reshaped(
      shorter, to: outer + [length, distances - 1], name: name + "shifted__", call)
    return try last(shifted, from: ends - length, count: ends, name + "ends__", call, &network)
  }

  /// A slice of the last axis.
  private static func last(
    _ tensor: KerasTensor, from start: Int, count: Int, _ name: String, _ call: LayerCall,
    _ network: inout KerasWriter
  ) throws -> KerasTensor {
    try OperationCall(call.with(name: name, inputs: [tensor]), fields: .init()).slice(
      tensor, tensor.rank - 1, start..<start + count, "", into: &network)
  }
}
