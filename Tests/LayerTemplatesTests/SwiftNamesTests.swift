import Testing

@testable import LayerTemplates

@Suite struct SwiftNamesTests {
  @Test func identifiers() {
    var names = SwiftNames(taken: ["Float"])
    #expect(names.unique("Swish", else: "x") == "Swish")
    #expect(names.unique("Swish", else: "x") == "Swish_2")
    #expect(names.unique("my layer", else: "x") == "my_layer")
    #expect(names.unique("class", else: "x") == "class_2")
    #expect(names.unique("Float", else: "x") == "Float_2")
    #expect(names.unique("9lives", else: "Layer") == "Layer_9lives")
    #expect(names.unique("", else: "Layer") == "Layer")
    #expect(names.unique("é", else: "Layer") == "Layer_2")
    #expect(names.unique("}\nevil()", else: "x") == "__evil__")
  }

  @Test func literalsAndCommentsStayWhatTheyAre() {
    #expect(SwiftNames.literal("a\"\\(b)\n") == #""a\u{22}\u{5c}(b)\u{a}""#)
    #expect(SwiftNames.comment("a\nb\u{2028}ü") == #"a\u{a}b\u{2028}\u{fc}"#)
  }

  @Test func moduleNames() {
    #expect(SwiftNames.isIdentifier("MyLayers") && SwiftNames.isIdentifier("_a1"))
    for name in ["", "a-b", "1a", "class", "_", "é", "a b", "../x"] {
      #expect(!SwiftNames.isIdentifier(name), "\(name)")
    }
  }
}
