import LibC
import Synchronization
import TensorCore

/// The files that a command has read, so it neither overwrites one of them nor reads one twice. A
/// program that uses the library only records the files of packages.
package enum OpenedFiles {
  private struct Identity: Hashable {
    let device: UInt64
    let number: UInt64

    init(_ status: stat) {
      device = UInt64(truncatingIfNeeded: status.st_dev)
      number = UInt64(truncatingIfNeeded: status.st_ino)
    }
  }

  private struct Content {
    let identity: Identity
    /// Tell whether a file has been replaced; a pipe is read only once.
    let times: [Int]
    let bytes: Bytes
  }

  /// A file of a package, until it is changed or its inode number is reused.
  private struct Part: Hashable {
    let identity: Identity
    let times: [Int]
  }

  private struct Record {
    var parts: Set<Part> = []
    var isKept = false
    var files: Set<Identity> = []
    var replaceable: Set<Identity> = []
    var written: Set<Identity> = []
    var pipes: [Content] = []
    /// The last two: the format is detected before the content is read, maybe of both in turn.
    var last: [Content] = []
  }

  private static let record = Mutex(Record())

  /// Starts the record, for a process that executes one command.
  package static func keepRecord() { record.withLock { $0.isKept = true } }

  /// Records a file that a command reads.
  package static func note(_ status: stat) {
    let isNew = record.withLock {
      $0.isKept && $0.files.insert(Identity(status)).inserted
    }
    if isNew { MemoryBudget.addInput(Int(status.st_size)) }
  }

  /// Allows a command that changes a file in place to replace it.
  package static func allowReplacing(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return }
    record.withLock { _ = $0.replaceable.insert(Identity(status)) }
  }

  /// Records a file that a command has written.
  static func noteWritten(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return }
    record.withLock { if $0.isKept { $0.written.insert(Identity(status)) } }
  }

  /// - Throws: `.cannotCreate` if writing to `path` would destroy an input or another output.
  package static func requireReplaceable(_ path: String) throws {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
    let identity = Identity(status)
    let (isInput, isOutput) = record.withLock {
      let isReplaceable = $0.replaceable.contains(identity)
      return ($0.files.contains(identity) && !isReplaceable, $0.written.contains(identity))
    }
    try require(
      !isInput && !isOutput, .cannotCreate,
      "is \(isOutput ? "another output" : "an input") of this command, which would be overwritten",
      hint: "choose another output name")
  }

  /// Records a file of a package that was read or written: a package written in its place need not
  /// keep it.
  static func notePart(_ status: stat) {
    let part = Part(identity: Identity(status), times: times(status))
    record.withLock { _ = $0.parts.insert(part) }
  }

  static func isPart(_ status: stat) -> Bool {
    let part = Part(identity: Identity(status), times: times(status))
    return record.withLock { $0.parts.contains(part) }
  }

  private static func times(_ status: stat) -> [Int] {
    guard status.st_mode & S_IFMT == S_IFREG else { return [] }
    #if canImport(Darwin)
      let (changed, modified) = (status.st_ctimespec, status.st_mtimespec)
    #else
      let (changed, modified) = (status.st_ctim, status.st_mtim)
    #endif
    return [
      Int(status.st_size), Int(changed.tv_sec), Int(changed.tv_nsec), Int(modified.tv_sec),
      Int(modified.tv_nsec),
    ]
  }

  /// The bytes that have already been read from this file.
  static func bytes(_ status: stat) -> Bytes? {
    let identity = Identity(status)
    return record.withLock { record in
      (record.last + record.pipes).first {
        $0.identity == identity && $0.times == times(status)
      }?.bytes
    }
  }

  static func keep(_ bytes: Bytes, _ status: stat) {
    let content = Content(identity: Identity(status), times: times(status), bytes: bytes)
    record.withLock { record in
      guard record.isKept else { return }
      if content.times.isEmpty {
        record.pipes.append(content)
      } else {
        record.last = record.last.suffix(1) + [content]
      }
    }
  }
}
