import TensorCore

/// Memory for the packed weights of all steps, in the order in which the steps are made and run: few
/// pages to set up, and what follows one step's weights are the next one's.
final class WeightStore: @unchecked Sendable {
  // `@unchecked`: steps are made one after the other.
  private let memory: AlignedBuffer
  private var used = 0

  /// - Parameter byteCount: the sum of what the steps' descriptions announce.
  /// - Parameter count: pieces that it will be divided into, at most.
  init(byteCount: Int, count: Int) throws {
    let rounding = try checkedProduct([count, AlignedBuffer.alignment])
    memory = try AlignedBuffer(checkedByteCount: checkedSum([byteCount, rounding]))
  }

  /// A piece of the store, or memory of its own where more is asked for than was announced.
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
