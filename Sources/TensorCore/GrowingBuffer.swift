import CSystem
import LibC

/// Memory that grows at its end, freed with its last reference. The C library moves the pages of
/// large blocks instead of copying them, and pages that were never written take no memory.
package final class GrowingBuffer: @unchecked Sendable {
  private var pointer: UnsafeMutableRawPointer?
  private var byteCount = 0

  package init() {}

  /// The memory, with at least `count` bytes. The first 64 bytes start as zeros; others are
  /// uninitialized.
  ///
  /// - Throws: as `AlignedBuffer`.
  package func grow(to count: Int) throws -> UnsafeMutableRawPointer {
    if let pointer, count <= byteCount { return pointer }
    let larger = max(64, count + count / 8)
    try MemoryBudget.require(larger - byteCount)
    guard let moved = realloc(pointer, larger) else {
      assay_forget_failed_allocation()
      throw ModelError(.outOfMemory, "cannot allocate \(larger) bytes")
    }
    if pointer == nil { memset(moved, 0, 64) }
    MemoryBudget.used.add(larger - byteCount, ordering: .relaxed)
    (pointer, byteCount) = (moved, larger)
    return moved
  }

  deinit {
    free(pointer)
    MemoryBudget.used.subtract(byteCount, ordering: .relaxed)
  }
}
