/// Finds similar names.
package enum NameDistance {
  /// Longer names are never similar.
  private static let longest = 64
  /// Shorter names occur inside others by accident.
  private static let shortestPart = 4

  /// At most three names that `name` may be a misspelling of: either contains the other, or they
  /// differ by at most two edits or a third of the letters. Ignores case.
  package static func nearest(to name: String, among names: [String]) -> [String] {
    let own = Array(name.lowercased().utf8)
    guard (1...longest).contains(own.count) else { return [] }
    let found = names.compactMap { candidate -> (name: String, distance: Int)? in
      let other = Array(candidate.lowercased().utf8)
      if other.count >= shortestPart, contains(own, other) || contains(other, own) {
        return (candidate, 0)
      }
      let distance = edits(own, other)
      return distance <= max(2, max(own.count, other.count) / 3) ? (candidate, distance) : nil
    }
    return found.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(3).map(\.name)
  }

  private static func contains(_ whole: [UInt8], _ part: [UInt8]) -> Bool {
    guard part.count >= shortestPart, whole.count >= part.count else { return false }
    return (0...whole.count - part.count).contains { whole[$0...].starts(with: part) }
  }

  /// The Levenshtein distance: the fewest letters to insert, remove or replace.
  package static func edits(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var row = Array(0...b.count)
    for (i, letter) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, other) in b.enumerated() {
        let replaced = diagonal + (letter == other ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(replaced, diagonal + 1, row[j] + 1)
      }
    }
    return row[b.count]
  }
}
