import Foundation
import TestSupport
import Testing

/// The documentation is correct: commands print what it shows, options and link targets exist.
@Suite struct PageTests {
  static let scripted = Page.all.filter { !PageScript($0).commands.isEmpty }

  /// Pages with snapshots of output. With `ASSAY_WRITE_DOCS` set, as in `make docs`, the test
  /// writes them.
  private static let snapshots: Set = ["docs/commands.md", "docs/errors.md"]

  @Test(arguments: scripted)
  func commandsGiveWhatThePageShows(_ page: Page) throws {
    try page.expectShownOutput(isSnapshot: Self.snapshots.contains(page.name))
  }

  /// Commands outside of tested blocks would become outdated.
  @Test(arguments: Page.all)
  func everyCommandIsRun(_ page: Page) {
    for block in page.blocks where !["console", "synopsis", "sh", "yaml"].contains(block.language) {
      for line in block.lines {
        #expect(
          !line.hasPrefix("$ ") && !line.hasPrefix("assay "), "\(page.name): \(line)")
      }
    }
    for line in page.prose where line.hasPrefix("    ") {
      #expect(!line.contains(#/^ +(\$ )?assay /#), "\(page.name): use a console block: \(line)")
    }
  }

  @Test(arguments: Page.all)
  func optionsExist(_ page: Page) throws {
    let others: Set = [
      "--array", "--assay", "--build-tests", "--depth", "--every", "--exclude-libs", "--filter",
      "--gc-sections", "--generate-completion-script", "--help", "--package-path", "--partitions",
      "--pipe", "--portable",
      "--skip-build", "--static-swift-stdlib", "--version", "--wrap", "--center_only",
      // A former spelling of an argument.
      "--model-source",
      // Misspelled options, for their messages.
      "--resise", "--image-inptu",
    ]
    for (index, line) in page.lines.enumerated() {
      for match in line.matches(of: /(?:^|[\s`(])(--[a-z][a-z_-]+)/) {
        let option = String(match.output.1)
        #expect(
          others.contains(option) || Help.options.contains(option),
          "\(page.name):\(index + 1): \(option)")
      }
    }
  }

  @Test(arguments: Page.all)
  func linksLeadSomewhere(_ page: Page) throws {
    let folder = URL(filePath: "\(packageRoot)/\(page.name)").deletingLastPathComponent()
    for (index, line) in page.prose.enumerated() {
      for match in line.matches(of: /\]\(([^)\s]+)\)/) {
        let link = String(match.output.1)
        guard !link.contains("://") else { continue }
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let target =
          parts[0].isEmpty
          ? "\(packageRoot)/\(page.name)" : folder.appending(path: String(parts[0])).path
        #expect(fileExists(target), "\(page.name):\(index + 1): \(link)")
        if parts.count == 2 {
          let anchors = try String(contentsOfFile: target, encoding: .utf8)
            .components(separatedBy: "\n").filter { $0.hasPrefix("#") }.map(Self.anchor)
          #expect(anchors.contains(String(parts[1])), "\(page.name):\(index + 1): \(link)")
        }
      }
    }
  }

  /// The anchor that GitHub generates for a heading.
  private static func anchor(_ heading: String) -> String {
    String(
      heading.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
        .compactMap { $0 == " " ? "-" : $0.isLetter || $0.isNumber || $0 == "-" ? $0 : nil })
  }

  @Test func thePageOfCommandsHasAll() throws {
    #expect(Help.commands.count >= 13)
    let lines = try Page("docs/commands.md").lines
    for command in Help.commands {
      let line = (["$ assay"] + command + ["--help"]).joined(separator: " ")
      #expect(lines.contains(line), "\(line)")
    }
  }

  @Test func theReadmeFitsOnOneScreen() throws {
    #expect(try Page("README.md").lines.count <= 150)
  }

  /// The map lists every page.
  @Test func theMapIsComplete() throws {
    let map = try Page("docs/README.md").lines.joined()
    for name in fileNames(in: "\(packageRoot)/docs")
    where name.hasSuffix(".md") && name != "README.md" {
      #expect(map.contains("(\(name))"), "\(name)")
    }
  }
}

/// The output of `--help`.
enum Help {
  /// The program, its commands and theirs, as the help lists them.
  static let commands = all(below: [])

  private static func all(below command: [String]) -> [[String]] {
    let parts = ((try? text(command)) ?? "").components(separatedBy: "SUBCOMMANDS:\n")
    let names = parts.dropFirst().joined().matches(of: #/(?m)^  ([a-z]+) /#).map { $0.output.1 }
    return [command] + names.flatMap { all(below: command + [String($0)]) }
  }

  static func text(_ command: [String]) throws -> String {
    try Command.run(command + ["--help"], environment: ["COLUMNS": "80"]).output
  }

  /// The long options of all commands.
  static let options: Set<String> = {
    let texts = commands.map { (try? text($0)) ?? "" }
    return Set(
      texts.flatMap { $0.matches(of: /--(?:\[[a-z]+\])?[a-z][a-z-]*/).map { String($0.output) } })
  }()
}
