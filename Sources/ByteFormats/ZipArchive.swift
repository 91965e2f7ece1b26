import TensorCore

/// The directory of a zip archive, checked as a whole before any member is read.
///
/// Members may be stored or deflated, with ZIP64 sizes. Rejected: encryption, multiple disks,
/// duplicate names, names that are absolute or lead out of the archive, overlapping members, gaps
/// between the directory and its end record, and members that expand beyond the limits.
///
/// Source: PKWARE APPNOTE 6.3, sections 4.3 and 4.5.
package struct ZipArchive: Sendable {
  package struct Member: Sendable, Equatable {
    package let name: String
    /// Size of the contents.
    package let byteCount: Int
    let storedByteCount: Int
    let isDeflated: Bool
    let crc: UInt32
    let headerOffset: Int
    /// Start of the stored bytes; known once the local header has been read.
    var dataOffset = 0
  }

  package let members: [Member]
  private let bytes: Bytes
  private let indices: [String: Int]

  package init(_ bytes: Bytes) throws {
    self.bytes = bytes
    let end = try ZipEndRecord(bytes)
    guard end.memberCount <= Limits.zipMembers else {
      throw ModelError(
        .limitExceeded,
        "the archive declares \(end.memberCount) members, the limit is \(Limits.zipMembers)")
    }
    var reader = BoundedReader(bytes: bytes, position: end.directoryOffset)
    var members: [Member] = []
    var indices: [String: Int] = [:]
    var total = 0
    for index in 0..<end.memberCount {
      let member = try Self.member(&reader)
      guard indices.updateValue(index, forKey: member.name) == nil else {
        throw ModelError(.malformed, "the archive has two members named '\(member.name)'")
      }
      total = try checkedSum([total, member.byteCount], limit: Limits.fileBytes)
      members.append(member)
    }
    try require(
      total <= Limits.uncheckedExpansionBytes || total / Limits.totalExpansionRatio <= bytes.count,
      .limitExceeded,
      "the archive of \(bytes.count) bytes expands to \(total) bytes, more than "
        + "\(Limits.totalExpansionRatio) times as many")
    try require(
      reader.position == end.directoryEnd, "the archive's directory is longer than its members")
    self.members = try Self.located(members, in: bytes, before: end.directoryOffset)
    self.indices = indices
  }

  package subscript(name: String) -> Member? { indices[name].map { members[$0] } }

  /// The contents of `member`, with a verified checksum. Stored contents are shared, not copied.
  package func contents(_ member: Member) throws -> Bytes {
    let stored = bytes[member.dataOffset..<member.dataOffset + member.storedByteCount]
    guard
      let contents = member.isDeflated
        ? try Deflate.expand(stored, byteCount: member.byteCount) : stored
    else {
      throw ModelError(
        .malformed,
        "the archive's member '\(member.name)' cannot be decompressed to \(member.byteCount) bytes",
        hint: "the file is damaged")
    }
    try require(
      Deflate.crc32(contents) == member.crc,
      "the checksum of the archive's member '\(member.name)' is wrong")
    return contents
  }

  static let localSignature: UInt32 = 0x0403_4B50
  static let directorySignature: UInt32 = 0x0201_4B50
  static let endSignature: UInt32 = 0x0605_4B50

  private static func member(_ reader: inout BoundedReader) throws -> Member {
    try require(
      reader.read(UInt32.self) == directorySignature,
      "no directory entry at offset \(reader.position - 4) of the archive")
    try reader.skip(4)  // versions
    let flags = try reader.read(UInt16.self)
    let method = try reader.read(UInt16.self)
    try reader.skip(4)  // time and date
    let crc = try reader.read(UInt32.self)
    var storedByteCount = Int(try reader.read(UInt32.self))
    var byteCount = Int(try reader.read(UInt32.self))
    let nameLength = Int(try reader.read(UInt16.self))
    let extraLength = Int(try reader.read(UInt16.self))
    let commentLength = Int(try reader.read(UInt16.self))
    let disk = try reader.read(UInt16.self)
    try reader.skip(6)  // attributes
    var headerOffset = Int(try reader.read(UInt32.self))
    let name = try checkedName(try reader.take(nameLength).array(of: UInt8.self))
    let extra = try reader.take(extraLength)
    try reader.skip(commentLength)

    if let wide = try wideFields(extra) {
      var fields = BoundedReader(bytes: wide)
      if byteCount == 0xFFFF_FFFF { byteCount = try fields.readSize() }
      if storedByteCount == 0xFFFF_FFFF { storedByteCount = try fields.readSize() }
      if headerOffset == 0xFFFF_FFFF { headerOffset = try fields.readSize() }
    }
    try require(flags & 0x2041 == 0, .unsupported, "the archive's member '\(name)' is encrypted")
    guard disk == 0 else { throw ModelError(.unsupported, "multi-disk archives are not supported") }
    try require(
      method == 0 || method == 8, .unsupported,
      "the archive's member '\(name)' uses compression method \(method)",
      hint: "only stored and deflated members are supported")
    guard method == 8 || storedByteCount == byteCount else {
      throw ModelError(.malformed, "the archive's member '\(name)' has two different sizes")
    }
    return Member(
      name: name, byteCount: byteCount, storedByteCount: storedByteCount,
      isDeflated: method == 8, crc: crc, headerOffset: headerOffset)
  }

  /// The contents of the extra field 1, which holds the sizes that need 64 bits.
  private static func wideFields(_ extra: Bytes) throws -> Bytes? {
    var reader = BoundedReader(bytes: extra)
    while reader.remaining >= 4 {
      let tag = try reader.read(UInt16.self)
      let field = try reader.take(Int(try reader.read(UInt16.self)))
      if tag == 1 { return field }
    }
    return nil
  }

  private static func checkedName(_ bytes: [UInt8]) throws -> String {
    guard let name = String(validating: bytes, as: UTF8.self), !name.isEmpty,
      name.utf8.count <= Limits.nameBytes
    else { throw ModelError(.malformed, "the archive has a member with an unreadable name") }
    let isSafe =
      !name.hasPrefix("/") && !name.contains("\\") && !name.contains("\0")
      && !name.split(separator: "/").contains("..")
    try require(isSafe, "the archive's member '\(name)' points outside the archive")
    return name
  }

  /// The members with their data offsets, in directory order; none overlaps another one or the
  /// directory.
  private static func located(
    _ members: [Member], in bytes: Bytes, before directoryOffset: Int
  ) throws -> [Member] {
    var located = members
    var end = 0
    for index in members.indices.sorted(by: { members[$0].headerOffset < members[$1].headerOffset })
    {
      let member = members[index]
      try require(
        member.headerOffset >= end, "the archive's member '\(member.name)' overlaps another one")
      var reader = BoundedReader(bytes: bytes, position: member.headerOffset)
      guard try reader.read(UInt32.self) == localSignature else {
        throw ModelError(.malformed, "the archive's member '\(member.name)' has no header")
      }
      try reader.skip(4)  // version and flags
      let method = try reader.read(UInt16.self)
      try reader.skip(16)  // time, date, checksum and sizes, which may follow the contents instead
      let nameLength = Int(try reader.read(UInt16.self))
      let extraLength = Int(try reader.read(UInt16.self))
      let name = try reader.take(nameLength).array(of: UInt8.self)
      try require(
        name.elementsEqual(member.name.utf8) && method == (member.isDeflated ? 8 : 0),
        "the archive's member '\(member.name)' and its header disagree")
      try reader.skip(extraLength)
      located[index].dataOffset = reader.position
      try reader.skip(member.storedByteCount)
      end = reader.position
    }
    try require(end <= directoryOffset, "the archive's members overlap its directory")
    return located
  }
}

/// The record at the end of an archive, which contains the position of its directory.
private struct ZipEndRecord {
  let memberCount: Int
  let directoryOffset: Int
  let directoryEnd: Int

  init(_ bytes: Bytes) throws {
    guard let offset = Self.find(bytes) else {
      throw ModelError(
        .malformed, "the archive has no end record",
        hint: "the file is truncated or not a ZIP archive")
    }
    var reader = BoundedReader(bytes: bytes, position: offset + 4)
    let disks = [try reader.read(UInt16.self), try reader.read(UInt16.self)]
    let counts = [try reader.read(UInt16.self), try reader.read(UInt16.self)]
    let byteCount = try reader.read(UInt32.self)
    let start = try reader.read(UInt32.self)
    var record = (
      disks: disks.map(UInt32.init), counts: counts.map(Int.init), byteCount: Int(byteCount),
      start: Int(start)
    )
    var end = offset
    if let wide = try Self.wide(bytes, before: offset) {
      end = wide
      var reader = BoundedReader(bytes: bytes, position: wide + 16)
      record.disks = [try reader.read(UInt32.self), try reader.read(UInt32.self)]
      record.counts = [try reader.readSize(), try reader.readSize()]
      record.byteCount = try reader.readSize()
      record.start = try reader.readSize()
    }
    guard record.disks == [0, 0], record.counts[0] == record.counts[1] else {
      throw ModelError(.unsupported, "multi-disk archives are not supported")
    }
    memberCount = record.counts[0]
    directoryOffset = record.start
    directoryEnd = try checkedSum([record.start, record.byteCount])
    try require(directoryEnd == end, "the archive's directory does not end at its end record")
  }

  /// The offset of the record whose comment ends with the file.
  private static func find(_ bytes: Bytes) -> Int? {
    let recordByteCount = 22
    guard bytes.count >= recordByteCount else { return nil }
    let first = max(0, bytes.count - recordByteCount - 0xFFFF)
    return bytes.withUnsafeBytes { bytes in
      (first...bytes.count - recordByteCount).reversed().first { offset in
        UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
          == ZipArchive.endSignature
          && Int(
            UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 20, as: UInt16.self)))
            == bytes.count - offset - recordByteCount
      }
    }
  }

  /// The ZIP64 end record, which a locator directly before the ordinary one points to.
  private static func wide(_ bytes: Bytes, before offset: Int) throws -> Int? {
    guard offset >= 20 else { return nil }
    var locator = BoundedReader(bytes: bytes, position: offset - 20)
    guard try locator.read(UInt32.self) == 0x0706_4B50 else { return nil }
    try locator.skip(4)
    let start = try locator.readSize()
    var record = BoundedReader(bytes: bytes, position: start)
    guard try record.read(UInt32.self) == 0x0606_4B50,
      try checkedSum([start, 12, try record.readSize()]) == offset - 20
    else { throw ModelError(.malformed, "the archive's ZIP64 end record is damaged") }
    return start
  }
}
