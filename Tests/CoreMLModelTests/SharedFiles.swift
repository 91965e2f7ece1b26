import Foundation

/// The shared folder of models: `ASSAY_SHARED`, else `../shared` beside the package.
enum SharedFiles {
  static let root: String? = {
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let path =
      ProcessInfo.processInfo.environment["ASSAY_SHARED"]
      ?? package.deletingLastPathComponent().appending(path: "shared").path
    return FileManager.default.fileExists(atPath: path) ? path : nil
  }()

  /// Every `.mlmodel` below the folder; says so where there are none.
  static let models: [String] = {
    guard let root, let files = FileManager.default.enumerator(atPath: root) else {
      print("SKIPPED: no shared models (set ASSAY_SHARED)")
      return []
    }
    return files.compactMap { $0 as? String }.filter { $0.hasSuffix(".mlmodel") }.sorted()
      .map { "\(root)/\($0)" }
  }()
}
