import HDF5Reader
import Synchronization
import TensorCore

extension HDF5Access {
  /// Reads in this process, for debugging and for trusted files: a corrupt file may crash it.
  package static var inProcess: HDF5Access { HDF5Access(backend: LibraryBackend()) }
}

/// Calls the C library directly, from one caller at a time.
package struct LibraryBackend: HDF5Backend {
  private static let library = Mutex(())

  package init() {}

  package func describe(_ input: HDF5Input) throws -> [UInt8] {
    let frames = Collector()
    try Self.library.withLock { _ in
      try TreeWriter.describe(descriptor: input.descriptor, size: input.size) { frames.bytes += $0 }
    }
    return frames.bytes
  }

  package func read(
    _ requests: [HDF5Request], from input: HDF5Input, byteCount: Int
  ) throws -> (frames: [UInt8], values: Bytes) {
    let buffer = try AlignedBuffer(checkedByteCount: byteCount)
    let values = UnsafeMutableRawBufferPointer(start: buffer.pointer, count: byteCount)
    let frames = Collector()
    try Self.library.withLock { _ in
      try DatasetReader.read(
        requests, descriptor: input.descriptor, size: input.size, into: values
      ) { frames.bytes += $0 }
    }
    return (frames.bytes, Bytes(base: buffer.pointer, count: byteCount, owner: buffer))
  }
}

private final class Collector { var bytes: [UInt8] = [] }
