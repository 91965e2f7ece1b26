import Files
import Foundation
import TensorCore

@testable import ByteFormats

enum Fixtures {
  static let folder =
    URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path + "/Fixtures/arrays/"

  static func bytes(_ name: String) throws -> [UInt8] {
    try MappedFile.read(folder + name).array(of: UInt8.self)
  }

  struct Expected: Decodable {
    let name: String?
    let shape: [Int]
    let bits: [UInt32]
  }

  /// What NumPy reads from each file; see `make.py`.
  static func expected() throws -> [String: [Expected]] {
    let json = try Data(contentsOf: URL(filePath: folder + "expected.json"))
    return try JSONDecoder().decode([String: [Expected]].self, from: json)
  }
}

/// The error code of `body`; nil where it succeeds or throws something else.
func code(_ body: () throws -> Void) -> ModelError.Code? {
  do { try body() } catch { return (error as? ModelError)?.code }
  return nil
}

/// Steele, Lea and Flood's SplitMix64: the same sequence everywhere.
struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// Copies of `bytes` with one to four of them changed, removed, doubled or set to an extreme.
func mutations(of bytes: [UInt8], count: Int, seed: UInt64) -> some Sequence<[UInt8]> {
  var random = SplitMix64(state: seed)
  return (0..<count).lazy.map { _ in
    var mutated = bytes
    for _ in 0..<Int.random(in: 1...4, using: &random) where !mutated.isEmpty {
      let position = Int.random(in: mutated.indices, using: &random)
      switch Int.random(in: 0..<5, using: &random) {
      case 0: mutated[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 1: mutated[position] = UInt8.random(in: 0...255, using: &random)
      case 2: mutated[position] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random)!
      case 3: mutated.remove(at: position)
      default: mutated.insert(mutated[position], at: position)
      }
    }
    return mutated
  }
}
