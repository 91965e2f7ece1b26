import TensorCore
import TestSupport
import Testing

@testable import DarknetImport

@Suite struct ConfigurationFileTests {
  private func parse(_ text: String) throws -> ConfigurationFile {
    try ConfigurationFile(Bytes(Array(text.utf8)))
  }

  @Test func sectionsAndOptions() throws {
    let file = try parse(
      "\u{FEFF}# remark\r\n[ net ]\r\n height = 4 16\r\n; remark\nwidth=8 # eight\n\n[Conv]\nfilters=+3\n"
    )
    #expect(file.sections.map(\.name) == ["net", "Conv"])
    #expect(file.sections[1].kind == "conv")
    // All spaces are removed, as in Darknet.
    #expect(try file.sections[0].int("height", default: 0) == 416)
    #expect(try file.sections[0].int("WIDTH", default: 0) == 8)
    #expect(try file.sections[1].int("filters", default: 0) == 3)
    #expect(file.sections[0].options.map(\.line) == [3, 5])
    #expect(file.notes.isEmpty)
  }

  @Test func numbers() throws {
    let section = try parse("[a]\ni=3.7\nn=-2\nf=.25\nl=1, 2 ,-3\nd=1.5,2,\n").sections[0]
    // Parsed as by C's atoi and atof.
    #expect(try section.int("i", default: 0) == 3)
    #expect(try section.int("n", default: 0, in: -5...5) == -2)
    #expect(try section.double("f", default: 0) == 0.25)
    #expect(try section.int("f", default: 9) == 0)
    #expect(try section.ints("l") == [1, 2, -3])
    #expect(try section.doubles("d") == [1.5, 2])
    #expect(try section.int("absent", default: 7) == 7)
  }

  @Test func theFirstOfTwoCounts() throws {
    let file = try parse("[net]\nheight=1\nheight=2\nwidth=\n")
    #expect(try file.sections[0].int("height", default: 0) == 1)
    #expect(
      file.notes == [
        "line 3: 'height' is repeated in [net]; Darknet uses the first, 1, of line 2",
        "line 4: 'width' has no value and is ignored, as in Darknet",
      ])
  }

  @Test(arguments: [
    ("", "it has no sections"), ("# nothing\n", "it has no sections"),
    ("height=1\n", "line 1: 'height=1' comes before the first section"),
    ("[net]\nheight\n", "line 2: 'height' is neither a section nor key = value"),
    ("[net\nheight=1\n", "line 1: '[net' is not a section"),
    ("[]\n", "line 1: '[]' is not a section"),
    ("[net]\na\u{1}b=1\n", "line 2: control characters: the file is not text"),
  ])
  func faultsNameTheLine(_ text: String, _ message: String) {
    let error = modelError { try parse(text) }
    #expect(error?.message == message)
    #expect(error?.code == .malformed)
  }

  @Test(arguments: [
    ("filters=many", "line 2: filters: 'many' is not an integer"),
    ("filters=99999999999999999999", "line 2: filters: '99999999999999999999' is not an integer"),
    ("filters=1e30", "line 2: filters: '1e30' is not an integer"),
    ("filters=0x4", "line 2: filters: '0x4' is not an integer"),
    ("filters=nan", "line 2: filters: 'nan' is not an integer"),
    ("filters=1,2", "line 2: filters: '1,2' is not an integer"),
    ("filters=0", "line 2: filters: 0 is out of range"),
    ("filters=-4", "line 2: filters: -4 is out of range"),
  ])
  func faultyNumbers(_ option: String, _ message: String) throws {
    let section = try parse("[a]\n\(option)\n").sections[0]
    #expect(
      modelError { try section.int("filters", default: 1, in: 1...Limits.dimension) }?.message
        == message)
  }

  /// Darknet would take an empty item for layer 0.
  @Test func itemsOfListsAreNumbers() throws {
    let section = try parse("[a]\nlayers=-1,\nanchors=1,2.5,\nmask=1,,2\n").sections[0]
    #expect(modelError { try section.ints("layers") }?.message.contains("'' is not") == true)
    #expect(modelError { try section.ints("mask") }?.message.contains("'' is not") == true)
    #expect(try section.doubles("anchors") == [1, 2.5])
  }

  /// Parsed as by C's `atoi`.
  @Test func numbersEndWhereTheirDigitsEnd() throws {
    let section = try parse("[a]\nlayers=-6-1\nmask=3, 4-5,+2.5\n").sections[0]
    #expect(try section.ints("layers") == [-6])
    #expect(try section.ints("mask") == [3, 4, 2])
  }
}
