import CHDF5
import HDF5Reader
import LibC
import TensorCore

/// Reads fixed and variable-length strings from attributes.
enum Strings {
  static func read(
    _ attribute: borrowing Handle, type: borrowing Handle, space: borrowing Handle, count: Int
  ) throws -> [String] {
    if count == 0 { return [] }
    // The same character set as in the file, since the library does not convert between ASCII and
    // UTF-8.
    let memory = try Handle(H5Tcopy(type.id), H5Tclose, "its type cannot be read")
    return H5Tis_variable_str(type.id) > 0
      ? try variable(attribute, memory, space, count) : try fixed(attribute, memory, count)
  }

  private static func fixed(
    _ attribute: borrowing Handle, _ type: borrowing Handle, _ count: Int
  ) throws -> [String] {
    let size = H5Tget_size(type.id)
    let padding = H5Tget_strpad(type.id)
    let total = try checkedProduct([count, size], limit: HDF5Limits.attributeBytes)
    var bytes = [UInt8](repeating: 0, count: total)
    try LibraryError.check(H5Aread(attribute.id, type.id, &bytes), "its strings cannot be read")
    return (0..<count).map { index in
      let field = bytes[index * size..<(index + 1) * size]
      switch padding {
      case H5T_STR_NULLTERM:
        return String(decoding: field.prefix { $0 != 0 }, as: UTF8.self)
      case H5T_STR_SPACEPAD:
        return String(decoding: trimmed(field, UInt8(ascii: " ")), as: UTF8.self)
      default:
        return String(decoding: trimmed(field, 0), as: UTF8.self)
      }
    }
  }

  private static func trimmed(_ field: ArraySlice<UInt8>, _ pad: UInt8) -> ArraySlice<UInt8> {
    field[..<((field.lastIndex { $0 != pad } ?? (field.startIndex - 1)) + 1)]
  }

  private static func variable(
    _ attribute: borrowing Handle, _ type: borrowing Handle, _ space: borrowing Handle, _ count: Int
  ) throws -> [String] {
    _ = try checkedProduct(
      [count, MemoryLayout<UnsafeMutablePointer<CChar>?>.stride], limit: HDF5Limits.attributeBytes)
    var pointers = [UnsafeMutablePointer<CChar>?](repeating: nil, count: count)
    return try pointers.withUnsafeMutableBytes { target in
      guard let base = target.baseAddress else { return [] }
      try LibraryError.check(H5Aread(attribute.id, type.id, base), "its strings cannot be read")
      defer { assay_reclaim(type.id, space.id, base) }
      var total = 0
      return try target.bindMemory(to: UnsafeMutablePointer<CChar>?.self).map { pointer in
        guard let pointer else { return "" }
        total += strlen(pointer)
        try require(
          total <= HDF5Limits.attributeBytes, .limitExceeded,
          "its strings are longer than the limit of \(HDF5Limits.attributeBytes) bytes")
        return String(cString: pointer)
      }
    }
  }
}
