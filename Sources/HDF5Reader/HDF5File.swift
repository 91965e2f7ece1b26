import Files
import TensorCore

/// An HDF5 file, opened for reading: a tree of groups with attributes and datasets.
///
/// The C library never runs in this process unless `HDF5Access.inProcess` says so. Opening reads
/// names, attributes and shapes; the elements of a dataset are read when they are asked for.
/// Only hard links are followed. What a file holds besides (soft and external links, virtual or
/// external storage, foreign filters) is named by the error of whoever asks for it.
package struct HDF5File: Sendable {
  package let path: String
  package let root: HDF5Group

  /// Throws `.missingFile` if the file cannot be opened, `.malformed` where it is no HDF5 file
  /// or a corrupt one, `.limitExceeded` where it declares more than the limits.
  ///
  /// - Parameter path: `-` is standard input, all of which is read.
  package static func open(_ path: String, access: HDF5Access = .isolated) throws -> HDF5File {
    if path == "-" {
      return try open(MappedFile.read(path), name: "standard input", access: access)
    }
    return try inFile(path) { try HDF5File(HDF5Input(path: path), access: access) }
  }

  /// Opens bytes that are no file of their own, such as a member of an archive.
  ///
  /// - Parameter name: what errors call them.
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

/// What stands under a name in a group.
package enum HDF5Object: Sendable {
  case group(HDF5Group)
  case dataset(HDF5Dataset)
}
