import TensorCore
import Testing

@Suite struct ControlCharacterTests {
  @Test func namesCannotForgeLines() {
    let error = ModelError(
      .malformed, "is damaged", file: "a\nerror: b.h5", layer: "conv\u{1B}[2J", field: "x\u{202E}y")
    #expect(
      error.description
        == "a\\u{a}error: b.h5: layer 'conv\\u{1b}[2J': x\\u{202e}y is damaged")
  }

  @Test func linesStayWhereTheyAreMeant() {
    #expect("a\n\tb\r".escapingControls(keepingLines: true) == "a\n\tb\\u{d}")
    #expect("süß ☃".escapingControls() == "süß ☃")
  }
}
