/// A name in which `*` matches any number of characters, including none.
package struct NamePattern: Sendable, Hashable {
  private let pattern: [UnicodeScalar]

  package init(_ pattern: String) { self.pattern = Array(pattern.unicodeScalars) }

  /// Whether `name` matches, in time at most proportional to the product of the lengths.
  package func matches(_ name: String) -> Bool {
    let text = Array(name.unicodeScalars)
    var (p, t) = (0, 0)
    var star: (pattern: Int, text: Int)?
    while t < text.count {
      if p < pattern.count, pattern[p] == "*" {
        star = (p, t)
        p += 1
      } else if p < pattern.count, pattern[p] == text[t] {
        p += 1
        t += 1
      } else if let last = star {
        star = (last.pattern, last.text + 1)
        p = last.pattern + 1
        t = last.text + 1
      } else {
        return false
      }
    }
    return pattern[p...].allSatisfy { $0 == "*" }
  }
}
