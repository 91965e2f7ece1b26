import CoreMLModel
import TensorCore
import Testing

@testable import MILImport

/// Elements of a few bits, and weight files, built by hand from the format's description.
struct ElementTests {
  /// 1, 2, 3, 4 and 5 in three bits each, the lowest first: 0b11_010_001, 0b101_100_0 → 0xD1, 0x58.
  @Test func codesStartWithTheLowestBits() throws {
    #expect(
      MILElements.unpacked(Bytes([0xD1, 0x58] as [UInt8]), bits: 3, count: 5) == [1, 2, 3, 4, 5])
    #expect(try MILElements(Bytes([0x8F] as [UInt8]), [2], .int4).ints() == [-1, -8])
    // 33 = 0b100001 and 62 = 0b111110 in six bits: 0b10_100001, 0b1111.
    #expect(MILElements.unpacked(Bytes([0xA1, 0x0F] as [UInt8]), bits: 6, count: 2) == [33, 62])
  }

  /// A file with one value of four-bit codes, the last byte of which holds one code.
  private func file(
    sentinel: UInt32 = 0xDEAD_BEEF, type: UInt32 = 8, size: UInt64 = 2, offset: UInt64 = 128,
    padding: UInt64 = 4, version: UInt32 = 2
  ) -> Bytes {
    var bytes = [UInt8](repeating: 0, count: 130)
    func put<Value: FixedWidthInteger>(_ value: Value, _ place: Int) {
      withUnsafeBytes(of: value.littleEndian) {
        bytes.replaceSubrange(place..<place + $0.count, with: $0)
      }
    }
    put(UInt32(1), 0)
    put(version, 4)
    put(sentinel, 64)
    put(type, 68)
    put(size, 72)
    put(offset, 80)
    put(padding, 88)
    (bytes[128], bytes[129]) = (0x21, 0x0F)
    return Bytes(bytes)
  }

  @Test func valuesAreFoundByTheirDescription() throws {
    let stored = try MILWeightFile(file()).elements(at: 64, .int4, count: 3)
    #expect(try MILElements(stored, [3], .int4).ints() == [1, 2, -1])
  }

  @Test func everyFieldIsChecked() throws {
    func refused(_ bytes: Bytes, at place: Int = 64, _ type: MILDataType = .int4, count: Int = 3) {
      #expect(throws: ModelError.self) {
        try MILWeightFile(bytes).elements(at: place, type, count: count)
      }
    }
    refused(file(sentinel: 1))
    refused(file(type: 3))
    refused(file(size: 3))
    refused(file(offset: 64 << 32))
    refused(file(offset: 130))
    refused(file(offset: 0))
    refused(file(size: .max))
    refused(file(padding: 0))
    refused(file(version: 1))
    refused(file(), at: 0)
    refused(file(), at: 65)
    refused(file(), at: .max)
    refused(file(), at: -64)
    refused(file(), .uint4)
    refused(file(), count: 5)
    refused(Bytes([0] as [UInt8]))
  }
}
