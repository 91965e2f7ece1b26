import CSystem
import LibC
import TensorCore

/// A file or folder that is being written: `item` in a hidden folder next to its destination.
///
/// The hidden folder also contains a file that is locked while the process lives. If it is not
/// locked, a killed process left the folder, and the next write to this destination removes it.
final class PendingItem: Sendable {
  static let item = "item"
  private static let lockName = ".assay-lock"

  /// The hidden folder.
  let folder: OpenFolder
  private let parent: OpenFolder
  private let name: String
  private let lock: Int32

  private init(_ folder: OpenFolder, _ parent: OpenFolder, _ name: String, _ lock: Int32) {
    (self.folder, self.parent, self.name, self.lock) = (folder, parent, name, lock)
  }

  deinit { close(lock) }

  /// - Parameter name: the name of the destination in `parent`.
  /// - Throws: `.cannotCreate`.
  static func make(in parent: OpenFolder, for name: String) throws -> PendingItem {
    _ = InterruptCleanup.install
    removeAbandoned(name, in: parent)
    let prefix = hiddenPrefix(name)
    for _ in 0..<100 {
      let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
      let hidden = prefix + String(repeating: "0", count: digitCount - digits.count) + digits + "~"
      let made: PendingItem? = try InterruptCleanup.exclusively { items in
        let item = try PendingItem(hidden, in: parent)
        if let item { items.append(item) }
        return item
      }
      if let made { return made }
    }
    throw AtomicFile.cannotCreate(EEXIST)
  }

  /// Nil if the name is taken, or another process mistook the folder for a leftover.
  private convenience init?(_ name: String, in parent: OpenFolder) throws {
    guard mkdirat(parent.descriptor, name, 0o700) == 0 else {
      if errno == EEXIST { return nil }
      throw AtomicFile.cannotCreate(errno)
    }
    var lock: Int32 = -1
    let folder = OpenFolder(name, in: parent)
    if let folder {
      lock = assay_open_at(
        folder.descriptor, Self.lockName, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0o600)
    }
    guard let folder, lock >= 0 else {
      let code = errno
      unlinkat(parent.descriptor, name, AT_REMOVEDIR)
      if code == ENOENT { return nil }
      throw AtomicFile.cannotCreate(code)
    }
    // Without locks, nothing is ever considered a leftover.
    let isTaken = assay_lock_file(lock) != 0 && errno == EWOULDBLOCK
    var status = stat()
    guard !isTaken, fstat(lock, &status) == 0, status.st_nlink > 0 else {
      close(lock)
      return nil
    }
    self.init(folder, parent, name, lock)
  }

  /// Removes the item, or the one that it was exchanged with.
  func discard() {
    InterruptCleanup.exclusively { items in
      guard let index = items.firstIndex(where: { $0 === self }) else { return }
      items.remove(at: index)
      remove()
    }
  }

  /// Leaves the hidden folder to the user permanently.
  func abandon(_ items: inout [PendingItem]) {
    items.removeAll { $0 === self }
    unlinkat(folder.descriptor, Self.lockName, 0)
  }

  /// Removes the lock last, so that a leftover has one.
  func remove() {
    folder.remove(Self.item)
    unlinkat(folder.descriptor, Self.lockName, 0)
    unlinkat(parent.descriptor, name, AT_REMOVEDIR)
  }

  private static let digitCount = 16

  /// The start of hidden names next to a destination; names have up to 255 bytes.
  private static func hiddenPrefix(_ name: String) -> String {
    var start = name[...]
    while start.utf8.count > 200 { start.removeLast() }
    return ".\(start)."
  }

  /// Removes what killed processes left next to the destination.
  static func removeAbandoned(_ name: String, in parent: OpenFolder) {
    let prefix = hiddenPrefix(name)
    for bytes in (try? parent.names()) ?? [] {
      let name = String(decoding: bytes.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      guard name.utf8.starts(with: prefix.utf8), name.hasSuffix("~"),
        case let digits = name.utf8.dropFirst(prefix.utf8.count).dropLast(),
        digits.count == digitCount,
        digits.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }),
        let folder = OpenFolder(bytes, in: parent)
      else { continue }
      let lock = assay_open_at(folder.descriptor, lockName, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0)
      guard lock >= 0 else {
        // Killed before the lock file existed; only an empty folder is removed.
        if errno == ENOENT { unlinkat(parent.descriptor, bytes, AT_REMOVEDIR) }
        continue
      }
      if assay_lock_file(lock) == 0 {
        PendingItem(folder, parent, name, lock).remove()
      } else {
        close(lock)
      }
    }
  }
}
