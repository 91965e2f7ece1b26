import TensorCore

/// Changes configurations of sections and `key=value` lines: values become others; lines and whole
/// sections are removed, duplicated, swapped, or copied from other configurations.
package struct SectionMutator: Sendable {
  private let lines: [String]

  package init(seeds: [[UInt8]]) {
    lines = Set(seeds.flatMap(Self.lines)).sorted()
  }

  private static func lines(_ bytes: [UInt8]) -> [String] {
    String(decoding: bytes, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  private static let values = [
    "2147483648", "9223372036854775808", "1e308", "nan", "inf", "-0", "", ",", ",,,",
    "1,2,3,4,5,6,7,8,9", "99999",
  ]

  /// Makes one to five changes, usually few.
  package func mutated(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
    var lines = Self.lines(bytes)
    for _ in 0...random.below(1 + random.below(5)) {
      if lines.isEmpty { lines = [""] }
      change(&lines, random.below(lines.count), &random)
    }
    return Array(lines.joined(separator: "\n").utf8)
  }

  private func change(_ lines: inout [String], _ place: Int, _ random: inout SplitMix64) {
    switch random.below(10) {
    case 0: lines.remove(at: place)
    case 1: lines.insert(random.pick(lines), at: place)
    case 2: lines.swapAt(place, random.below(lines.count))
    case 3:
      lines[place] = String(decoding: Array(lines[place].utf8).damaged(&random), as: UTF8.self)
    case 4:
      if !self.lines.isEmpty { lines.insert(random.pick(self.lines), at: place) }
    case 5:
      // Duplicates or removes a whole section.
      let begins = lines.indices.filter { lines[$0].hasPrefix("[") }
      guard begins.count > 1 else { return }
      let index = random.below(begins.count)
      let end = index + 1 < begins.count ? begins[index + 1] : lines.count
      let section = Array(lines[begins[index]..<end])
      if random.flag() {
        lines.removeSubrange(begins[index]..<end)
      } else {
        lines.insert(contentsOf: section, at: random.pick(begins))
      }
    default:
      guard let equals = lines[place].firstIndex(of: "=") else { return }
      lines[place] = lines[place][...equals] + value(&random)
    }
  }

  private func value(_ random: inout SplitMix64) -> String {
    switch random.below(4) {
    case 0: random.pick(Self.values)
    case 1: "\(HostileValues.number(&random))"
    default: "\(HostileValues.integer(&random))"
    }
  }
}
