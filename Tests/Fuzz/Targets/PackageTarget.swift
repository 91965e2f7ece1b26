import Assay
import ByteFormats
import CoreMLModel
import Foundation
import FuzzSupport
import TensorCore

extension FuzzTarget {
  /// Zipped packages with ML Programs: the model is changed field by field; weight files and
  /// manifests byte by byte.
  static let package = FuzzTarget(
    "package", suffix: ".mlpackage", from: [".mlpackage/Manifest.json"],
    seeds: { path, _ in
      PackageParts(folder: (path as NSString).deletingLastPathComponent).map { [$0.archive] } ?? []
    },
    mutator: { seeds in
      let models = seeds.compactMap { PackageParts(archive: $0)?.model }
      let mutator = MessageMutator(schema: SpecificationSchema.model, seeds: models)
      return { bytes, random in
        guard var parts = PackageParts(archive: bytes) else { return bytes.damaged(&random) }
        parts.mutate(mutator, &random)
        return parts.archive
      }
    }, attempt: network)
}

/// The files of a package by name.
private struct PackageParts {
  private static let modelName = "Data/com.apple.CoreML/model.mlmodel"

  var files: [(name: String, bytes: [UInt8])]

  var model: [UInt8]? { files.first { $0.name == Self.modelName }?.bytes }

  init?(folder: String) {
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    files = names.sorted().compactMap { name in
      var isFolder: ObjCBool = false
      let path = "\(folder)/\(name)"
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder),
        !isFolder.boolValue
      else { return nil }
      return FileManager.default.contents(atPath: path).map { (name, [UInt8]($0)) }
    }
    if model == nil { return nil }
  }

  init?(archive bytes: [UInt8]) {
    guard let archive = try? ZipArchive(Bytes(bytes)) else { return nil }
    files = archive.members.compactMap { member in
      (try? archive.contents(member)).map { (member.name, $0.array(of: UInt8.self)) }
    }
    if model == nil { return nil }
  }

  mutating func mutate(_ mutator: MessageMutator, _ random: inout SplitMix64) {
    let others = files.indices.filter { files[$0].name != Self.modelName }
    if random.below(4) == 0, !others.isEmpty {
      let index = random.pick(others)
      files[index].bytes =
        random.flag()
        ? files[index].bytes.damaged(&random) : files[index].bytes.withBytesReplaced(&random)
    }
    for index in files.indices where files[index].name == Self.modelName {
      files[index].bytes = mutator.mutated(files[index].bytes, &random)
    }
  }

  var archive: [UInt8] {
    var bytes: [UInt8] = []
    var writer = ZipWriter { bytes += $0 }
    do {
      for file in files {
        try file.bytes.withUnsafeBytes { try writer.add(file.name, [$0]) }
      }
      try writer.finish()
    } catch { return [] }
    return bytes
  }
}
