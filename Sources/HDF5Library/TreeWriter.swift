import CHDF5
import HDF5Reader
import TensorCore

/// Walks a file along its hard links and describes it in frames.
struct TreeWriter: ~Copyable {
  private var frames: FrameWriter
  private let fileSize: Int
  private var visited: Set<Place> = []
  private var objects = 0
  private var expansion: HDF5Expansion
  private let map = StorageMap()
  /// Names of the open groups; the root's is empty.
  private var names: [String] = []

  private struct Place: Hashable {
    var first: UInt64
    var second: UInt64
  }

  private struct Link {
    var name: String
    var type: Int32
    var isUTF8: Bool
  }

  /// Writes the file's description, or the reason for the failure, as frames.
  ///
  /// - Parameter gap: the protections missing from the sandbox.
  static func describe(
    descriptor: Int32, size: Int, gap: String? = nil, to sink: @escaping ([UInt8]) throws -> Void
  ) throws {
    var writer = TreeWriter(frames: FrameWriter(sink: sink), fileSize: size)
    do {
      if let gap { try writer.frames.frame(.unconfined) { $0.text(gap) } }
      let file = try OpenHDF5File(descriptor: descriptor, map: writer.map)
      let root = try file.root()
      _ = try writer.visit(root)
      try writer.write(root, named: "", Listing(root))
      try writer.map.checkOverlaps()
      try writer.frames.finish()
    } catch let error as ModelError {
      try writer.frames.failure(error)
    }
  }

  private init(frames: consuming FrameWriter, fileSize: Int) {
    self.frames = frames
    self.fileSize = fileSize
    expansion = HDF5Expansion(fileSize: fileSize)
  }

  /// The object's kind, and whether it has been seen before.
  private mutating func visit(_ object: borrowing Handle) throws -> (kind: Int32, isNew: Bool) {
    var place: [UInt64] = [0, 0]
    let kind = assay_object(object.id, &place)
    guard kind >= 0 else { throw LibraryError.current("it cannot be read") }
    return (kind, visited.insert(Place(first: place[0], second: place[1])).inserted)
  }

  /// The contents of a group, listed before its first frame is written.
  private struct Listing {
    var attributes: [String]
    var links: [Link]

    init(_ group: borrowing Handle) throws {
      attributes = try Attributes.names(of: group)
      links = try TreeWriter.links(of: group)
    }
  }

  private mutating func write(
    _ group: borrowing Handle, named name: String, _ listing: Listing
  ) throws {
    names.append(name)
    defer { names.removeLast() }
    try frames.frame(.beginGroup) { $0.text(name) }
    for attribute in listing.attributes { try Attributes.write(attribute, of: group, to: &frames) }
    for link in listing.links {
      objects += 1
      guard objects <= HDF5Limits.objects else {
        throw ModelError(.limitExceeded, "more objects than the limit of \(HDF5Limits.objects)")
      }
      try write(link, in: group)
    }
    try frames.frame(.endGroup)
  }

  private mutating func write(_ link: Link, in group: borrowing Handle) throws {
    var object: Handle?
    var listing: Listing?
    var dataset: DatasetDescription?
    do {
      if let reason = refusal(of: link) { throw reason }
      let opened = try Handle(H5Oopen(group.id, link.name, 0), H5Oclose, "it cannot be opened")
      let (kind, isNew) = try visit(opened)
      if kind == 0 {
        try checkGroup(isNew: isNew)
        listing = try Listing(opened)
      } else if kind == 1 {
        map.begin(isNew ? (names + [link.name]).joined(separator: "/") : nil)
        let description = try DatasetDescription(opened, fileSize: fileSize, map: map)
        if description.fileOffset == nil { try expansion.add(description.byteCount) }
        dataset = description
      }
      object = consume opened
    } catch let error as ModelError {
      return try frames.frame(.refused) { frame in
        frame.text(link.name)
        frame.reason(error)
      }
    }
    if let listing, let object { try write(object, named: link.name, listing) }
    if let dataset {
      try frames.frame(.dataset) { frame in
        frame.text(link.name)
        frame.byte(dataset.type.kind.rawValue)
        frame.integer(UInt32(dataset.type.byteCount))
        frame.byte(dataset.type.isBigEndian ? 1 : 0)
        frame.shape(dataset.shape)
        frame.integer(dataset.fileOffset.map { UInt64($0) } ?? FrameFormat.noOffset)
      }
    }
  }

  private func checkGroup(isNew: Bool) throws {
    try require(isNew, .unsupported, "this group is linked twice; the second link is not followed")
    try require(
      names.count < HDF5Limits.depth, .limitExceeded,
      "groups are nested deeper than the limit of \(HDF5Limits.depth)")
  }

  private func refusal(of link: Link) -> ModelError? {
    if !link.isUTF8 { return ModelError(.unsupported, "its name is not UTF-8") }
    switch link.type {
    case 0: return nil
    case 1: return ModelError(.unsupported, "a soft link is not followed")
    case 64: return ModelError(.unsupported, "an external link, to another file, is not followed")
    default: return ModelError(.unsupported, "a user-defined link is not followed")
    }
  }

  private static func links(of group: borrowing Handle) throws -> [Link] {
    var links: [Link] = []
    let status = withUnsafeMutablePointer(to: &links) { target in
      assay_visit_links(
        group.id,
        { name, type, context in
          guard let name, let context else { return -1 }
          let links = context.assumingMemoryBound(to: [Link].self)
          links.pointee.append(
            Link(
              name: String(cString: name), type: type,
              isUTF8: String(validatingCString: name) != nil))
          return links.pointee.count > HDF5Limits.objects ? 1 : 0
        }, target)
    }
    try LibraryError.check(status, "a group cannot be listed")
    for link in links
    where link.name.isEmpty || link.name.utf8.count > Limits.nameBytes
      || link.name == "." || link.name.utf8.contains(UInt8(ascii: "/"))
    {
      throw ModelError(
        .malformed, "a group contains an invalid name of \(link.name.utf8.count) bytes")
    }
    return links
  }
}
