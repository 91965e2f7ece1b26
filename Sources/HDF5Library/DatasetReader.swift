import CHDF5
import HDF5Reader
import TensorCore

/// Reads the elements of datasets.
enum DatasetReader {
  /// Writes the numbers of each request at its offset in `values`, and a frame with the answer to
  /// each request, or a single frame with the reason if the file cannot be read.
  static func read(
    _ requests: [HDF5Request], descriptor: Int32, size: Int,
    into values: UnsafeMutableRawBufferPointer, to sink: @escaping ([UInt8]) throws -> Void
  ) throws {
    var frames = FrameWriter(sink: sink)
    do {
      let file = try OpenHDF5File(descriptor: descriptor)
      for (index, request) in requests.enumerated() {
        do {
          let root = try file.root()
          let dataset = try open(request.path.split(separator: "/").map(String.init)[...], in: root)
          let description = try DatasetDescription(dataset, fileSize: size)
          try require(
            description.count == request.count, "its shape has changed since the file was opened")
          try numbers(of: dataset, description, request, into: values)
          try frames.frame(.numbers) { $0.integer(UInt32(index)) }
        } catch let error as ModelError {
          try frames.frame(.unreadable) { frame in
            frame.integer(UInt32(index))
            frame.reason(error)
          }
        }
      }
      try frames.finish()
    } catch let error as ModelError {
      try frames.failure(error)
    }
  }

  /// Follows hard links only, one name at a time.
  private static func open(_ names: ArraySlice<String>, in group: borrowing Handle) throws -> Handle
  {
    guard let name = names.first, assay_link_type(group.id, name) == 0 else {
      throw ModelError(.malformed, "it is no longer in the file")
    }
    let object = try Handle(H5Oopen(group.id, name, 0), H5Oclose, "it cannot be opened")
    return names.count == 1 ? object : try open(names.dropFirst(), in: object)
  }

  private static func numbers(
    of dataset: borrowing Handle, _ description: DatasetDescription, _ request: HDF5Request,
    into values: UnsafeMutableRawBufferPointer
  ) throws {
    try require(description.type.kind != .string, "it contains \(description.type), not numbers")
    let length = try checkedProduct([request.count, 4])
    guard request.offset >= 0, length > 0, length <= values.count,
      request.offset <= values.count - length, let base = values.baseAddress
    else { throw ModelError(.internal, "a request outside the shared memory") }
    let target = base + request.offset
    if description.type.kind == .float, description.type.byteCount == 2,
      try readHalves(of: dataset, request.count, into: target)
    {
      return
    }
    try LibraryError.check(
      H5Dread(dataset.id, assay_native_float(), 0, 0, 0, target), "its elements cannot be read")
  }

  /// The library converts half floats bit by bit, about a hundred times slower than memory, so they
  /// are read unconverted and widened here. Returns false if they are not IEEE 754 halves.
  private static func readHalves(
    of dataset: borrowing Handle, _ count: Int, into target: UnsafeMutableRawPointer
  ) throws -> Bool {
    let stored = try Handle(H5Dget_type(dataset.id), H5Tclose, "its type cannot be read")
    guard HalfFloats.isIEEE(stored) else { return false }
    let type = try Handle(H5Tcopy(stored.id), H5Tclose, "its type cannot be read")
    try LibraryError.check(H5Tset_order(type.id, H5T_ORDER_LE), "its type cannot be read")
    try LibraryError.check(
      H5Dread(dataset.id, type.id, 0, 0, 0, target + count * 2), "its elements cannot be read")
    HalfFloats.widenInPlace(target, count: count)
    return true
  }
}
