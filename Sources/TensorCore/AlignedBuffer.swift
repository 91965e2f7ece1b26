import CSystem
import LibC
import Synchronization

/// Uninitialized memory, aligned for the widest vectors and freed with its last reference; or
/// borrowed memory.
package final class AlignedBuffer: @unchecked Sendable {
  package static let alignment = 64

  package let pointer: UnsafeMutableRawPointer
  package let byteCount: Int
  /// The buffer that owns the memory; nil if this one does.
  private let whole: AlignedBuffer?
  /// Whether the memory is borrowed: its owner frees it, and it must not change.
  let isBorrowed: Bool

  /// Allocates a size chosen by the program; ends the process if the memory cannot be allocated.
  package init(byteCount: Int) {
    self.byteCount = byteCount
    guard let address = Self.allocate(byteCount) else { assay_out_of_memory() }
    pointer = address
    whole = nil
    isBorrowed = false
  }

  /// Allocates a size from a file. Throws if the memory cannot be allocated, or if all buffers
  /// together would exceed `MemoryBudget.limit`.
  package init(checkedByteCount byteCount: Int) throws {
    self.byteCount = byteCount
    whole = nil
    isBorrowed = false
    try MemoryBudget.require(byteCount)
    guard let address = Self.allocate(byteCount) else {
      assay_forget_failed_allocation()
      throw ModelError(.outOfMemory, "cannot allocate \(byteCount) bytes")
    }
    pointer = address
  }

  /// Part of another buffer, which stays alive with it. Precondition: `range` is within its bounds.
  package init(_ range: Range<Int>, of whole: AlignedBuffer) {
    precondition(range.lowerBound >= 0 && range.upperBound <= whole.byteCount)
    pointer = whole.pointer + range.lowerBound
    byteCount = range.count
    self.whole = whole
    isBorrowed = whole.isBorrowed
  }

  /// Memory of any alignment that stays valid and unchanged for as long as the buffer lives.
  init(borrowing bytes: UnsafeRawBufferPointer) {
    // An empty buffer needs an address, too.
    pointer = UnsafeMutableRawPointer(mutating: bytes.baseAddress ?? Self.nowhere)
    byteCount = bytes.count
    whole = nil
    isBorrowed = true
  }

  private static var nowhere: UnsafeRawPointer { UnsafeRawPointer(bitPattern: alignment)! }

  /// Allocates large buffers in large pages if the system supports them: fewer page faults on the
  /// first write, and fewer TLB misses when streaming.
  private static func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer? {
    let isLarge = byteCount >= largePage
    var address: UnsafeMutableRawPointer?
    guard posix_memalign(&address, isLarge ? largePage : alignment, max(byteCount, 1)) == 0 else {
      return nil
    }
    if isLarge, let address { adviseLargePages(address, byteCount & -largePage) }
    MemoryBudget.used.add(byteCount, ordering: .relaxed)
    return address
  }

  private static let largePage = 2 << 20

  deinit {
    guard whole == nil, !isBorrowed else { return }
    free(pointer)
    MemoryBudget.used.subtract(byteCount, ordering: .relaxed)
  }
}
