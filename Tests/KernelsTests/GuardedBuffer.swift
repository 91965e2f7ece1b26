import LibC
import Synchronization

/// Floats that end directly before, or start directly after, an inaccessible page.
///
/// A kernel's arguments are plain addresses, which keep nothing alive, so the last thousand buffers
/// are kept whether or not they are referenced.
final class GuardedBuffer: @unchecked Sendable {
  enum Edge: CaseIterable { case begin, end }

  let pointer: UnsafeMutablePointer<Float>
  let count: Int
  private let mapping: UnsafeMutableRawPointer
  private let byteCount: Int
  private static let recent = Mutex<(buffers: [GuardedBuffer], next: Int)>(([], 0))

  init(_ values: [Float], at edge: Edge) {
    let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    count = values.count
    let used = (values.count * 4 + page - 1) / page * page
    byteCount = used + 2 * page
    mapping = mmap(nil, byteCount, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    precondition(mapping != MAP_FAILED)
    if used > 0 { precondition(mprotect(mapping + page, used, PROT_READ | PROT_WRITE) == 0) }
    let start = mapping + page + (edge == .begin ? 0 : used - values.count * 4)
    pointer = start.bindMemory(to: Float.self, capacity: max(values.count, 1))
    for (index, value) in values.enumerated() { pointer[index] = value }
    Self.recent.withLock { recent in
      if recent.buffers.count < 1000 {
        recent.buffers.append(self)
      } else {
        recent.buffers[recent.next] = self
        recent.next = (recent.next + 1) % 1000
      }
    }
  }

  /// The initial value of all elements.
  static let untouched: Float = -12345

  convenience init(count: Int, at edge: Edge) {
    self.init([Float](repeating: Self.untouched, count: count), at: edge)
  }

  var constant: UnsafePointer<Float> { UnsafePointer(pointer) }
  var values: [Float] { Array(UnsafeBufferPointer(start: pointer, count: count)) }

  deinit { munmap(mapping, byteCount) }
}
