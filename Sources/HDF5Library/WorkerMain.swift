import CSystem
import HDF5Reader
import LibC
import TensorCore

/// The worker's main function: it confines itself, reads the inherited file and writes frames.
/// Requests and values are in memory shared with its parent. See `WorkerDescriptor`.
package enum WorkerMain {
  /// - Parameter arguments: `describe` or `read`, or `leaks` to test the confinement; then
  ///   `confined` to refuse to read if it is incomplete.
  /// - Returns: the exit status; 64 if the program was started by hand.
  package static func run(_ arguments: [String]) -> Int32 {
    var status = stat()
    guard fstat(WorkerDescriptor.file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      fcntl(WorkerDescriptor.frames, F_GETFD) >= 0,
      arguments.count == 1 || arguments.dropFirst() == ["confined"]
    else { return 64 }
    let size = Int(status.st_size)
    do {
      switch arguments[0] {
      case "describe":
        let gap = Confinement.enter(file: WorkerDescriptor.file, workBytes: size)
        if try refuses(gap, arguments) { return 0 }
        try TreeWriter.describe(descriptor: WorkerDescriptor.file, size: size, gap: gap, to: write)
      case "read":
        guard let (requests, values) = mapRegion() else { return 64 }
        let gap = Confinement.enter(
          file: WorkerDescriptor.file, workBytes: size + values.count)
        if try refuses(gap, arguments) { return 0 }
        try DatasetReader.read(
          requests, descriptor: WorkerDescriptor.file, size: size, into: values, to: write)
      case "leaks":
        _ = Confinement.enter(file: WorkerDescriptor.file, workBytes: size)
        return Confinement.leaks()
      default: return 64
      }
      return 0
    } catch {
      return 1
    }
  }

  /// Whether the caller requires a missing protection; if so, the failure has been sent.
  private static func refuses(_ gap: String?, _ arguments: [String]) throws -> Bool {
    guard let gap, arguments.count > 1 else { return false }
    var frames = FrameWriter(sink: write)
    try frames.failure(ModelError(.unsupported, "\(gap), and a complete sandbox is required"))
    return true
  }

  private static func write(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        posixWrite(WorkerDescriptor.frames, $0.baseAddress, $0.count)
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw ModelError(.internal, "the parent process is gone") }
      rest = rest.dropFirst(count)
    }
  }

  /// Shared memory is mapped as a whole: on Darwin, it cannot be read in any other way.
  private static func mapRegion() -> ([HDF5Request], UnsafeMutableRawBufferPointer)? {
    var status = stat()
    guard fstat(WorkerDescriptor.region, &status) == 0 else { return nil }
    let size = Int(status.st_size)
    guard size >= RequestTable.leastByteCount,
      let address = mmap(
        nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, WorkerDescriptor.region, 0),
      address != MAP_FAILED
    else { return nil }
    let region = UnsafeMutableRawBufferPointer(start: address, count: size)
    let length = Int(region.loadUnaligned(as: Int64.self))
    let lengths = RequestTable.leastByteCount...min(size, RequestTable.byteLimit)
    guard lengths.contains(length),
      let (requests, valuesStart) = RequestTable.decode([UInt8](region.prefix(length))),
      valuesStart >= length
    else { return nil }
    return (requests, UnsafeMutableRawBufferPointer(rebasing: region[min(valuesStart, size)...]))
  }
}

private func posixWrite(_ descriptor: Int32, _ base: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, base, count)
}
