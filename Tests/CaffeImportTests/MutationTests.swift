import ByteFormats
import Files
import ImportSupport
import TensorCore
import TestSupport
import Testing

@testable import CaffeFormat
@testable import CaffeImport

/// Randomly damaged files produce a result or an error, never a trap, a hang or unbounded memory.
@Suite struct MutationTests {
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
      fixtures.path("single.caffemodel"), CaffeFile(fixtures.path("single.caffemodel")),
      access: .inProcess)
    for name in ["v2.prototxt", "v1.prototxt", "v0.prototxt"] {
      let original = try fixtures.bytes(name)
      var random = SplitMix64(seed: 1)
      for _ in 0..<500 { Self.attempt(original.damaged(&random), weights) }
    }
  }

  @Test func binaries() throws {
    for name in ["whole.caffemodel", "v1.caffemodel", "v0.caffemodel", "half.caffemodel"] {
      let original = try fixtures.bytes(name)
      var random = SplitMix64(seed: 2)
      for _ in 0..<500 {
        let bytes = Bytes(original.damaged(&random))
        do {
          _ = FileFormat(bytes)
          _ = try CaffeImporter.convert(CaffeSource(path: "x", binary: bytes))
        } catch {
          #expect(error is ModelError, "\(error)")
        }
      }
    }
  }

  @Test func everyPrefixOfAText() throws {
    let original = try fixtures.bytes("v2.prototxt")
    for count in 0..<original.count { Self.attempt(Array(original[..<count]), nil) }
  }
}
