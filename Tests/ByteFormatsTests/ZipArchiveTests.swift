import Foundation
import TensorCore
import TestSupport
import Testing

@testable import ByteFormats

@Suite struct ZipArchiveTests {
  private func archive(_ members: [(String, [UInt8])], deflated: Bool = false) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var writer = ZipWriter { bytes += $0 }
    for (name, contents) in members {
      try contents.withUnsafeBytes { try writer.add(name, [$0], deflated: deflated) }
    }
    try writer.finish()
    return bytes
  }

  private func read(_ bytes: [UInt8]) throws -> [(String, [UInt8])] {
    let archive = try ZipArchive(Bytes(bytes))
    return try archive.members.map {
      ($0.name, try archive.contents($0).array(of: UInt8.self))
    }
  }

  @Test func writesWhatPythonWrites() throws {
    let file = try fixtures.bytes("plain.npz")
    var written: [UInt8] = []
    try ArraySet.parse(Bytes(file)).write(.npz) { written += $0 }
    #expect(written == file)
  }

  @Test func readsBackWhatItWrites() throws {
    var random = SplitMix64(seed: 3)
    let noise = (0..<100_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    let members = [
      ("a", []), ("ü/b.txt", [1, 2, 3]), ("zeros", [UInt8](repeating: 0, count: 70_000)),
      ("noise", noise),
    ]
    for deflated in [false, true] {
      let bytes = try archive(members, deflated: deflated)
      let back = try read(bytes)
      #expect(back.map(\.0) == members.map(\.0))
      #expect(back.map(\.1) == members.map(\.1))
      #expect(bytes == (try archive(members, deflated: deflated)))
      #expect(try ZipArchive(Bytes(bytes))["noise"]?.byteCount == 100_000)
      #expect(try ZipArchive(Bytes(bytes))["none"] == nil)
    }
    #expect(try read(archive([])).isEmpty)
  }

  @Test func refusesDangerousNames() throws {
    for name in ["/etc/passwd", "../up", "a/../../b", "..", "a\\b", "a\0b", ""] {
      #expect(errorCode { try read(archive([(name, [1])])) } == .malformed, "\(name)")
    }
    #expect(errorCode { try read(archive([("a", [1]), ("a", [2])])) } == .malformed)
    #expect(errorCode { try read(archive([("a..b/c..", [1])])) } == nil)
  }

  /// Offsets in a directory entry, from PKWARE APPNOTE 4.3.12.
  private func patched(
    _ bytes: [UInt8], entry: Int = 0, _ offset: Int, _ values: [UInt8]
  ) -> [UInt8] {
    let starts = bytes.indices.filter { bytes[$0...].starts(with: [0x50, 0x4B, 1, 2]) }
    var patched = bytes
    patched.replaceSubrange(
      starts[entry] + offset..<starts[entry] + offset + values.count, with: values)
    return patched
  }

  @Test func refusesWhatItCannotVouchFor() throws {
    let good = try archive([("a", [1, 2, 3, 4]), ("b", [5, 6])])
    let cases: [([UInt8], ModelError.Code)] = [
      (patched(good, 8, [1, 0]), .unsupported),  // encrypted
      (patched(good, 10, [99, 0]), .unsupported),  // method
      (patched(good, 10, [8, 0]), .malformed),  // method unlike the header's
      (patched(good, 16, [0, 0, 0, 0]), .malformed),  // checksum
      (patched(good, 24, [3, 0, 0, 0]), .malformed),  // two sizes
      (patched(good, 20, [9, 0, 0, 0, 9, 0, 0, 0]), .malformed),  // reaches into the next member
      (patched(good, 34, [1, 0]), .unsupported),  // another disk
      (patched(good, entry: 1, 42, [0, 0, 0, 0]), .malformed),  // overlap
      (patched(good, entry: 1, 42, [0xFF, 0xFF, 0xFF, 0x7F]), .malformed),  // outside
      (patched(good, 46, [0x63]), .malformed),  // another name than the header's
      (good + [0], .malformed),
      ([0] + good, .malformed),
      (Array(good.dropLast()), .malformed),
    ]
    for (index, (bytes, expected)) in cases.enumerated() {
      #expect(errorCode { try read(bytes) } == expected, "case \(index)")
    }
  }

  @Test func refusesBombs() throws {
    // 200 MB of zeros in 200 kB.
    let bomb = try archive([("zeros", [UInt8](repeating: 0, count: 200 << 20))], deflated: true)
    #expect(errorCode { try ZipArchive(Bytes(bomb)) } == .limitExceeded)
    // The same with a smaller declared size: decompression stops there.
    let size: [UInt8] = [0, 0, 16, 0]
    let liar = try ZipArchive(Bytes(patched(bomb, 24, size)))
    #expect(errorCode { try liar.contents(liar.members[0]) } == .malformed)
    let many = try archive((0...Limits.zipMembers).map { ("\($0)", []) })
    #expect(errorCode { try ZipArchive(Bytes(many)) } == .limitExceeded)
    let most = try archive((0..<Limits.zipMembers).map { ("\($0)", []) })
    #expect(try ZipArchive(Bytes(most)).members.count == Limits.zipMembers)
  }

  @Test func survivesEveryTruncation() throws {
    for name in ["numpy_compressed.npz", "wide.npz", "descriptors.npz"] {
      let bytes = try fixtures.bytes(name)
      for length in bytes.indices {
        #expect(
          errorCode { try ArraySet.parse(Bytes(Array(bytes[..<length]))) } == .malformed,
          "\(name), \(length) bytes")
      }
    }
  }

  @Test func survivesMutations() throws {
    for name in ["numpy_compressed.npz", "wide.npz", "descriptors.npz", "plain.npz"] {
      for bytes in damaged(try fixtures.bytes(name), count: 2000, seed: 2) {
        do { _ = try ArraySet.parse(Bytes(bytes)) } catch is ModelError {}
      }
    }
  }

  @Test func namesTheMember() throws {
    let bytes = try archive([("good.npy", try fixtures.bytes("f4.npy")), ("bad.npy", [1])])
    do {
      _ = try ArraySet.parse(Bytes(bytes))
      Issue.record("was read")
    } catch let error as ModelError {
      #expect(error.field == "bad.npy")
    }
    #expect(errorCode { try ArraySet.parse(Bytes(archive([("x.txt", [1])]))) } == .unsupported)
  }
}
