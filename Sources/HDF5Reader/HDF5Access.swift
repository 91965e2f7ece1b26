import TensorCore

/// Where the C library runs that reads a file.
package struct HDF5Access: Sendable {
  package let backend: any HDF5Backend

  package init(backend: any HDF5Backend) { self.backend = backend }

  /// In a worker process that is found by `WorkerLocation`, with default time limits. A crash or a
  /// hang of the library is an error of the file.
  package static var isolated: HDF5Access { isolated() }

  /// In a worker process.
  ///
  /// - Parameters:
  ///   - worker: path of the `assay-hdf5` executable; where nil, see `WorkerLocation`.
  ///   - timeout: seconds of wall-clock time for one pass over the file; where nil, a minute and
  ///     a second for every 4 MiB of the file. The worker itself stops after three seconds of
  ///     processor time and one more for every 32 MiB.
  package static func isolated(worker: String? = nil, timeout: Double? = nil) -> HDF5Access {
    HDF5Access(backend: WorkerBackend(explicitPath: worker, timeout: timeout))
  }
}

/// Reads a file with the C library and answers in frames, which the caller does not trust.
package protocol HDF5Backend: Sendable {
  /// Frames of the whole tree: groups, attributes, the datasets' types and shapes.
  func describe(_ input: HDF5Input) throws -> [UInt8]

  /// Reads datasets; the numbers land at each request's offset in `values`, which has `byteCount`
  /// bytes, and the frames say for each request whether that worked.
  func read(
    _ requests: [HDF5Request], from input: HDF5Input, byteCount: Int
  ) throws -> (frames: [UInt8], values: Bytes)
}

/// One dataset to be read.
package struct HDF5Request: Sendable, Equatable {
  package enum Target: UInt8, Sendable {
    case float32 = 1
    case int64 = 2
    /// Travels in the frames; `offset` does not count.
    case strings = 3

    package var bytesPerElement: Int {
      switch self {
      case .float32: 4
      case .int64: 8
      case .strings: 0
      }
    }
  }

  /// Absolute path of the dataset.
  package var path: String
  package var target: Target
  /// Elements, as the description of the file has given them.
  package var count: Int
  /// Byte offset in the values.
  package var offset: Int

  package init(path: String, target: Target, count: Int, offset: Int) {
    self.path = path
    self.target = target
    self.count = count
    self.offset = offset
  }
}
