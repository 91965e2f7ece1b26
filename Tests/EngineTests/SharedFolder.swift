import Foundation

/// Material beside the checkout that not every machine has.
enum SharedFolder {
  /// The folder, from `ASSAY_SHARED` or beside the package; nil where it is absent.
  static let path: String? = {
    let package = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let path =
      ProcessInfo.processInfo.environment["ASSAY_SHARED"]
      ?? package.deletingLastPathComponent().appendingPathComponent("shared").path
    return FileManager.default.fileExists(atPath: path) ? path : nil
  }()

  /// `relative` in the folder, or nil and a line that says so.
  static func file(_ relative: String) -> String? {
    guard let path, FileManager.default.fileExists(atPath: "\(path)/\(relative)") else {
      print("skipped: shared/\(relative) is not on this machine")
      return nil
    }
    return "\(path)/\(relative)"
  }
}
