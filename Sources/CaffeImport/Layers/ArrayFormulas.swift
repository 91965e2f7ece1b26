import CoreMLModel

/// Small layers of specification 4, for blobs of exact rank.
extension CaffeWriter {
  mutating func reshapedArray(
    _ blob: String, _ shape: [Int], _ name: String, to output: String? = nil
  ) -> String {
    return add(name, ReshapeStatic().with(\.targetShape, shape), [blob], to: output)
  }

  mutating func arrayConstant(_ shape: [Int], _ values: [Float], _ name: String) -> String {
    return add(name, LoadConstantND().with(\.shape, shape).with(\.data, Weights(values)), [])
  }

  /// The elements `range` along `axis` of a blob with `rank` axes.
  mutating func arraySlice(
    _ blob: String, rank: Int, axis: Int, _ range: Range<Int>, _ name: String
  ) -> String {
    var slice = SliceStatic()
    slice.beginIds = [Int](repeating: 0, count: rank)
    slice.endIds = [Int](repeating: 0, count: rank)
    slice.beginMasks = (0..<rank).map { $0 != axis }
    slice.endMasks = slice.beginMasks
    slice.strides = [Int](repeating: 1, count: rank)
    slice.beginIds[axis] = range.lowerBound
    slice.endIds[axis] = range.upperBound
    return add(name, slice, [blob])
  }

  mutating func arrayProduct(_ a: String, _ b: String, _ name: String) -> String {
    add(name, MultiplyBroadcastable(), [a, b])
  }

  mutating func arraySum(_ a: String, _ b: String, _ name: String) -> String {
    add(name, AddBroadcastable(), [a, b])
  }

  mutating func arrayJoined(_ blobs: [String], axis: Int, _ name: String) -> String {
    if blobs.count == 1 { return blobs[0] }
    return add(name, ConcatND().with(\.axis, axis), blobs)
  }

  mutating func gathered(_ blob: String, _ positions: String, axis: Int, _ name: String) -> String {
    return add(name, Gather().with(\.axis, axis), [blob, positions])
  }

  /// The largest (or smallest) elements along the last axis, and their indices.
  mutating func best(
    _ blob: String, axis: Int, _ count: Int, smallest: Bool = false, _ name: String
  ) -> (values: String, positions: String) {
    var top = TopK()
    top.axis = axis
    top.count = count
    top.useBottomK = smallest
    let outputs = add(name, top, [blob], outputs: [name + "_values", name + "_places"])
    return (outputs[0], outputs[1])
  }
}
