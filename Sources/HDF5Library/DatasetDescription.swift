import CHDF5
import HDF5Reader
import TensorCore

/// The type, shape and storage of a dataset that can be read.
struct DatasetDescription {
  let type: HDF5ElementType
  let shape: [Int]
  let count: Int
  /// Offset of the values if they are contiguous little-endian 32-bit floats; otherwise nil.
  let fileOffset: Int?
  /// Bytes of all elements.
  let byteCount: Int

  /// Throws `.unsupported` for storage outside the file and for other filters, `.limitExceeded` if
  /// more is declared than the stored bytes can hold, `.malformed` if the library fails or a part
  /// of the values is not in the file.
  ///
  /// - Parameter map: the map that records where the values are. If it is nil, they can be read,
  ///   and compressed ones are expanded once as a check.
  init(_ dataset: borrowing Handle, fileSize: Int, map: StorageMap? = nil) throws {
    let creation = try Handle(
      H5Dget_create_plist(dataset.id), H5Pclose, "its storage cannot be read")
    let layout = H5Pget_layout(creation.id)
    switch layout {
    case H5D_COMPACT, H5D_CONTIGUOUS, H5D_CHUNKED: break
    case H5D_VIRTUAL:
      throw ModelError(
        .unsupported, "virtual datasets, whose data is in other files, are not supported")
    default: throw LibraryError.current("its storage cannot be read")
    }
    guard H5Pget_external_count(creation.id) == 0 else {
      throw ModelError(.unsupported, "datasets whose data is in another file are not supported")
    }
    let filters = try Self.filters(creation)

    let handle = try Handle(H5Dget_type(dataset.id), H5Tclose, "its type cannot be read")
    let space = try Handle(H5Dget_space(dataset.id), H5Sclose, "its shape cannot be read")
    type = try ElementTypes.describe(handle)
    (shape, count) = try ElementTypes.shape(space, elementLimit: Limits.tensorElements)

    let declared = try checkedProduct([count, H5Tget_size(handle.id)], limit: Limits.fileBytes)
    byteCount = declared
    let stored = Int(clamping: H5Dget_storage_size(dataset.id))
    let offset = layout == H5D_CONTIGUOUS ? UInt64(H5Dget_offset(dataset.id)) : UInt64.max
    H5Eclear2(LibraryError.stack)
    let possible = min(stored, fileSize).multipliedReportingOverflow(by: Limits.expansionRatio)
    try require(
      declared <= HDF5Limits.freeBytes || possible.overflow || declared <= possible.partialValue,
      .limitExceeded, "the shape \(shape) declares \(declared) bytes, but only \(stored) are stored"
    )
    let isFilled = try Self.declaresFillValue(creation)
    if layout == H5D_CHUNKED {
      try ChunkCheck(
        creation, shape: shape, elementBytes: H5Tget_size(handle.id), filters: filters,
        isFilled: isFilled, map: map, fileSize: fileSize
      ).check(dataset)
    } else if stored < declared, stored > 0 || !isFilled {
      throw ModelError(
        .malformed, "only \(stored) of its \(declared) bytes are in the file: \(StorageMap.remedy)")
    }
    guard offset != UInt64.max, declared > 0 else {
      fileOffset = nil
      return
    }
    guard declared <= fileSize, offset <= UInt64(fileSize - declared) else {
      throw ModelError(.malformed, "its data is beyond the end of the file: the file is truncated")
    }
    map?.add(offset, declared)
    let isPlain = filters.isEmpty && H5Tequal(handle.id, assay_type_float32()) > 0
    fileOffset = isPlain && offset % 4 == 0 ? Int(offset) : nil
  }

  /// Whether the file declares a fill value for values that were never written, and libhdf5 writes
  /// it. Otherwise, libhdf5 leaves memory as it is.
  private static func declaresFillValue(_ creation: borrowing Handle) throws -> Bool {
    var status = H5D_FILL_VALUE_ERROR
    var time = H5D_FILL_TIME_ERROR
    try LibraryError.check(
      min(H5Pfill_value_defined(creation.id, &status), H5Pget_fill_time(creation.id, &time)),
      "its fill value cannot be read")
    return status == H5D_FILL_VALUE_USER_DEFINED && time != H5D_FILL_TIME_NEVER
  }

  /// The filters in the order in which they were applied.
  private static func filters(_ creation: borrowing Handle) throws -> [H5Z_filter_t] {
    let count = Int(H5Pget_nfilters(creation.id))
    guard count >= 0 else { throw LibraryError.current("its filters cannot be read") }
    guard count <= HDF5Limits.filters else {
      throw ModelError(.limitExceeded, "\(count) filters exceed the limit of \(HDF5Limits.filters)")
    }
    let filters = try (0..<count).map { index in
      var flags: UInt32 = 0
      var valueCount = 0
      var configuration: UInt32 = 0
      var name = [CChar](repeating: 0, count: 64)
      let filter = H5Pget_filter2(
        creation.id, UInt32(index), &flags, &valueCount, nil, name.count, &name, &configuration)
      guard filter >= 0 else { throw LibraryError.current("its filters cannot be read") }
      // H5Z_FILTER_DEFLATE, H5Z_FILTER_SHUFFLE, H5Z_FILTER_FLETCHER32
      guard (1...3).contains(filter) else {
        name[name.count - 1] = 0
        let text = String(
          decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        throw ModelError(
          .unsupported,
          "the filter \(filter)\(text.isEmpty ? "" : " (\(text))") is not supported, "
            + "only gzip, shuffle and fletcher32")
      }
      return filter
    }
    // No writer produces these, and checking them would require undoing the other filters.
    if let gzip = filters.firstIndex(of: H5Z_FILTER_DEFLATE),
      filters[(gzip + 1)...].contains(where: { $0 != H5Z_FILTER_FLETCHER32 })
    {
      throw ModelError(.unsupported, "a filter after gzip is not supported, except fletcher32")
    }
    return filters
  }
}
