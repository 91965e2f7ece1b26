import TensorCore

/// Where the C library that reads a file runs.
package struct HDF5Access: Sendable {
  package let backend: any HDF5Backend

  package init(backend: any HDF5Backend) { self.backend = backend }

  /// Runs the library in a worker process found by `WorkerLocation`, with default time limits. A
  /// crash or hang is reported as an error in the file.
  package static var isolated: HDF5Access { isolated() }

  /// Runs the library in a worker process.
  ///
  /// - Parameters:
  ///   - worker: path of the `assay-hdf5` executable; if nil, see `WorkerLocation`.
  ///   - timeout: seconds of wall-clock time for one pass over the file; if nil, 60 plus one for
  ///     every 4 MiB of the file. The worker itself stops after one second of processor time
  ///     plus one for every 32 MiB.
  package static func isolated(worker: String? = nil, timeout: Double? = nil) -> HDF5Access {
    HDF5Access(backend: WorkerBackend(explicitPath: worker, timeout: timeout))
  }
}

/// Reads a file with the C library and answers in frames, which the caller does not trust.
package protocol HDF5Backend: Sendable {
  /// Frames of the whole tree: groups, attributes, and the datasets' types and shapes.
  func describe(_ input: HDF5Input) throws -> [UInt8]

  /// Reads datasets. The numbers go to each request's offset in `values`, which has `byteCount`
  /// bytes; the frames report for each request whether it succeeded.
  func read(
    _ requests: [HDF5Request], from input: HDF5Input, byteCount: Int
  ) throws -> (frames: [UInt8], values: Bytes)
}

/// A request to read the numbers of one dataset as 32-bit floats.
package struct HDF5Request: Sendable, Equatable {
  /// Absolute path of the dataset.
  package var path: String
  /// Number of elements, from the description of the file.
  package var count: Int
  /// Byte offset in the values.
  package var offset: Int
}
