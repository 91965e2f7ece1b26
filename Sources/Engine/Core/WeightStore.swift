import TensorCore

/// Memory for the packed weights of all steps, in the order in which steps are made and run: few
/// pages to set up, and each step's weights follow those of the previous step.
final class WeightStore: @unchecked Sendable {
  // `@unchecked`: steps are made one after the other.
  private let memory: AlignedBuffer
  private var used = 0

  /// - Parameter byteCount: the sum of the sizes in the steps' descriptions.
  /// - Parameter count: the maximum number of buffers.
  init(byteCount: Int, count: Int) throws {
    let rounding = try checkedProduct([count, AlignedBuffer.alignment])
    memory = try AlignedBuffer(checkedByteCount: checkedSum([byteCount, rounding]))
  }

  /// A part of the store, or separate memory if it does not fit.
  func buffer(byteCount: Int) throws -> AlignedBuffer {
    guard byteCount >= 0, byteCount <= memory.byteCount - used else {
      return try AlignedBuffer(checkedByteCount: byteCount)
    }
    let start = used
    let alignment = AlignedBuffer.alignment
    used = min(memory.byteCount, (start + byteCount + alignment - 1) / alignment * alignment)
    return AlignedBuffer(start..<start + byteCount, of: memory)
  }
}
