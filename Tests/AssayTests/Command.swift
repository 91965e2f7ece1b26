import Foundation

/// Runs the built `assay` as a user would.
enum Command {
  static let packageRoot = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

  /// The folder of networks that are too large for the repository; nil where it is not there.
  static let shared: String? = {
    let path =
      ProcessInfo.processInfo.environment["ASSAY_SHARED"] ?? packageRoot + "/../shared"
    return FileManager.default.fileExists(atPath: path + "/seed") ? path : nil
  }()

  /// Why a test that needs `shared` does not run, printed once a test.
  static func requireShared(_ test: String = #function) -> String? {
    if shared == nil { print("SKIPPED \(test): ../shared is absent (set ASSAY_SHARED)") }
    return shared
  }

  /// The binary beside the test runner.
  static let binary: String = {
    #if os(Linux)
      let runner =
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        ?? CommandLine.arguments[0]
    #else
      let runner = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundlePath ?? ""
    #endif
    return URL(filePath: runner).deletingLastPathComponent().path + "/assay"
  }()

  struct Result {
    let code: Int32
    /// Whether the process ended by itself and not by a signal.
    let exited: Bool
    let output: String
    let errors: String
  }

  @discardableResult
  static func run(_ arguments: String..., input: String? = nil) throws -> Result {
    try run(arguments, input: input)
  }

  @discardableResult
  static func run(
    _ arguments: [String], input: String? = nil, environment: [String: String] = [:]
  ) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func file(_ name: String, _ content: String = "") throws -> FileHandle {
      let url = folder.appending(path: name)
      try Data(content.utf8).write(to: url)
      return try FileHandle(forUpdating: url)
    }
    let process = Process()
    process.executableURL = URL(filePath: binary)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = try file("in", input ?? "")
    process.standardOutput = try file("out")
    process.standardError = try file("err")
    try process.run()
    process.waitUntilExit()
    return Result(
      code: process.terminationStatus, exited: process.terminationReason == .exit,
      output: try String(contentsOf: folder.appending(path: "out"), encoding: .utf8),
      errors: try String(contentsOf: folder.appending(path: "err"), encoding: .utf8))
  }

  /// A folder that is removed after `body`.
  static func withFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder.path)
  }
}
