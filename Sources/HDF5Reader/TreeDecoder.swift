import TensorCore

/// Builds the tree of a file from the frames that describe it, and checks each frame.
struct TreeDecoder {
  private let frames: [UInt8]
  private let fileSize: Int
  private var stack: [OpenGroup] = []
  private var datasets: [DatasetNode] = []
  private var objects = 0
  private var expansion: HDF5Expansion

  init(frames: [UInt8], fileSize: Int) {
    self.frames = frames
    self.fileSize = fileSize
    expansion = HDF5Expansion(fileSize: fileSize)
  }

  mutating func decode() throws -> (root: GroupNode, datasets: [DatasetNode]) {
    var reader = try FrameReader(frames)
    var root: GroupNode?
    while true {
      let kind = try reader.next()
      switch kind {
      case .beginGroup:
        guard root == nil else { throw FrameReader.garbled("two roots") }
        try begin(&reader)
      case .endGroup:
        guard let open = stack.popLast() else { throw FrameReader.garbled("no group to end") }
        let node = GroupNode(open)
        if stack.isEmpty { root = node } else { stack[stack.count - 1].groups.append(node) }
      case .attribute: try attribute(&reader)
      case .dataset: try dataset(&reader)
      case .refused:
        let name = try childName(&reader)
        var error = try reader.reason()
        error.message = "\(stack[stack.count - 1].path(of: name)): \(error.message)"
        stack[stack.count - 1].refused[name] = error
      case .finish:
        guard let root else { throw FrameReader.garbled("no root") }
        try reader.expectEnd()
        return (root, datasets)
      case .failure: throw try reader.reason()
      case .unconfined: HDF5Sandbox.report(try reader.text(limit: HDF5Limits.messageBytes))
      case .numbers, .unreadable:
        throw FrameReader.garbled("an answer without a request")
      }
    }
  }

  private mutating func begin(_ reader: inout FrameReader) throws {
    if stack.isEmpty {
      guard try reader.text(limit: 0).isEmpty else { throw FrameReader.garbled("a named root") }
      stack.append(OpenGroup(name: "", path: "/"))
      return
    }
    try require(
      stack.count < HDF5Limits.depth, .limitExceeded,
      "groups are nested deeper than the limit of \(HDF5Limits.depth)")
    let name = try childName(&reader)
    stack.append(OpenGroup(name: name, path: stack[stack.count - 1].path(of: name)))
  }

  /// The name of an object; it must be new in the open group.
  private mutating func childName(_ reader: inout FrameReader) throws -> String {
    guard !stack.isEmpty else { throw FrameReader.garbled("an object outside the root") }
    objects += 1
    guard objects <= HDF5Limits.objects else {
      throw ModelError(.limitExceeded, "more objects than the limit of \(HDF5Limits.objects)")
    }
    let name = try reader.name()
    guard stack[stack.count - 1].names.insert(name).inserted else {
      throw FrameReader.garbled("the name '\(name)' twice")
    }
    return name
  }

  private mutating func dataset(_ reader: inout FrameReader) throws {
    let name = try childName(&reader)
    guard let kind = HDF5ElementType.Kind(rawValue: try reader.byte()) else {
      throw FrameReader.garbled("unknown element type")
    }
    let byteCount = Int(try reader.integer(UInt32.self))
    let isBigEndian = try reader.byte() != 0
    let type = HDF5ElementType(kind: kind, byteCount: byteCount, isBigEndian: isBigEndian)
    guard kind == .string || (1...16).contains(byteCount) else {
      throw FrameReader.garbled("numbers of \(byteCount) bytes")
    }
    let (shape, count) = try reader.shape(elementLimit: Limits.tensorElements)
    let declaredOffset = try reader.integer(UInt64.self)
    var offset: Int?
    if declaredOffset != FrameFormat.noOffset {
      let length = try checkedProduct([count, 4])
      guard kind == .float, byteCount == 4, !isBigEndian, length <= fileSize,
        declaredOffset <= UInt64(fileSize - length)
      else { throw FrameReader.garbled("elements outside the file") }
      offset = Int(declaredOffset)
    } else {
      try expansion.add(try checkedProduct([count, min(byteCount, 16)]))
    }
    let group = stack.count - 1
    stack[group].datasets.append(datasets.count)
    datasets.append(
      DatasetNode(
        name: name, path: stack[group].path(of: name), type: type, shape: shape, count: count,
        fileOffset: offset))
  }

  private mutating func attribute(_ reader: inout FrameReader) throws {
    guard !stack.isEmpty else { throw FrameReader.garbled("an attribute outside the root") }
    let group = stack.count - 1
    let name = try reader.text(limit: Limits.nameBytes)
    let (shape, count) = try reader.shape(elementLimit: HDF5Limits.attributeBytes)
    guard stack[group].attributes.count < HDF5Limits.attributesPerObject,
      stack[group].attributes[name] == nil
    else { throw FrameReader.garbled("the attribute '\(name)' twice, or too many") }
    let elements: HDF5Attribute.Elements
    switch FrameFormat.ElementKind(rawValue: try reader.byte()) {
    case .strings:
      elements = .strings(try reader.texts(count))
    case .unsupported:
      elements = .unsupported(try reader.text(limit: HDF5Limits.messageBytes))
    case nil:
      throw FrameReader.garbled("unknown attribute type")
    }
    stack[group].attributes[name] = HDF5Attribute(shape: shape, elements: elements)
  }
}

extension FrameReader {
  mutating func texts(_ count: Int) throws -> [String] {
    try expect(count, itemsOf: 4)
    var texts: [String] = []
    texts.reserveCapacity(count)
    for _ in 0..<count { texts.append(try text(limit: HDF5Limits.attributeBytes)) }
    return texts
  }
}
