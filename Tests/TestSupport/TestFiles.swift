import Foundation
import TensorCore

/// The folder of `Package.swift`.
package let packageRoot = URL(filePath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

/// A folder in `Fixtures`.
package struct Fixtures: Sendable {
  package let folder: String

  package init(_ name: String) { folder = "\(packageRoot)/Fixtures/\(name)" }

  package func path(_ name: String) -> String { "\(folder)/\(name)" }

  package func bytes(_ name: String) throws -> [UInt8] { try fileBytes(path(name)) }

  package var names: [String] { fileNames(in: folder) }
}

/// Networks, images and expected outputs that are too large for the repository, in the folder of
/// the variable `ASSAY_SHARED`, or else in `../shared`. A test that needs one has the trait
/// `.shared`.
package enum Shared {
  package static let folder =
    ProcessInfo.processInfo.environment["ASSAY_SHARED"] ?? packageRoot + "/../shared"

  package static func path(_ name: String) -> String { "\(folder)/\(name)" }

  package static func has(_ name: String) -> Bool { fileExists(path(name)) }

  /// The sorted paths of all files below `name` with one of these suffixes.
  package static func files(below name: String = "", endingIn suffixes: String...) -> [String] {
    let top = name.isEmpty ? folder : path(name)
    return (FileManager.default.enumerator(atPath: top)?.compactMap { $0 as? String } ?? [])
      .filter { file in suffixes.contains { file.hasSuffix($0) } }
      .sorted().map { "\(top)/\($0)" }
  }
}

extension Array {
  /// Every fifth network of a corpus in `Shared`, which is enough for each change. `make corpora`
  /// sets `ASSAY_CORPORA`, which selects all.
  package var sampled: [Element] {
    if ProcessInfo.processInfo.environment["ASSAY_CORPORA"] != nil { return self }
    return stride(from: 0, to: count, by: 5).map { self[$0] }
  }
}

package func fileExists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

package func removeFile(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

package func fileBytes(_ path: String) throws -> [UInt8] {
  [UInt8](try Data(contentsOf: URL(filePath: path)))
}

package func writeFile(_ bytes: [UInt8], to path: String) throws {
  try Data(bytes).write(to: URL(filePath: path))
}

/// The sorted names in a folder; empty if the folder does not exist.
package func fileNames(in folder: String) -> [String] {
  ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
}
