import CHDF5

/// A file that the C library has open.
struct OpenHDF5File: ~Copyable {
  private let file: Handle

  /// Opens the file of an open descriptor.
  ///
  /// - Parameter map: the map that records where everything is, instead of values being read.
  init(descriptor: Int32, map: StorageMap? = nil) throws {
    H5Eset_auto2(LibraryError.stack, nil, nil)
    // No filter is ever loaded as a plug-in.
    H5PLset_loading_state(0)
    var source = assay_source()
    source.descriptor = descriptor
    map?.observe(&source)
    file = try Handle(assay_open(source), H5Fclose, "this HDF5 file is corrupt or truncated")
  }

  func root() throws -> Handle {
    try Handle(H5Gopen2(file.id, "/", 0), H5Gclose, "its root group cannot be read")
  }
}
