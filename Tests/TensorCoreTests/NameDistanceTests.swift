import Testing

@testable import TensorCore

@Suite struct NameDistanceTests {
  /// The textbook example: k → s, e → i, and a g at the end.
  @Test(arguments: [
    ("kitten", "sitting", 3), ("", "abc", 3), ("abc", "", 3), ("same", "same", 0), ("ab", "ba", 2),
  ])
  func lettersToChange(_ a: String, _ b: String, _ count: Int) {
    #expect(NameDistance.edits(Array(a.utf8), Array(b.utf8)) == count)
  }

  @Test func theNearestFew() {
    let names = ["Swish", "HardSwish", "Mish", "GELU", "Softmax", "Swoosh", "SwishBeta"]
    #expect(NameDistance.nearest(to: "swihs", among: names) == ["Swish"])
    #expect(NameDistance.nearest(to: "Swisk", among: names) == ["Swish"])
    #expect(NameDistance.nearest(to: "swish", among: names) == ["HardSwish", "Swish", "SwishBeta"])
    #expect(NameDistance.nearest(to: "Gelu", among: names) == ["GELU"])
    #expect(NameDistance.nearest(to: "Unheard", among: names).isEmpty)
    #expect(NameDistance.nearest(to: "", among: names).isEmpty)
    let long = String(repeating: "Swish", count: 1000)
    #expect(NameDistance.nearest(to: long, among: names).isEmpty)
  }
}
