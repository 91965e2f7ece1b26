import CHDF5
import HDF5Reader
import TensorCore

/// Reads the attributes of an object into frames.
enum Attributes {
  static func write(
    _ name: String, of object: borrowing Handle, to frames: inout FrameWriter
  ) throws {
    do {
      try frames.frame(.attribute) { frame in
        try writeElements(name, of: object, to: &frame)
      }
    } catch let error as ModelError where error.code != .limitExceeded {
      try frames.frame(.attribute) { frame in
        frame.text(name)
        frame.shape([])
        frame.byte(FrameFormat.ElementKind.unsupported.rawValue)
        frame.text(error.message)
      }
    }
  }

  static func names(of object: borrowing Handle) throws -> [String] {
    var names: [String] = []
    let status = withUnsafeMutablePointer(to: &names) { target in
      H5Aiterate2(
        object.id, H5_INDEX_NAME, H5_ITER_INC, nil,
        { _, name, _, context in
          guard let name, let context else { return -1 }
          let names = context.assumingMemoryBound(to: [String].self)
          names.pointee.append(String(cString: name))
          return names.pointee.count > HDF5Limits.attributesPerObject ? 1 : 0
        }, target)
    }
    try LibraryError.check(status, "its attributes cannot be listed")
    try require(
      names.count <= HDF5Limits.attributesPerObject, .limitExceeded,
      "an object has more attributes than the limit of \(HDF5Limits.attributesPerObject)")
    return names
  }

  private static func writeElements(
    _ name: String, of object: borrowing Handle, to frame: inout FrameWriter
  ) throws {
    try require(
      name.utf8.count <= Limits.nameBytes, .limitExceeded,
      "an attribute's name is longer than the limit of \(Limits.nameBytes) bytes")
    let attribute = try Handle(H5Aopen(object.id, name, 0), H5Aclose, "it cannot be opened")
    let space = try Handle(H5Aget_space(attribute.id), H5Sclose, "its shape cannot be read")
    let type = try Handle(H5Aget_type(attribute.id), H5Tclose, "its type cannot be read")
    let (shape, count) = try ElementTypes.shape(space, elementLimit: HDF5Limits.attributeBytes / 8)
    let description = try ElementTypes.describe(type)
    frame.text(name)
    frame.shape(shape)
    guard description.kind == .string else {
      frame.byte(FrameFormat.ElementKind.unsupported.rawValue)
      frame.text("\(description) values are not supported")
      return
    }
    let strings = try Strings.read(attribute, type: type, space: space, count: count)
    frame.byte(FrameFormat.ElementKind.strings.rawValue)
    for string in strings { frame.text(string) }
  }
}
