/// An equation of `einsum`, such as `abc,cde->abde`: a letter for each axis of the operands and of
/// the result.
struct Einsum: Sendable {
  let text: String
  let terms: [[Character]]
  let target: [Character]

  /// Nil if the text is not an equation, or if it has no result.
  init?(_ text: String) {
    self.text = text.filter { $0 != " " }
    let sides = self.text.split(separator: ">", omittingEmptySubsequences: false)
    guard sides.count == 2, sides[0].hasSuffix("-"), self.text.utf8.count < 64 else { return nil }
    terms = sides[0].dropLast().split(separator: ",", omittingEmptySubsequences: false).map {
      Array($0)
    }
    target = Array(sides[1])
  }

  /// The roles of two operands' axes in their product.
  struct Roles {
    /// Axes that both operands and the result have.
    let shared: [Character]
    let rows: [Character]
    let columns: [Character]
    let summed: [Character]

    init(_ a: [Character], _ b: [Character], to target: [Character]) {
      shared = a.filter { b.contains($0) && target.contains($0) }
      rows = a.filter { !b.contains($0) && target.contains($0) }
      columns = b.filter { !a.contains($0) && target.contains($0) }
      summed = a.filter { !target.contains($0) }
    }
  }

  /// Replaces the ellipsis with letters that no equation uses, so that the term has `rank` axes.
  static func expanding(_ term: [Character], _ others: [Character], rank: Int) -> (
    term: [Character], other: [Character]
  ) {
    let rest = "ⅠⅡⅢⅣⅤⅥⅦⅧ".prefix(max(rank - term.count(where: \.isLetter), 0))
    func expanded(_ term: [Character]) -> [Character] {
      var term = term
      if let first = term.firstIndex(of: ".") { term.insert(contentsOf: rest, at: first) }
      return term.filter { $0 != "." }
    }
    return (expanded(term), expanded(others))
  }
}
