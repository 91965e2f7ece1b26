import ByteFormats
import Testing

@Suite struct TextTableFileTests {
  /// The separator is that of the first row, which may span several lines of the file.
  @Test(arguments: [
    ("a,b\nc,d", [["a", "b"], ["c", "d"]]),
    ("a;b\n1,5;2", [["a", "b"], ["1,5", "2"]]),
    ("\"a\n;\",b\nc;d,e", [["a\n;", "b"], ["c;d", "e"]]),
    ("\"a \"\"\n;\"\"\",b", [["a \"\n;\"", "b"]]),
    (" \"x,\";y\n", [["x,", "y"]]),
    ("5\" a;b", [["5\" a", "b"]]),
    ("a\n1,2", [["a"], ["1", "2"]]),
  ])
  func rows(_ text: String, _ rows: [[String]]) throws {
    #expect(try TextTableFile.parse(Array(text.utf8)) == rows)
  }

  /// A name must not become a formula, whatever invisible characters precede it.
  @Test(arguments: ["=1+1", "\u{FEFF}=1+1", "=\u{200B}1+1", "\u{200B}+cmd", "@a", "-a"])
  func formulasGetAnApostrophe(_ field: String) {
    #expect(TextTableFile.line([field, "b"]) == "'\(field),b\n")
  }

  @Test(arguments: ["-1.5", "a=1", "\u{FEFF}a", "１"]) func otherFieldsStay(_ field: String) {
    #expect(TextTableFile.line([field]) == field + "\n")
  }
}
