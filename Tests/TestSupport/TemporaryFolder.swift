import Foundation

/// A folder that exists as long as this object.
package final class TemporaryFolder {
  package let path: String

  package init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "assay-" + UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  package func file(_ name: String) -> String { path + "/" + name }

  package var names: [String] { fileNames(in: path) }
}

/// Passes a folder, which is removed after `body`.
package func withTemporaryFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
  let folder = try TemporaryFolder()
  return try withExtendedLifetime(folder) { try body(folder.path) }
}
