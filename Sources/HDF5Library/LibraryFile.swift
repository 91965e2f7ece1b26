import CHDF5
import HDF5Reader
import TensorCore

/// A file that the C library has open.
struct LibraryFile: ~Copyable {
  private let file: Handle
  let size: Int

  /// Opens the file behind an open descriptor.
  init(descriptor: Int32, size: Int) throws {
    H5Eset_auto2(LibraryError.stack, nil, nil)
    // No filter is ever loaded as a plug-in.
    H5PLset_loading_state(0)
    let access = try Handle(
      H5Pcreate(assay_class_file_access()), H5Pclose, "the library does not start")
    H5Pset_fapl_sec2(access.id)
    #if os(Linux)
      let path = "/proc/self/fd/\(descriptor)"
    #else
      let path = "/dev/fd/\(descriptor)"
    #endif
    file = try Handle(
      H5Fopen(path, 0, access.id), H5Fclose, "this HDF5 file is corrupt or cut short")
    self.size = size
  }

  func root() throws -> Handle {
    try Handle(H5Gopen2(file.id, "/", 0), H5Gclose, "its root group cannot be read")
  }
}
