import Files
import ImportSupport
import TensorCore
import Testing

@testable import CaffeImport

/// Files with random damage: an answer or an error, never a trap, a hang or memory without end.
@Suite struct MutationTests {
  private static func bytes(_ name: String) throws -> [UInt8] {
    try MappedFile.read(Fixture.path(name)).array(of: UInt8.self)
  }

  /// One to four changes: a bit, a byte, a piece left out, doubled or moved, the end cut off.
  private static func mutated(_ original: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
    var bytes = original
    func place() -> Int { Int(random.next() % UInt64(max(1, bytes.count))) }
    for _ in 0...random.next() % 4 where !bytes.isEmpty {
      let index = place()
      let end = min(bytes.count, index + 1 + Int(random.next() % 24))
      switch random.next() % 6 {
      case 0: bytes[index] ^= 1 << UInt8(random.next() % 8)
      case 1: bytes[index] = UInt8(truncatingIfNeeded: random.next())
      case 2: bytes.removeSubrange(index..<end)
      case 3: bytes.insert(contentsOf: bytes[index..<end], at: place())
      case 4: bytes[index] = [0x7B, 0x7D, 0x22, 0x3A, 0x39, 0xFF, 0x2D, 0x5B][place() % 8]
      default: bytes.removeSubrange(index...)
      }
    }
    return bytes
  }

  private static func attempt(_ network: [UInt8], _ weights: CaffeWeights?) {
    do {
      let source = try CaffeSource(path: "x", text: Bytes(network), weights: weights)
      _ = try CaffeImporter.convert(source)
    } catch {
      #expect(error is ModelError, "\(error)")
      #expect((error as? ModelError)?.code != .internal, "\(error)")
    }
  }

  @Test func texts() throws {
    let weights = try CaffeWeights(
      Fixture.path("single.caffemodel"), CaffeFile(Fixture.path("single.caffemodel")),
      access: .inProcess)
    for name in ["v2.prototxt", "v1.prototxt", "v0.prototxt"] {
      let original = try Self.bytes(name)
      var random = SplitMix64(seed: 1)
      for _ in 0..<3000 { Self.attempt(Self.mutated(original, &random), weights) }
    }
  }

  @Test func binaries() throws {
    for name in ["whole.caffemodel", "v1.caffemodel", "v0.caffemodel", "half.caffemodel"] {
      let original = try Self.bytes(name)
      var random = SplitMix64(seed: 2)
      for _ in 0..<3000 {
        let bytes = Bytes(Self.mutated(original, &random))
        do {
          _ = CaffeFile.recognizes(bytes)
          _ = try CaffeImporter.convert(CaffeSource(path: "x", binary: bytes))
        } catch {
          #expect(error is ModelError, "\(error)")
        }
      }
    }
  }

  @Test func everyPrefixOfAText() throws {
    let original = try Self.bytes("v2.prototxt")
    for count in 0..<original.count { Self.attempt(Array(original[..<count]), nil) }
  }
}
