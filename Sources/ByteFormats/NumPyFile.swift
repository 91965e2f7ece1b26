import TensorCore

/// NumPy's `.npy` format: one array.
package enum NumPyFile {
  /// Reads types `b1`, `i1`…`i8`, `u1`…`u8`, `f2`, `f4`, `f8` in either byte order, in C or Fortran
  /// order. The number of bytes must be exactly what the header declares.
  ///
  /// - Parameter exactly: whether to keep the elements as doubles, too.
  package static func parse(_ bytes: Bytes, exactly: Bool = false) throws -> NamedArray {
    var reader = BoundedReader(bytes: bytes)
    let header = try NumPyHeader(&reader)
    let byteCount = try checkedProduct([header.elementCount, header.type.byteCount])
    try require(
      reader.remaining == byteCount,
      "the header declares \(byteCount) bytes of elements (shape \(header.shape), type "
        + "\(header.type.rawValue)), but the file has \(reader.remaining)",
      hint: reader.remaining < byteCount ? "the file is truncated" : nil)
    let elements = try reader.take(byteCount)
    var tensor = try Tensor(
      checkedShape: header.isFortranOrder ? header.shape.reversed() : header.shape
    ) { target in
      elements.withUnsafeBytes {
        header.type.convert($0, isBigEndian: header.isBigEndian, to: target)
      }
    }
    if header.isFortranOrder { tensor = tensor.transposed(header.shape.indices.reversed()) }
    var array = NamedArray(tensor, type: header.type)
    if header.type == .float64, tensor.hasInfinite {
      array.overflowCount = elements.withUnsafeBytes { bytes in
        (0..<header.elementCount).count { index in
          let bits = bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self)
          let value = Double(
            bitPattern: header.isBigEndian ? UInt64(bigEndian: bits) : UInt64(littleEndian: bits))
          return value.isFinite && Float(value).isInfinite
        }
      }
    }
    // Both orders are the same for a single axis.
    if exactly, !header.isFortranOrder || header.shape.count < 2 {
      array.doubles = elements.withUnsafeBytes { bytes in
        [Double](unsafeUninitializedCapacity: header.elementCount) { target, count in
          let target = UnsafeMutableBufferPointer(rebasing: target[..<header.elementCount])
          header.type.convert(bytes, isBigEndian: header.isBigEndian, to: target)
          count = header.elementCount
        }
      }
    }
    return array
  }

  /// The header of a file of 32-bit floats; the elements follow it, little-endian, in C order.
  package static func header(shape: [Int]) -> [UInt8] {
    NumPyHeader(type: .float32, shape: shape).encoded()
  }

  /// Writes `<f4`, or `|u1` if the array's type is `.uint8`; byte for byte what `numpy.save`
  /// writes.
  package static func write(
    _ array: NamedArray, to write: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let type: NumericType = array.type == .uint8 ? .uint8 : .float32
    try NumPyHeader(type: type, shape: array.tensor.shape).encoded().withUnsafeBytes(write)
    try array.tensor.withUnsafeElements { elements in
      if type == .uint8 {
        try elements.map(UInt8.init(rounding:)).withUnsafeBytes(write)
      } else {
        try write(UnsafeRawBufferPointer(elements))
      }
    }
  }
}

extension Tensor {
  fileprivate var hasInfinite: Bool { withUnsafeElements { $0.contains(where: \.isInfinite) } }
}
