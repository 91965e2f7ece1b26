import ByteFormats
import CoreMLModel
import Imaging
import TensorCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One prediction to make: its name for the user, and where each input's value comes from.
public struct InputSource: Sendable {
  public let name: String
  let files: [(feature: String?, path: String)]

  /// Predictions for the words of a command line.
  ///
  /// `NAME=FILE` words make one prediction together, and so do as many files as the model has
  /// required inputs, if it has several. Otherwise each file is a prediction of its own; a folder
  /// stands for its files in ascending order, `-` for the paths on the lines of `list`.
  public static func resolve(
    _ words: [String], for model: Model, list: () throws -> [String]
  ) throws -> [InputSource] {
    let inputs = model.description?.input ?? []
    let names = Set(inputs.map(\.name))
    func named(_ word: String) -> (feature: String?, path: String) {
      guard let separator = word.firstIndex(of: "=") else { return (nil, word) }
      let name = String(word[..<separator])
      guard names.contains(name) || !FileManager.default.fileExists(atPath: word) else {
        return (nil, word)
      }
      return (name, String(word[word.index(after: separator)...]))
    }
    let pairs = words.map(named)
    if let unknown = pairs.first(where: { $0.feature.map { !names.contains($0) } ?? false }) {
      throw ModelError(
        .mismatch, "the model has no input '\(unknown.feature ?? "")'",
        hint: "its inputs are \(inputs.map(\.name).joined(separator: ", "))")
    }
    let required = inputs.filter { $0.type?.isOptional != true }.count
    if pairs.contains(where: { $0.feature != nil }) || (words.count > 1 && words.count == required)
    {
      return [InputSource(name: words.joined(separator: " "), files: pairs)]
    }
    var sources: [InputSource] = []
    for word in words {
      let paths = word == "-" ? try list() : try files(at: word)
      sources += paths.map { InputSource(name: $0, files: [(nil, $0)]) }
    }
    return sources
  }

  /// The values for the model's inputs.
  public func read(
    for model: Model, pictures: PictureOptions = PictureOptions()
  ) throws -> [String: FeatureValue] {
    let inputs = model.description?.input ?? []
    var values: [String: FeatureValue] = [:]
    var unnamed: [(value: FeatureValue, path: String)] = []
    for (feature, path) in files {
      for (name, value) in try Self.values(at: path, pictures) {
        if let target = feature ?? name, inputs.contains(where: { $0.name == target }) {
          values[target] = value
        } else if let name, feature == nil, inputs.count > 1 {
          throw ModelError(
            .mismatch, "the model has no input '\(name)'", file: path,
            hint: "its inputs are \(inputs.map(\.name).joined(separator: ", "))")
        } else {
          unnamed.append((value, path))
        }
      }
    }
    let open = inputs.filter { values[$0.name] == nil && $0.type?.isOptional != true }
    guard unnamed.count <= open.count else {
      throw ModelError(
        .mismatch, "\(unnamed.count) values for \(open.count) inputs",
        file: unnamed.last?.path,
        hint: "the model's inputs are \(inputs.map(\.name).joined(separator: ", "))")
    }
    for (feature, item) in zip(open, unnamed) { values[feature.name] = item.value }
    return values
  }

  private static func values(
    at path: String, _ pictures: PictureOptions
  ) throws -> [(String?, FeatureValue)] {
    let bytes = try MappedFile.read(path)
    return try inFile(path) {
      if isPicture(bytes) {
        let picture = try Image(decoding: bytes)
        let orientation = pictures.appliesOrientation ? Orientation(of: bytes) : .upright
        return [(nil, .image(try picture.turned(orientation)))]
      }
      return try ArraySet.parse(bytes, prefersJSON: path.hasSuffix(".json")).arrays
        .map { ($0.name, .array($0.tensor)) }
    }
  }

  static func isPicture(_ bytes: Bytes) -> Bool {
    let start = bytes[0..<min(bytes.count, 4)].array(of: UInt8.self)
    return start.starts(with: [0x89, 0x50, 0x4E, 0x47]) || start.starts(with: [0xFF, 0xD8, 0xFF])
  }

  private static func files(at path: String) throws -> [String] {
    var isDirectory: Bool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
      throw ModelError(.missingFile, "there is no such file", file: path)
    }
    guard isDirectory else { return [path] }
    let names = try FileManager.default.contentsOfDirectory(atPath: path)
    return names.filter { !$0.hasPrefix(".") }.sorted().map { path + "/" + $0 }
      .filter {
        var inner: Bool = false
        return FileManager.default.fileExists(atPath: $0, isDirectory: &inner) && !inner
      }
  }
}
