import Foundation
import TestSupport
import Testing

/// The documentation is true: its commands give what it shows, its options exist, its links lead
/// somewhere.
@Suite struct PageTests {
  static let scripted = Page.all.filter { !PageScript($0).commands.isEmpty }

  /// Pages whose output is a snapshot. With `ASSAY_WRITE_DOCS` set, as by `make docs`, the test
  /// writes it.
  private static let snapshots: Set = ["docs/commands.md", "docs/errors.md"]

  @Test(arguments: scripted)
  func commandsGiveWhatThePageShows(_ page: Page) throws {
    try withTemporaryFolder { folder in
      let results = try PageScript(page).run(in: folder)
      if ProcessInfo.processInfo.environment["ASSAY_WRITE_DOCS"] != nil,
        Self.snapshots.contains(page.name)
      {
        return try page.write(results.map { ($0.command, $0.output) })
      }
      for (command, output, code) in results {
        let place: Comment = "\(page.name):\(command.line): \(command.text)\n\(output)"
        if let expected = command.output {
          #expect(PageScript.matches(expected[...], Page.lines(of: output)[...]), place)
        } else {
          #expect(code == 0, place)
        }
      }
    }
  }

  /// A command outside the blocks that run would rot.
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
      "--array", "--assay", "--build-tests", "--depth", "--exclude-libs", "--filter",
      "--gc-sections", "--help", "--package-path", "--partitions", "--pipe", "--skip-build",
      "--static-swift-stdlib", "--version", "--wrap", "--center_only",
      // A misspelled one, for its message.
      "--resise",
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

  /// As GitHub makes it of a heading.
  private static func anchor(_ heading: String) -> String {
    String(
      heading.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
        .compactMap { $0 == " " ? "-" : $0.isLetter || $0.isNumber || $0 == "-" ? $0 : nil })
  }

  @Test func theReadmeFitsOnOneScreen() throws {
    #expect(try Page("README.md").lines.count <= 150)
  }

  /// Every page is on the map.
  @Test func theMapIsComplete() throws {
    let map = try Page("docs/README.md").lines.joined()
    for name in fileNames(in: "\(packageRoot)/docs")
    where name.hasSuffix(".md") && name != "README.md" {
      #expect(map.contains("(\(name))"), "\(name)")
    }
  }
}

/// What `--help` prints.
enum Help {
  static let commands = [
    [], ["convert"], ["run"], ["diff"], ["eval"], ["record"], ["inspect"], ["compress"], ["edit"],
    ["bench"],
    ["plugin"],
    ["plugin", "new"], ["plugin", "list"],
  ]

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
