import Foundation
import Testing

struct GeneratedCodeTests {
  /// The committed C code is what `make proto` makes of the `.proto` files.
  @Test func isCurrent() throws {
    let specification = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources/CSpec")
    let compilers = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].map { "\($0)/protoc-c" }
    guard compilers.contains(where: FileManager.default.isExecutableFile) else {
      print("SKIPPED: protoc-c is not installed")
      return
    }
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [specification.appending(path: "generate.sh").path, folder.path]
    process.environment = ["PATH": "/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin"]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let committed = specification.appending(path: "generated")
    let names = try FileManager.default.contentsOfDirectory(atPath: committed.path).sorted()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == names)
    for name in names {
      #expect(
        try Data(contentsOf: folder.appending(path: name))
          == Data(contentsOf: committed.appending(path: name)),
        "run 'make proto': \(name) differs")
    }
  }
}
