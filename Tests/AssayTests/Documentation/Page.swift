import Foundation
import TestSupport
import Testing

/// A page of the documentation, for its tests.
struct Page: CustomTestStringConvertible, Sendable {
  /// The path relative to the package.
  let name: String
  let lines: [String]

  var testDescription: String { name }

  init(_ name: String) throws {
    self.name = name
    lines = try String(contentsOfFile: "\(packageRoot)/\(name)", encoding: .utf8)
      .components(separatedBy: "\n")
  }

  /// `README.md`, `docs` and `docs/design`.
  static let all: [Page] = {
    let folders = ["docs", "docs/design"]
    let names = folders.flatMap { folder in
      fileNames(in: "\(packageRoot)/\(folder)").filter { $0.hasSuffix(".md") }
        .map { "\(folder)/\($0)" }
    }
    return (["README.md"] + names).compactMap { try? Page($0) }
  }()

  /// A fenced block: the language after the fence, the rest of that line, the text, and the number
  /// of its first line.
  struct Block {
    let language: String
    let file: String?
    let lines: [String]
    let number: Int
  }

  var blocks: [Block] {
    var blocks: [Block] = []
    var index = 0
    while index < lines.count {
      if lines[index].hasPrefix("```") {
        let words = lines[index].dropFirst(3).split(separator: " ")
        let end = lines[(index + 1)...].firstIndex { $0.hasPrefix("```") } ?? lines.count
        blocks.append(
          Block(
            language: words.first.map(String.init) ?? "",
            file: words.first { $0.hasPrefix("file=") }.map { String($0.dropFirst(5)) },
            lines: Array(lines[(index + 1)..<end]), number: index + 2))
        index = end
      }
      index += 1
    }
    return blocks
  }

  /// The lines of a program's output, without the newline at the end.
  static func lines(of output: String) -> [String] {
    var lines = output.components(separatedBy: "\n")
    if lines.last == "" { lines.removeLast() }
    return lines
  }

  /// Writes the page with these outputs below its commands.
  func write(_ results: [(command: PageScript.Command, output: String)]) throws {
    var text = lines
    for (command, output) in results.reversed() {
      guard let shown = command.output else { continue }
      text.replaceSubrange(
        command.line..<(command.line + shown.count), with: Self.lines(of: output))
    }
    try text.joined(separator: "\n").write(
      toFile: "\(packageRoot)/\(name)", atomically: true, encoding: .utf8)
  }

  /// The page without its fenced blocks, with the same line numbers.
  var prose: [String] {
    var isInside = false
    return lines.map { line in
      if line.hasPrefix("```") {
        isInside.toggle()
        return ""
      }
      return isInside ? "" : line
    }
  }
}

extension Page {
  /// Runs the page's commands and expects the output shown; for snapshots with `ASSAY_WRITE_DOCS`
  /// set, writes the output into the page instead.
  func expectShownOutput(isSnapshot: Bool = false) throws {
    try withTemporaryFolder { folder in
      let results = try PageScript(self).run(in: folder)
      if isSnapshot, ProcessInfo.processInfo.environment["ASSAY_WRITE_DOCS"] != nil {
        return try write(results.map { ($0.command, $0.output) })
      }
      for (command, output, code) in results {
        let place: Comment = "\(name):\(command.line): \(command.text)\n\(output)"
        if let expected = command.output {
          #expect(PageScript.matches(expected[...], Page.lines(of: output)[...]), place)
        } else {
          #expect(code == 0, place)
        }
      }
    }
  }
}

/// The steps on a page: commands with the output shown, and files that it writes.
struct PageScript {
  struct Command {
    let text: String
    let line: Int
    /// The output; nil in a table, which shows none: the command must succeed.
    let output: [String]?
  }

  enum Step {
    case command(Command)
    case file(name: String, lines: [String])
  }

  let steps: [Step]

  var commands: [Command] {
    steps.compactMap { if case .command(let command) = $0 { command } else { nil } }
  }

  init(_ page: Page) {
    var steps: [(line: Int, step: Step)] = []
    for block in page.blocks {
      if let file = block.file {
        steps.append((block.number, .file(name: file, lines: block.lines)))
      }
      guard block.language == "console" else { continue }
      var index = 0
      while index < block.lines.count {
        let end =
          block.lines[(index + 1)...].firstIndex { $0.hasPrefix("$ ") } ?? block.lines.count
        let line = block.number + index
        let command = Command(
          text: String(block.lines[index].dropFirst(2)), line: line,
          output: Array(block.lines[(index + 1)..<end]))
        steps.append((line, .command(command)))
        index = end
      }
    }
    for (index, line) in page.prose.enumerated() where line.hasPrefix("|") {
      for span in line.matches(of: /`(assay [^`]*)`/).map({ String($0.output.1) })
      where !Self.isSynopsis(span) {
        steps.append(
          (index + 1, .command(Command(text: span, line: index + 1, output: nil))))
      }
    }
    self.steps = steps.sorted { $0.line < $1.line }.map(\.step)
  }

  /// Whether a command has placeholders: `…`, a word in capitals, or missing arguments.
  static func isSynopsis(_ command: String) -> Bool {
    command.contains("…") || command.split(separator: " ").count == 2
      || command.contains(/(^|[ \[=])[A-Z]{2,}([ \]=.,]|$)/)
  }

  /// Runs every step in one shell, in a new folder with the fixtures that the commands use.
  func run(in folder: String) throws -> [(command: Command, output: String, code: Int)] {
    let text = commands.map(\.text).joined(separator: "\n")
    for name in fileNames(in: "\(packageRoot)/Fixtures")
    where text.contains("\(name)/") || text.contains("Fixtures/\(name)") {
      try FileManager.default.createDirectory(
        atPath: "\(folder)/Fixtures", withIntermediateDirectories: true)
      try FileManager.default.copyItem(
        atPath: "\(packageRoot)/Fixtures/\(name)", toPath: "\(folder)/Fixtures/\(name)")
    }
    var script = "exec 2>&1\n"
    for step in steps {
      switch step {
      case .command(let command): script += "\(command.text)\nprintf '\\036%s\\036' $?\n"
      case .file(let name, let lines):
        script +=
          "cat >'\(name)' <<'END_OF_THE_FILE'\n\(lines.joined(separator: "\n"))\nEND_OF_THE_FILE\n"
      }
    }
    let programs = URL(filePath: TestSupport.Command.binary).deletingLastPathComponent().path
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let result = try Program("/bin/sh").run(
      ["-c", script],
      environment: [
        "PATH": "\(programs):\(path)", "NO_COLOR": "1", "COLUMNS": "80",
        "ASSAY_SHARED": Shared.folder, "ASSAY_ROOT": packageRoot,
      ], in: folder)
    let parts = result.output.components(separatedBy: "\u{1E}")
    return commands.enumerated().map { index, command in
      guard 2 * index + 1 < parts.count else { return (command, result.output, -1) }
      return (command, parts[2 * index], Int(parts[2 * index + 1]) ?? -1)
    }
  }

  /// Whether the output matches the page: `…` matches any text, and on a separate line any lines.
  static func matches(_ expected: ArraySlice<String>, _ lines: ArraySlice<String>) -> Bool {
    guard let first = expected.first else { return lines.isEmpty }
    let rest = expected.dropFirst()
    if first.trimmingCharacters(in: .whitespaces) == "…" {
      return (lines.startIndex...lines.endIndex).contains { matches(rest, lines[$0...]) }
    }
    guard let line = lines.first, matches(first, line) else { return false }
    return matches(rest, lines.dropFirst())
  }

  private static func matches(_ expected: String, _ line: String) -> Bool {
    let parts = expected.components(separatedBy: "…")
    guard parts.count > 1 else { return expected == line }
    guard let first = parts.first, let last = parts.last, line.hasPrefix(first) else {
      return false
    }
    var rest = line.dropFirst(first.count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let range = rest.range(of: part) else { return false }
      rest = rest[range.upperBound...]
    }
    return rest.hasSuffix(last)
  }
}
