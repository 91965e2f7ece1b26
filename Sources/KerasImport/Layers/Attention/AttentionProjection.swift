import CoreMLModel
import ImportSupport
import TensorCore

/// Projects one or several sequences, `[outer, steps, channels]`, with a separate matrix per head.
struct AttentionProjection {
  let heads: Int
  /// The number of heads that have weights; several heads share each of them.
  var sharedHeads: Int
  let hasBias: Bool
  let call: LayerCall

  init(heads: Int, hasBias: Bool, call: LayerCall) {
    (self.heads, sharedHeads, self.hasBias, self.call) = (heads, heads, hasBias, call)
  }

  /// The projections as `[outer · heads, steps, size]`.
  func heads(
    _ input: KerasTensor, _ part: String, _ size: Int, _ network: inout KerasWriter
  ) throws -> KerasTensor {
    let stored = try call.weight(
      part + "_kernel", [input.isShapeAssumed ? nil : input.channels, sharedHeads, size])
    let inner = try checkedProduct([heads, size], limit: Limits.dimension)
    let inputs = stored.shape[0]
    let rows = try stored.reshaped([inputs, sharedHeads * size]).transposed([1, 0])
    let matrix =
      sharedHeads == heads
      ? rows : FloatValues(try repeated(rows.array(), size * inputs)).shaped([inner, inputs])
    let bias =
      hasBias
      ? Weights(repeated(try call.weight(part + "_bias", [sharedHeads, size]).array(), size)) : nil
    let name = "\(call.name)__\(part)__"
    let all = network.channelProduct(
      input, Weights(matrix), inputs: inputs, outputs: inner, bias: bias, name)
    return try split(all, size, "\(call.name)__\(part)_heads__", &network)
  }

  /// Repeats each shared head's values for all heads that share them.
  private func repeated(_ values: [Float], _ count: Int) -> [Float] {
    guard sharedHeads < heads else { return values }
    return (0..<heads).flatMap { head -> ArraySlice<Float> in
      let shared = head / (heads / sharedHeads)
      return values[shared * count..<(shared + 1) * count]
    }
  }

  /// From `[outer, steps, heads · size]` to `[outer · heads, steps, size]`; `outer` is optional.
  func split(
    _ all: KerasTensor, _ size: Int, _ name: String, _ network: inout KerasWriter
  ) throws -> KerasTensor {
    if all.rank == 4, let outer = all.shape[1], let steps = all.shape[2] {
      let split = try network.reshaped(
        all, to: [outer, steps, heads, size], name: name, call)
      return try network.reshaped(
        network.settled(split.exchanging(2, 3), for: name), to: [outer * heads, steps, size],
        name: name + "outer", call)
    }
    guard let steps = all.shape[1] else {
      // For sequences of any length, concatenates the heads' channels along the sequence.
      let rows = network.relaid(all, to: TensorLayout(axes: [.height, .channel]), for: name)
      var result = rows
      result.shape = [all.shape[0], heads, nil, size]
      result.layout = TensorLayout(axes: [.sequence, .height, .channel])
      if heads > 1 {
        let parts = network.split(rows.blob, into: heads, name + "split")
        result.blob = network.joined(parts, alongSequence: true, name)
      }
      return result
    }
    return try network.reshaped(all, to: [steps, heads, size], name: name, call).exchanging(1, 2)
  }

  /// From `[outer · heads, steps, size]` to `[outer, steps, heads · size]`; `outer` is optional.
  func merged(
    _ attended: KerasTensor, _ size: Int, outer: Int?, _ network: inout KerasWriter
  ) throws -> KerasTensor {
    let name = call.name + "__merged__"
    if let outer, let steps = attended.shape[2] {
      let split = try network.reshaped(
        attended, to: [outer, heads, steps, size], name: name + "outer", call)
      return try network.reshaped(
        network.settled(split.exchanging(2, 3), for: name), to: [outer, steps, heads * size],
        name: name, call)
    }
    guard let steps = attended.shape[2] else {
      let layout = TensorLayout(axes: [.channel, .height, .sequence])
      let rows = network.relaid(attended, to: layout, for: call.name + "_merge")
      var result = rows
      if heads > 1 {
        let parts = network.split(rows.blob, into: heads, name + "split")
        result.blob = network.joined(parts, alongSequence: true, name)
      }
      result.shape = [attended.shape[0], nil, heads * size]
      result.layout = TensorLayout(axes: [.height, .sequence])
      return network.relaid(result, to: .sequence, for: call.name + "_steps")
    }
    let transposed = network.relaid(
      attended.exchanging(1, 2), to: .imageChannelsFirst, for: call.name + "_merge")
    return try network.reshaped(transposed, to: [steps, heads * size], name: name, call)
  }
}
