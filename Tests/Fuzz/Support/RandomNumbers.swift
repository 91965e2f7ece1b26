import TensorCore

extension SplitMix64 {
  package mutating func values(_ count: Int, in range: ClosedRange<Float> = -1...1) -> [Float] {
    (0..<count).map { _ in Float.random(in: range, using: &self) }
  }

  package mutating func tensor(_ shape: [Int], in range: ClosedRange<Float> = -1...1) -> Tensor {
    Tensor(shape: shape, values(shape.reduce(1, *), in: range))
  }

  package mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &self)
  }

  /// At least 0 and less than `bound`; 0 if `bound` is 0.
  package mutating func below(_ bound: Int) -> Int { number(0...max(1, bound) - 1) }

  package mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[below(elements.count)]
  }

  package mutating func flag() -> Bool { Bool.random(using: &self) }
}

/// Random damage to files.
extension [UInt8] {
  /// Makes one to four changes to bits, bytes or pieces, or truncates the end.
  package func damaged(_ random: inout SplitMix64) -> [UInt8] {
    var bytes = self
    for _ in 0...random.below(4) where !bytes.isEmpty {
      let start = random.below(bytes.count)
      let piece = start..<Swift.min(bytes.count, start + 1 + random.below(24))
      switch random.below(8) {
      case 0, 1: bytes[start] ^= 1 << UInt8(random.below(8))
      case 2: bytes[start] = UInt8(random.below(256))
      case 3: bytes[start] = random.pick([0, 0x7F, 0x80, 0xFF] + Array("{}\":9-[".utf8))
      case 4: bytes.removeSubrange(piece)
      case 5: bytes.insert(contentsOf: bytes[piece], at: random.below(bytes.count))
      case 6: bytes.insert(bytes[start], at: start)
      default: bytes.removeSubrange(start...)
      }
    }
    return bytes
  }

  /// Replaces one to four bytes, without moving any.
  package func withBytesReplaced(_ random: inout SplitMix64) -> [UInt8] {
    var bytes = self
    for _ in 0...random.below(4) where !bytes.isEmpty {
      bytes[random.below(bytes.count)] = UInt8(random.below(256))
    }
    return bytes
  }
}

/// `count` damaged copies.
package func damaged(_ bytes: [UInt8], count: Int, seed: UInt64) -> some Sequence<[UInt8]> {
  var random = SplitMix64(seed: seed)
  return (0..<count).lazy.map { _ in bytes.damaged(&random) }
}
