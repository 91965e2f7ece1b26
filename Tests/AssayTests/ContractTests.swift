import Foundation
import FuzzSupport
import TestSupport
import Testing

/// Every hostile file, instead of every file that a command takes: a documented exit code, one line
/// that names the file, no control characters, no leftovers, and limits on seconds and bytes.
@Suite(.unsanitized) struct ContractTests {
  /// A debug build is slower.
  private static let seconds = 6.0
  private static let megabytes = 256

  /// A model and a source network; of `make contracts`, all files.
  private static let own = Fixtures("hostile").names.filter { $0 != "README.md" }
    .filter {
      isThorough || $0.hasSuffix(".mlmodel") || $0.hasSuffix(".prototxt")
    }
    .map { Fixtures("hostile").path($0) }
  private static let isThorough = ProcessInfo.processInfo.environment["ASSAY_CONTRACTS"] != nil
  private static let shared = Shared.files(
    below: "hostile", endingIn: ".mlmodel", ".h5", ".json", ".prototxt", ".cfg", ".png")

  @Test(arguments: own) func filesOfFixtures(_ path: String) throws { try Self.check(path) }

  @Test(
    .shared("hostile"), .environment("ASSAY_CONTRACTS", "all commands on all shared hostile files"),
    arguments: shared)
  func sharedFiles(_ path: String) throws { try Self.check(path) }

  private static func check(_ path: String) throws {
    try withTemporaryFolder { folder in
      let model = folder + "/model.mlmodel"
      try DemonstrationTests.converted(to: model)
      let contract = CommandContract(
        Command.binary, scratch: folder,
        companions: .init(model: model, image: DemonstrationTests.picture))
      let breaches = try contract.breaches(path, seconds: seconds, megabytes: megabytes)
      #expect(breaches.isEmpty, "\(path): \(breaches.joined(separator: "\n"))")
    }
  }

  /// The test finds violations in programs that violate the contract.
  @Test func breachesAreFound() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/a"
      try writeFile([1], to: path)
      func breaches(_ script: String) throws -> [String] {
        try CommandContract("/bin/sh", scratch: folder)
          .breaches(
            of: ["-c", script, "sh", "OUTPUT", path], path, output: "OUTPUT", seconds: 0.5,
            megabytes: 64)
      }
      #expect(try breaches("echo error: a: bad >&2; exit 2") == [])
      #expect(try breaches("exit 0") == [])
      let cases = [
        ("kill -9 $$", "signal 9"), ("exit 2", "says no error"), ("exit 3", "exits with 3"),
        ("echo error: x >&2; exit 2", "does not name the file"),
        ("echo error: a >&2; exit 0", "exits with 0 and says"),
        ("echo error: a >&2; echo error: b >&2; exit 2", "does not name the file"),
        ("echo error: a >&2; : > $1; exit 2", "leaves OUTPUT"),
        ("printf '\\033[2J'", "standard output has U+1b"),
        ("printf '\\342\\200\\256'", "standard output has U+202e"),
        ("printf 'a\\033[2J' > $1", "OUTPUT has U+1b"),
        ("while :; do :; done", "takes"),
        ("sleep 60", "signal 9"),
      ]
      for (script, breach) in cases {
        let found = try breaches(script)
        #expect(found.contains { $0.contains(breach) }, "\(script): \(found)")
      }
    }
  }
}
