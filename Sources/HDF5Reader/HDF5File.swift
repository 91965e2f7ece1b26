import Files
import TensorCore

/// An HDF5 file, opened for reading: a tree of groups with attributes and datasets.
///
/// The C library never runs in this process unless `HDF5Access.inProcess` is used. Opening reads
/// names, attributes and shapes; the elements of a dataset are read on demand. Only hard links are
/// followed. Anything else in a file (soft and external links, virtual or external storage, other
/// filters) causes an error only when it is accessed.
package struct HDF5File: Sendable {
  package let path: String
  package let root: HDF5Group

  /// Throws `.missingFile` if the file cannot be opened, `.malformed` if it is not an HDF5 file or
  /// is corrupt, `.limitExceeded` if it declares more than the limits allow.
  ///
  /// - Parameter path: `-` is standard input, which is read completely.
  package static func open(_ path: String, access: HDF5Access = .isolated) throws -> HDF5File {
    if path == "-" {
      return try open(MappedFile.read(path), name: "standard input", access: access)
    }
    return try inFile(path) { try HDF5File(HDF5Input(path: path), access: access) }
  }

  /// Opens bytes that are not a file by themselves, such as a member of an archive.
  ///
  /// - Parameter name: the name in errors.
  package static func open(
    _ bytes: Bytes, name: String, access: HDF5Access = .isolated
  ) throws -> HDF5File {
    try inFile(name) { try HDF5File(HDF5Input(bytes: bytes, name: name), access: access) }
  }

  private init(_ input: HDF5Input, access: HDF5Access) throws {
    let frames = try access.backend.describe(input)
    var decoder = TreeDecoder(frames: frames, fileSize: input.size)
    let tree = try decoder.decode()
    let contents = HDF5Contents(input: input, access: access, datasets: tree.datasets)
    path = input.path
    root = HDF5Group(node: tree.root, contents: contents)
  }

  /// The group or dataset at a path of names joined by slashes; see `HDF5Group.subscript`.
  package subscript(path: String) -> HDF5Object? { root[path] }
}

/// A named object in a group.
package enum HDF5Object: Sendable {
  case group(HDF5Group)
  case dataset(HDF5Dataset)
}
