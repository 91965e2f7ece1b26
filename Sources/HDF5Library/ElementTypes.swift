import CHDF5
import HDF5Reader
import TensorCore

/// Types and shapes as reported by the C library, checked against the limits.
enum ElementTypes {
  /// Throws `.unsupported` for a type that is not supported.
  static func describe(_ type: borrowing Handle) throws -> HDF5ElementType {
    let size = H5Tget_size(type.id)
    guard size > 0 else { throw LibraryError.current("its type cannot be read") }
    let isBigEndian = H5Tget_order(type.id) == H5T_ORDER_BE
    func number(_ kind: HDF5ElementType.Kind) throws -> HDF5ElementType {
      try require(size <= 16, .unsupported, "numbers of \(size) bytes are not supported")
      return HDF5ElementType(kind: kind, byteCount: size, isBigEndian: isBigEndian)
    }
    switch H5Tget_class(type.id) {
    case H5T_FLOAT: return try number(.float)
    case H5T_INTEGER: return try number(H5Tget_sign(type.id) == H5T_SGN_NONE ? .unsigned : .integer)
    case H5T_ENUM: return try number(.enumeration)
    case H5T_STRING:
      if H5Tis_variable_str(type.id) > 0 { return HDF5ElementType(kind: .string, byteCount: 0) }
      guard size <= HDF5Limits.attributeBytes else {
        throw ModelError(.limitExceeded, "strings of \(size) bytes exceed the limit")
      }
      return HDF5ElementType(kind: .string, byteCount: size)
    case H5T_COMPOUND: throw unsupported("compound values")
    case H5T_VLEN: throw unsupported("variable-length sequences")
    case H5T_ARRAY: throw unsupported("array elements")
    case H5T_REFERENCE: throw unsupported("references")
    case H5T_OPAQUE: throw unsupported("opaque values")
    case H5T_BITFIELD: throw unsupported("bit fields")
    default: throw unsupported("values of an unknown type")
    }
  }

  private static func unsupported(_ what: String) -> ModelError {
    ModelError(.unsupported, "\(what) are not supported")
  }

  /// Extents and their product: `[]` and 1 for a scalar, `[0]` and 0 for a null dataspace.
  static func shape(
    _ space: borrowing Handle, elementLimit: Int
  ) throws -> (extents: [Int], count: Int) {
    switch H5Sget_simple_extent_type(space.id) {
    case H5S_NULL: return ([0], 0)
    case H5S_SCALAR: return ([], 1)
    case H5S_SIMPLE: break
    default: throw LibraryError.current("its shape cannot be read")
    }
    let rank = Int(H5Sget_simple_extent_ndims(space.id))
    guard rank >= 0 else { throw LibraryError.current("its shape cannot be read") }
    try require(
      rank <= Limits.rank, .limitExceeded, "rank \(rank) is more than the limit of \(Limits.rank)")
    var extents = [hsize_t](repeating: 0, count: max(rank, 1))
    try LibraryError.check(
      H5Sget_simple_extent_dims(space.id, &extents, nil), "its shape cannot be read")
    extents.removeLast(extents.count - rank)
    guard extents.allSatisfy({ $0 <= UInt64(Limits.dimension) }) else {
      throw ModelError(.limitExceeded, "the shape \(extents) exceeds the limits")
    }
    let shape = extents.map { Int($0) }
    return (shape, try checkedProduct(shape, limit: elementLimit))
  }
}
