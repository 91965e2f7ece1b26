import CoreMLModel
import TensorCore

/// Leading axes of a tensor that its blob merges into the first axis after the batch: axes beyond
/// the four of a blob, and windows that a reshape has moved into the batch.
struct LeadingAxes: Equatable, Sendable {
  /// The number of windows per item: Keras's batch is N · windows.
  var windows = 1
  /// The sizes of the axes after the batch.
  var sizes: [Int] = []
}

/// How a layer converts tensors with leading axes.
enum LeadingAxesPolicy: Sendable {
  /// It does not support them.
  case refuses
  /// It works on other axes, so the leading axes may be merged.
  case keeps
  /// It works on images, so the leading axes may be the steps of a sequence of images.
  case steps
  /// It moves or regroups them itself.
  case decides
}

extension KerasTensor {
  /// Keras's shape, including all leading axes.
  var fullShape: [Int?] {
    guard let leading else { return shape }
    return [shape[0]] + leading.sizes + shape.dropFirst(2)
  }

  /// The tensor with its leading axes as one ordinary axis.
  var gathered: KerasTensor {
    var tensor = self
    tensor.leading = nil
    return tensor
  }
}

extension KerasWriter {
  /// Reshapes the elements in Keras's order to `windows` items with these sizes per batch item.
  mutating func regrouped(
    _ tensor: KerasTensor, windows: Int, _ sizes: [Int], _ name: String, _ call: LayerCall
  ) throws -> KerasTensor {
    if windows == 1, sizes.count <= 4 {
      return try reshaped(
        tensor.gathered, to: sizes, preferred: call.preferredImage, name: name, call)
    }
    let leading = LeadingAxes(windows: windows, sizes: Array(sizes.dropLast(3)))
    let count = try checkedProduct([windows] + leading.sizes, limit: Limits.dimension)
    var result = try reshaped(
      tensor.gathered, to: [count] + sizes.suffix(3), preferred: call.preferredImage, name: name,
      call)
    result.leading = leading
    return result
  }

  /// Permutes the axes: axis `i` of the result is axis `order[i]` of the tensor.
  ///
  /// Axes that stay neighbors move as one block. With more than four blocks, one moves at a time.
  mutating func transposed(
    leading tensor: KerasTensor, _ order: [Int], _ call: LayerCall
  ) throws -> KerasTensor {
    if order == Array(order.indices) { return tensor }
    let sizes = try call.known(tensor.fullShape.dropFirst(), of: tensor)
    let windows = tensor.leading?.windows ?? 1
    var blocks: [Range<Int>] = []
    for axis in order {
      if let last = blocks.last, last.upperBound == axis {
        blocks[blocks.count - 1] = last.lowerBound..<axis + 1
      } else {
        blocks.append(axis..<axis + 1)
      }
    }
    func count(_ axes: some Sequence<Int>) throws -> Int {
      try checkedProduct(axes.map { $0 == 0 ? windows : sizes[$0 - 1] }, limit: Limits.dimension)
    }
    // The blocks in their current order; each iteration moves one block to its target index.
    var present = blocks.sorted { $0.lowerBound < $1.lowerBound }
    var result = tensor.gathered
    for (target, block) in blocks.enumerated() {
      guard let index = present.firstIndex(of: block), index > target else { continue }
      let parts = [present[..<target], present[target..<index], [block], present[(index + 1)...]]
      let name = "\(call.name)__move_\(target)__"
      let split = try reshaped(
        result, to: parts.map { try count($0.joined()) }, name: name + "split__", call)
      result = relaid(split.reordered([1, 3, 2, 4]), to: .imageSequenceChannelsFirst, for: name)
      present.remove(at: index)
      present.insert(block, at: target)
    }
    return try regrouped(
      result, windows: windows, order.dropFirst().map { sizes[$0 - 1] }, call.name, call)
  }
}

extension KerasWriter {
  /// Converts a layer without the sequence axis, which comes first in its inputs' layout.
  mutating func stepwise(_ layer: ConfiguredLayer, _ call: LayerCall) throws -> [KerasTensor] {
    let steps = call.inputs.lazy.compactMap { $0.shape[1] }.first
    let inputs = call.inputs.map { tensor in
      var input = tensor
      input.shape.remove(at: 1)
      input.layout.axes.removeFirst()
      input.mask = nil
      return input
    }
    let isInner = isStepwise
    isStepwise = true
    defer { isStepwise = isInner }
    return try layer.convert(call.with(name: call.name, inputs: inputs), &self).map {
      guard !$0.layout.axes.contains(.sequence) else {
        throw call.unsupported("\(call.className): nested sequences are not supported")
      }
      var output = $0
      output.shape.insert(steps, at: 1)
      output.layout.axes.insert(.sequence, at: 0)
      return output
    }
  }
}
