import LibC

/// Uninitialized memory, aligned for the widest vectors, freed with its last reference.
package final class AlignedBuffer: @unchecked Sendable {
  package static let alignment = 64

  package let pointer: UnsafeMutableRawPointer
  package let byteCount: Int
  /// Of which the memory is a part; nil if it is the buffer's own.
  private let whole: AlignedBuffer?

  /// For sizes that the program itself has chosen.
  package init(byteCount: Int) {
    self.byteCount = byteCount
    let address = Self.allocate(byteCount)
    precondition(address != nil)
    pointer = address!
    whole = nil
  }

  /// For sizes that come from a file: fails with an error instead of a trap where the memory is
  /// not to be had.
  package init(checkedByteCount byteCount: Int) throws {
    self.byteCount = byteCount
    whole = nil
    guard byteCount >= 0, let address = Self.allocate(byteCount) else {
      throw ModelError(.outOfMemory, "cannot allocate \(byteCount) bytes")
    }
    pointer = address
  }

  /// Part of another buffer, which lives on with it. Precondition: `range` lies inside it.
  package init(_ range: Range<Int>, of whole: AlignedBuffer) {
    precondition(range.lowerBound >= 0 && range.upperBound <= whole.byteCount)
    pointer = whole.pointer + range.lowerBound
    byteCount = range.count
    self.whole = whole
  }

  /// Large memory comes in large pages where the system has them: fewer faults when it is first
  /// written, fewer translations missed when it is streamed.
  private static func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer? {
    let isLarge = byteCount >= largePage
    var address: UnsafeMutableRawPointer?
    guard posix_memalign(&address, isLarge ? largePage : alignment, max(byteCount, 1)) == 0 else {
      return nil
    }
    if isLarge, let address { adviseLargePages(address, byteCount & -largePage) }
    return address
  }

  private static let largePage = 2 << 20

  deinit { if whole == nil { free(pointer) } }
}
