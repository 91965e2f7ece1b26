import ByteFormats
import Files
import KerasImport
import TensorCore

/// The files of one model on a command line: an `.mlmodel`, a package, or a source network, whose
/// weights may be in a separate file.
package struct ModelFiles: Sendable, Equatable {
  package let path: String
  package let weights: String?

  package init(_ path: String, weights: String? = nil) {
    self.path = path
    self.weights = weights
  }

  /// Removes and returns the first of `words` and, if the second is its weights file, the second.
  ///
  /// Precondition: there is at least one word.
  package init(from words: inout ArraySlice<String>) { self.init(&words, besideModels: false) }

  /// Like `init(from:)` if another model may follow; nil, without consuming a word, if the first is
  /// not a model.
  ///
  /// - Throws: if the first is a file that cannot be read.
  package init?(fromModels words: inout ArraySlice<String>) throws {
    guard let first = words.first else { return nil }
    if let second = words.dropFirst().first,
      Self.areOneModel(first, second, besideModels: true)
    {
      self.init(&words, besideModels: true)
      return
    }
    guard try Self.isModel(first) else { return nil }
    self.init(&words, besideModels: true)
  }

  private init(_ words: inout ArraySlice<String>, besideModels: Bool) {
    let path = words.removeFirst()
    guard let second = words.first, Self.areOneModel(path, second, besideModels: besideModels)
    else {
      self.init(path)
      return
    }
    words.removeFirst()
    self.init(path, weights: second)
  }

  /// The prefix, before a seed, of a word that requests random weights instead of a weights file.
  package static let random = "random:"

  private static func file(_ path: String) -> SourceFile? {
    guard path != "-", Folder.isFile(path), let (bytes, format) = try? FileFormat.read(path) else {
      return nil
    }
    return SourceFile(path: path, format: format, bytes: bytes)
  }

  /// Whether the second file contains the weights of the first, or vice versa for Caffe.
  ///
  /// - Parameter besideModels: two files that are complete models are two models.
  private static func areOneModel(_ first: String, _ second: String, besideModels: Bool) -> Bool {
    if KerasSource.isModelFunction(first) {
      return [.hdf5, .zip].contains(file(second)?.format) && !KerasSource.hasArchitecture(second)
    }
    guard let file = file(first), takesWeights(file) else { return false }
    if second.hasPrefix(random) { return true }
    // A missing file is reported as what it should have been.
    let other = Self.file(second) ?? SourceFile(path: second, format: .empty, bytes: Bytes())
    return ModelSource.networks.contains { $0.areOne(file, other, besideModels: besideModels) }
  }

  /// Whether the model is in a package, a folder or an archive.
  package var isPackage: Bool {
    if Folder.isFolder(path) { return true }
    guard path == "-" || Folder.isFile(path), let bytes = try? MappedFile.read(path) else {
      return false
    }
    return bytes.withUnsafeBytes { $0.starts(with: "PK".utf8) }
  }

  private static func takesWeights(_ file: SourceFile) -> Bool {
    ModelSource.networks.contains { $0.architectures.contains(file.format) }
  }

  /// Whether the first file is a source network.
  package var isSource: Bool {
    KerasSource.isModelFunction(path) || Self.file(path).map(Self.takesWeights) ?? false
  }

  /// Whether a file is a complete model, and not arrays.
  private static func isModel(_ path: String) throws -> Bool {
    if KerasSource.isModelFunction(path) { return true }
    if Folder.isFolder(path) {
      do { return try FileFormat.read(path).format == .coreML } catch {
        return (error as? ModelError)?.code != .missingFile
      }
    }
    guard Folder.isFile(path) else { return false }
    let (bytes, format): (Bytes, FileFormat)
    do { (bytes, format) = try FileFormat.read(path) } catch let error as ModelError {
      if [.missingFile, .outOfMemory].contains(error.code) { throw error }
      return false
    }
    let file = SourceFile(path: path, format: format, bytes: bytes)
    return format == .coreML || ModelSource.networks.contains { $0.isModel(file) }
  }
}
