import CSystem
import LibC

extension Bytes {
  /// Lets the system drop the pages of a mapped file that have been read; the next access rereads
  /// them.
  package func dropPages() {
    guard let mapping = owner as? MemoryMapping else { return }
    withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      let offset = base - UnsafeRawPointer(mapping.address)
      releasePages(mapping.address, offset..<offset + bytes.count)
    }
  }
}

extension AlignedBuffer {
  /// Returns the whole pages in `range` to the system; their values are lost.
  package func dropPages(_ range: Range<Int>) {
    let page = UInt(bitPattern: pointer) % UInt(sysconf(Int32(_SC_PAGESIZE)))
    releasePages(pointer - Int(page), range.lowerBound + Int(page)..<range.upperBound + Int(page))
  }
}

/// - Parameter address: the start of a page.
private func releasePages(_ address: UnsafeMutableRawPointer, _ range: Range<Int>) {
  let page = sysconf(Int32(_SC_PAGESIZE))
  let first = (range.lowerBound + page - 1) / page * page
  let last = range.upperBound / page * page
  if last > first { madvise(address + first, last - first, MADV_DONTNEED) }
}

/// A file mapped into memory, unmapped with its last reference.
package final class MemoryMapping {
  fileprivate let address: UnsafeMutableRawPointer
  private let byteCount: Int
  private let watch: Int32

  /// Maps the first bytes of an open file for reading.
  ///
  /// - Throws: `.outOfMemory`, or `.missingFile` if the system cannot map such files.
  package static func bytes(
    _ descriptor: Int32, _ byteCount: Int, path: String, isShared: Bool = false
  ) throws -> Bytes {
    guard
      let address = mmap(
        nil, byteCount, PROT_READ, isShared ? MAP_SHARED : MAP_PRIVATE, descriptor, 0),
      address != MAP_FAILED
    else {
      let code = errno
      throw ModelError(
        code == ENOMEM ? .outOfMemory : .missingFile,
        "cannot map \(byteCount) bytes: \(String(cString: strerror(code)))")
    }
    return Bytes(
      base: address, count: byteCount,
      owner: MemoryMapping(address: address, byteCount: byteCount, path: path))
  }

  /// - Parameter path: named in the error if another process truncates the file during a read.
  private init(address: UnsafeMutableRawPointer, byteCount: Int, path: String) {
    self.address = address
    self.byteCount = byteCount
    let error = ModelError(.cannotWrite, "the file was truncated while it was read", file: path)
    watch = assay_watch_mapping(address, byteCount, "error: \(error)\n")
  }

  deinit {
    assay_unwatch_mapping(watch)
    munmap(address, byteCount)
  }
}
