import Foundation

/// A program to run to its end.
package struct Program: Sendable {
  package let path: String

  package init(_ path: String) { self.path = path }

  package struct Result: Sendable {
    package let code: Int32
    /// Whether the process exited, rather than being ended by a signal.
    package let exited: Bool
    package let output: String
    package let errors: String
  }

  @discardableResult
  package func run(
    _ arguments: [String], input: String = "", environment: [String: String] = [:],
    in folder: String? = nil
  ) throws -> Result {
    // Files are used, because a pipe fills up if nothing reads it.
    try withTemporaryFolder { scratch in
      func file(_ name: String, _ content: String = "") throws -> FileHandle {
        let url = URL(filePath: "\(scratch)/\(name)")
        try Data(content.utf8).write(to: url)
        return try FileHandle(forUpdating: url)
      }
      let process = Process()
      process.executableURL = URL(filePath: path)
      process.arguments = arguments
      process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
      if let folder { process.currentDirectoryURL = URL(filePath: folder) }
      process.standardInput = try file("in", input)
      process.standardOutput = try file("out")
      process.standardError = try file("err")
      try process.run()
      process.waitUntilExit()
      return Result(
        code: process.terminationStatus, exited: process.terminationReason == .exit,
        output: try String(contentsOfFile: scratch + "/out", encoding: .utf8),
        errors: try String(contentsOfFile: scratch + "/err", encoding: .utf8))
    }
  }

  /// The program with that name in the folders of `PATH`.
  package static func find(_ name: String) -> Program? {
    let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
    return folders.map { "\($0)/\(name)" }.first(where: FileManager.default.isExecutableFile)
      .map(Program.init)
  }
}

/// Runs the built `assay` like a user. Core ML must accept every model that it writes.
package enum Command {
  /// The binary beside the test runner, or the one in the variable `ASSAY_BINARY`: with an older
  /// one, the tests of later fixes fail (Tests/Tools/fails-before.sh).
  package static let binary: String = {
    if let other = ProcessInfo.processInfo.environment["ASSAY_BINARY"] { return other }
    #if os(Linux)
      let runner =
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        ?? CommandLine.arguments[0]
    #else
      let runner = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundlePath ?? ""
    #endif
    return URL(filePath: runner).deletingLastPathComponent().path + "/assay"
  }()

  package typealias Result = Program.Result

  @discardableResult
  package static func run(_ arguments: String..., input: String = "") throws -> Result {
    try run(arguments, input: input)
  }

  @discardableResult
  package static func run(
    _ arguments: [String], input: String = "", environment: [String: String] = [:]
  ) throws -> Result {
    let result = try Program(binary).run(arguments, input: input, environment: environment)
    if result.code == 0 { try AppleValidator.check(arguments) }
    return result
  }
}
