import CoreMLModel
import TensorCore

extension Model {
  /// The model with its single-precision weights rounded to the nearest half, ties to even.
  ///
  /// The slopes of activations and the blobs of custom layers keep their precision, as in
  /// coremltools. A version below 2 is raised to 2.
  ///
  /// - Throws: `.unsupported` for a weight of 65504 or more, with the layer and the value.
  package func withHalfPrecisionWeights() throws -> Model {
    try compressed(CompressionRules(.float16)).model
  }
}

extension Weights {
  /// The largest half, which coremltools also refuses.
  private static let bound: Float = 65504

  /// Rounds single-precision values.
  mutating func roundToHalf() throws {
    let count = floatValue.count
    if count == 0 { return }
    let result = try AlignedBuffer(checkedByteCount: count * 2)
    let blockCount = min(count, 1 << 20)
    let block = try AlignedBuffer(checkedByteCount: blockCount * 4)
    try withExtendedLifetime(block) {
      let values = block.pointer.bindMemory(to: Float.self, capacity: blockCount)
      let halves = result.pointer.bindMemory(to: UInt16.self, capacity: count)
      for begin in stride(from: 0, to: count, by: blockCount) {
        let range = begin..<min(begin + blockCount, count)
        floatValue.copy(range, to: values)
        let piece = UnsafeBufferPointer(start: values, count: range.count)
        if let wrong = piece.first(where: { abs($0) >= Self.bound }) {
          throw ModelError(
            .unsupported, "the weight \(wrong) does not fit into half precision",
            hint: "the largest value is 65504; \(setting: "keepOverflow") keeps such layers "
              + "in single precision")
        }
        Half.convert(
          piece, to: UnsafeMutableBufferPointer(start: halves + begin, count: range.count))
        for index in range { halves[index] = halves[index].littleEndian }
      }
    }
    floatValue = FloatValues([])
    float16Value = Bytes(base: UnsafeRawPointer(result.pointer), count: count * 2, owner: result)
  }
}
