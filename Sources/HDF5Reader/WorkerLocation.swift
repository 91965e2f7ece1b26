import CSystem
import Files
import LibC
import TensorCore

/// Finds the `assay-hdf5` executable: at the explicit path, else at the path in the environment
/// variable `ASSAY_HDF5_WORKER`, else next to the program (or the test bundle), else in `PATH`.
package enum WorkerLocation {
  package static let name = "assay-hdf5"
  package static let variable = "ASSAY_HDF5_WORKER"

  /// Throws an error that lists every place searched.
  package static func find(explicitPath: String? = nil) throws -> String {
    if let path = explicitPath ?? environment(variable) {
      if isExecutable(path) { return path }
      throw missing([path])
    }
    var places: [String] = []
    for folder in programFolders() + pathFolders() {
      let place = "\(folder)/\(name)"
      if isExecutable(place) { return place }
      if !places.contains(place) { places.append(place) }
    }
    throw missing(places)
  }

  private static func missing(_ places: [String]) -> ModelError {
    ModelError(
      .internal,
      "the program \(name), which reads HDF5 files, was not found (looked for: "
        + places.joined(separator: ", ") + ")",
      hint: "install it next to this program, or set \(variable) to its path")
  }

  private static func programFolders() -> [String] {
    var folders: [String] = []
    if let program = executablePath() { folders.append(folderPath(of: program)) }
    // The image that contains this code: a test bundle, whose program is elsewhere.
    if let file = assay_image_path(#dsohandle) {
      let image = String(cString: file)
      var path = image
      folders.append(folderPath(of: image))
      while let slash = path.lastIndex(of: "/") {
        path = String(path[..<slash])
        if path.hasSuffix(".xctest") { folders.append(folderPath(of: path)) }
      }
    }
    return folders
  }

  private static func pathFolders() -> [String] {
    (environment("PATH") ?? "").split(separator: ":").map(String.init)
  }

  private static func environment(_ key: String) -> String? {
    getenv(key).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  private static func isExecutable(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
  }

  private static func executablePath() -> String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    #if os(Linux)
      let length = readlink("/proc/self/exe", &buffer, buffer.count - 1)
      guard length > 0 else { return nil }
    #else
      var size = UInt32(buffer.count)
      var raw = buffer
      guard _NSGetExecutablePath(&raw, &size) == 0, realpath(raw, &buffer) != nil else {
        return nil
      }
    #endif
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
