import CSystem
import LibC
import TensorCore

/// Appends to an output. Small pieces are buffered; large ones go to the system directly.
package final class OutputHandle {
  private let descriptor: Int32
  private let expectedByteCount: Int?
  /// Allocated for the first small piece; a failure is an error, so that outputs can be removed.
  /// Not aligned: the C library reuses aligned memory less well, so the process would grow.
  private var buffer: UnsafeMutableRawPointer?
  private var bufferedByteCount = 0
  private static let bufferByteCount = 256 << 10
  /// Bytes whose transfer to disk has started.
  private var startedByteCount = 0
  private var writtenByteCount = 0

  /// Bytes written so far.
  package var byteCount: Int { writtenByteCount + bufferedByteCount }

  init(descriptor: Int32, expectedByteCount: Int?) {
    self.descriptor = descriptor
    self.expectedByteCount = expectedByteCount
  }

  deinit { free(buffer) }

  /// Writes text to an open descriptor immediately.
  package static func write(_ text: String, to descriptor: Int32) throws {
    var text = text
    try text.withUTF8 {
      try OutputHandle(descriptor: descriptor, expectedByteCount: nil)
        .send(UnsafeRawBufferPointer($0))
    }
  }

  package func write(_ bytes: UnsafeRawBufferPointer) throws {
    guard let source = bytes.baseAddress else { return }
    if bufferedByteCount + bytes.count > Self.bufferByteCount {
      try flush()
      if bytes.count >= Self.bufferByteCount { return try send(bytes) }
    }
    if buffer == nil { buffer = malloc(Self.bufferByteCount) }
    guard let buffer else {
      assay_forget_failed_allocation()
      throw ModelError(.outOfMemory, "cannot allocate \(Self.bufferByteCount) bytes")
    }
    (buffer + bufferedByteCount).copyMemory(from: source, byteCount: bytes.count)
    bufferedByteCount += bytes.count
  }

  package func write(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes(write) }

  package func write(_ text: String) throws {
    var text = text
    try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
  }

  func flush() throws {
    guard let buffer, bufferedByteCount > 0 else { return }
    try send(UnsafeRawBufferPointer(start: buffer, count: bufferedByteCount))
    bufferedByteCount = 0
  }

  /// Fails if the file system has less free space than the output is expected to take.
  func checkSpace() throws {
    guard let expectedByteCount, let free = freeByteCount(), free < expectedByteCount else {
      return
    }
    throw failure(ENOSPC)
  }

  private func send(_ bytes: UnsafeRawBufferPointer) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.largestPiece))
      let count = systemWrite(descriptor, piece)
      if count < 0 {
        if errno == EINTR { continue }
        throw failure(errno)
      }
      writtenByteCount += count
      rest = rest.dropFirst(count)
      startWriting()
    }
  }

  private static let largestPiece = 16 << 20

  /// Lets the disk work while the next bytes are computed.
  private func startWriting() {
    #if os(Linux)
      if writtenByteCount - startedByteCount >= Self.largestPiece {
        _ = startWriteback?(
          descriptor, off_t(startedByteCount), off_t(writtenByteCount - startedByteCount), 2)
        startedByteCount = writtenByteCount
      }
    #endif
  }

  private func freeByteCount() -> Int? {
    var file = stat()
    guard fstat(descriptor, &file) == 0, file.st_mode & S_IFMT == S_IFREG else { return nil }
    var system = statvfs()
    guard fstatvfs(descriptor, &system) == 0, system.f_blocks > 0 else { return nil }
    return Int(clamping: UInt64(system.f_bavail) &* UInt64(system.f_frsize))
  }

  private func failure(_ code: Int32) -> ModelError {
    var message = "cannot write: \(systemMessage(code))"
    var hint: String?
    let size = expectedByteCount.map { "\($0) bytes needed" } ?? "after \(byteCount) bytes"
    switch code {
    case EFBIG:
      message += " (\(size))"
      hint = "the limit on file sizes is too low"
    case ENOSPC, EDQUOT:
      message += " (\(size)\(freeByteCount().map { ", \($0) bytes free" } ?? ""))"
      hint = "free some space or write elsewhere"
    default: break
    }
    return ModelError(.cannotWrite, message, hint: hint)
  }
}

// Inside `OutputHandle`, `write` is its own function.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  write(descriptor, bytes.baseAddress, bytes.count)
}

#if os(Linux)
  /// `sync_file_range`, which the C library's Swift module leaves out; flag 2 starts writing
  /// without waiting.
  private let startWriteback = dlsym(nil, "sync_file_range").map {
    unsafeBitCast($0, to: (@convention(c) (Int32, off_t, off_t, UInt32) -> Int32).self)
  }
#endif
