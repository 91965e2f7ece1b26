import Foundation
import TestSupport
import Testing

/// Pages, help and messages follow `docs/contributing.md`, as far as a search can show.
@Suite struct WordsTests {
  /// British spelling and phrases that are not English, in text for users.
  private static let offenders = [
    #"(?i)\bcolour|\bgrey\b|\bcentre|neighbour|behaviour|favour|\blicence|artefact"#,
    #"(?i)(normal|initial|optim|quant|recogn|serial|vector|synchron)is(e|ed|es|ing|ation)\b"#,
    #"\b(has|have|had) not (a|an|the|this|that|two|four|as|any)\b"#,
    #"(?<!there )(?<!ere )\bis no (?!longer\b|more\b|larger\b|such\b|better\b)"#,
    #"\bare no (?!longer\b|more\b|larger\b)[a-z]+ of\b"#,
    #"\bof (which|whose) (no|none|outputs)\b"#,
    #"\bof one's own\b|\bof yours\b"#,
    #"\bpermutes round\b|\bround it\b"#,
    #"\btold by its content\b|\bheeds?\b|\bknows nothing\b|\bnobody (else )?reads\b"#,
    #", where [^,;.]{1,50} (is|are) needed"#,
    #"\b(has|have) not\b(?! (been|run|changed)| yet)"#,
    #"\bits kin\b|\bmend(s|ed)?\b|\bway on\b|\bto be had\b|\bcame about\b"#,
    #"\b(or|and|but) (not )?the other way round\b"#,
    #"(?i)\bfaults? of (assay|the program)\b"#,
    #"\btells? (what|how|which|where|whether)\b|\b(is|are|was) told\b"#,
    #"\b(the|a|its) twins?\b"#,
    #"\bstands? (in (?!for\b)|beside\b)"#,
    #"\bin the place of\b|\bby way of\b"#,
    #"\bhands (it|them|each|on)\b|\bhanded (to|on|over)\b|\btaken over\b"#,
    #"\bas [A-Za-z]+ ([a-z]+ )?(has|have) (it|them)\b"#,
    #"\bwhat (there is|(the|an?) [a-z]+ (answered|answers))\b|\bthan there (is|are)\b"#,
    #"\bso (many|much) [a-z]+ [a-z]+ share\b|\bknows nothing\b"#,
    #"\bpictures?\b(?!\.(png|py))"#,
  ]

  private static let anyOffender = offenders.map { "(?:\($0))" }.joined(separator: "|")

  private func expectPlain(_ text: some StringProtocol, _ place: String) {
    if let range = text.range(of: Self.anyOffender, options: .regularExpression) {
      Issue.record("\(place): '\(text[range])' in: \(text[range.lowerBound...].prefix(160))")
    }
  }

  /// The documentation, and the notes on fixtures and tools.
  static let texts =
    Page.all + (["CHANGELOG.md", "Sources/Python/README.md"] + notes).compactMap { try? Page($0) }

  private static var notes: [String] {
    ["Fixtures", "Tests/Tools"].flatMap { root in
      let paths = FileManager.default.enumerator(atPath: "\(packageRoot)/\(root)")
      return (paths?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".md") }
        .map { "\(root)/\($0)" }
    }
  }

  @Test(arguments: texts)
  func pages(_ page: Page) {
    for (index, line) in page.prose.enumerated()
    // The list of words and the changelog quote words that should not be used.
    where !(page.name == "docs/contributing.md" && line.hasPrefix("|"))
      && !line.contains("\"Image\" replaces") && !line.contains("`make pictures`")
    {
      expectPlain(line, "\(page.name):\(index + 1)")
    }
  }

  @Test(arguments: Help.commands)
  func help(_ command: [String]) throws {
    for line in try Help.text(command).split(separator: "\n") {
      expectPlain(line, "assay \(command.joined(separator: " ")) --help")
    }
  }

  private func lines(_ file: String) throws -> [String] {
    try String(contentsOfFile: "\(packageRoot)/Sources/\(file)", encoding: .utf8)
      .components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
  }

  private static let sources =
    FileManager.default.enumerator(atPath: "\(packageRoot)/Sources")?
    .compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.sorted() ?? []

  /// Every string literal of the program.
  @Test func messages() throws {
    for file in Self.sources {
      for (index, line) in try lines(file).enumerated()
      where !line.hasPrefix("//") && line.contains("\"") {
        for literal in line.matches(of: /"(?:[^"\\]|\\.)*"/) {
          expectPlain(literal.output, "\(file):\(index + 1)")
        }
      }
    }
  }

  /// Every comment of the program; the lines of a paragraph are one text.
  @Test func comments() throws {
    for file in Self.sources {
      let text = try lines(file).map { line in
        line.hasPrefix("//") ? line.drop { $0 == "/" } + " " : "\n"
      }
      expectPlain(text.joined(), file)
    }
  }
}
