import ByteFormats
import Foundation
import FuzzSupport
import TensorCore

extension FuzzTarget {
  /// Writes packages to hostile folders; mutants are the names and contents of existing files, and
  /// the names of the files to write.
  static let folder = FuzzTarget(
    "folder", suffix: ".folder", from: [], examples: FolderAttempt.seeds.map(\.bytes),
    mutator: { _ in { FolderAttempt($0).mutated(&$1).bytes } },
    attempt: { path, bytes in try FolderAttempt(bytes).run(in: path + ".d") })
}

/// An existing folder, and the files to write there.
private struct FolderAttempt {
  /// The name of a file in the old package, of a link if it ends with `@`, or of a file to write if
  /// it starts with `>`.
  var entries: [(name: [UInt8], content: [UInt8])]

  private static let listing =
    #"{"rootModelIdentifier": "A", "itemInfoEntries": {"A": {"path": "m/x.mlmodel"}, "#
    + #""B": {"path": "w"}, "C": {"path": "v/notes"}}}"#

  static let seeds: [FolderAttempt] = [
    [("Manifest.json", listing), ("Data/m/x.mlmodel", "1"), ("Data/w/weight.bin", "2")],
    [
      ("Manifest.json", listing), ("Data/m/x.mlmodel", "1"), ("Data/v/notes/a", "2"), (">w/a", "3"),
    ],
    [
      ("Manifest.json", listing), ("Data/m/x.mlmodel", "1"), ("thesis.tex", "2"),
      (">weights/b", ""),
    ],
    [("Manifest.json", listing), ("Data/w@", "../../victim"), (">weights/weight.bin", "3")],
    [("Manifest.json", listing), ("Data@", "../victim"), ("e\u{301}", "2"), (">a/b/c", "3")],
    [(">weights/weight.bin", "1"), (">0-weight.bin", "2")],
  ].map { FolderAttempt(entries: $0.map { (Array($0.0.utf8), Array($0.1.utf8)) }) }

  private init(entries: [(name: [UInt8], content: [UInt8])]) { self.entries = entries }

  init(_ bytes: [UInt8]) {
    let parts = bytes.split(separator: 0, omittingEmptySubsequences: false).map(Array.init)
    entries = stride(from: 0, to: parts.count - 1, by: 2).prefix(64).map {
      (parts[$0], parts[$0 + 1])
    }
  }

  var bytes: [UInt8] {
    Array(entries.flatMap { [$0.name, $0.content] }.joined(separator: [0]))
  }

  private static let pieces = [
    "..", "/", ".", "../", "/..", "\u{301}", "@", ">", "Data/", "Manifest.json", ".assay-lock", "w",
    "m/x.mlmodel", "\u{FF}", " ", "\n", "~", "com.apple.CoreML/weights",
  ].map { Array($0.utf8) }

  func mutated(_ random: inout SplitMix64) -> FolderAttempt {
    var result = self
    for _ in 0...random.below(3) where !result.entries.isEmpty {
      let index = random.below(result.entries.count)
      switch random.below(6) {
      case 0: result.entries.append(result.entries[index])
      case 1: result.entries.remove(at: index)
      case 2: result.entries[index].content = result.entries[index].content.damaged(&random)
      case 3: result.entries[index].name = result.entries[index].name.damaged(&random)
      default:
        let place = random.below(result.entries[index].name.count + 1)
        result.entries[index].name.insert(contentsOf: random.pick(Self.pieces), at: place)
      }
    }
    return result
  }

  // MARK: Attempt

  func run(in folder: String) throws {
    let manager = FileManager.default
    try? manager.removeItem(atPath: folder)
    defer { try? manager.removeItem(atPath: folder) }
    let package = folder + "/o.mlpackage"
    try manager.createDirectory(atPath: folder + "/victim", withIntermediateDirectories: true)
    try Data([7]).write(to: URL(filePath: folder + "/victim/thesis.tex"))
    var files: [String: Bytes] = [:]
    for (name, content) in entries {
      guard let text = String(validating: name, as: UTF8.self), !text.utf8.contains(0) else {
        continue
      }
      if text.hasPrefix(">") {
        files["@model_path/" + text.dropFirst()] = Bytes(content)
      } else {
        put(text, content, below: package)
      }
    }
    let before = Self.content(folder)
    let listed = Self.listed(package)
    do { try ModelPackage.write(Bytes([UInt8(1), 2]), files: files, to: package) } catch {
      guard Self.content(folder) == before else {
        throw Finding("what is there has changed: \(error)")
      }
      throw error
    }
    let after = Self.content(folder)
    let names = Set(after.keys.compactMap { $0.split(separator: "/").first.map(String.init) })
    guard names == ["o.mlpackage", "victim"] else { throw Finding("left: \(names)") }
    guard after["victim/thesis.tex"] == [7],
      after.keys.filter({ $0.hasPrefix("victim/") }).count == 1
    else { throw Finding("a link was followed") }
    for name in before.keys where name.hasPrefix("o.mlpackage/") {
      let path = Array(name.utf8.dropFirst("o.mlpackage/".utf8.count))
      let slash = [UInt8(ascii: "/")]
      let isListed = listed.contains {
        $0 == path || path.starts(with: $0 + slash) || $0.starts(with: path + slash)
      }
      if !isListed { throw Finding("'\(name)' is lost, which no manifest lists") }
    }
  }

  /// Does nothing if the name leads out of the folder.
  private func put(_ name: String, _ content: [UInt8], below folder: String) {
    let manager = FileManager.default
    let parts = name.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    guard !parts.isEmpty, !parts.contains(".."), parts.allSatisfy({ $0.utf8.count < 200 }) else {
      return
    }
    let path = ([folder] + parts).joined(separator: "/")
    // Links that already exist are not followed.
    var place = folder
    for part in parts.dropLast() {
      place += "/" + part
      if (try? manager.destinationOfSymbolicLink(atPath: place)) != nil { return }
    }
    try? manager.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    if path.hasSuffix("@"), content.count < 200 {
      let target = String(decoding: content, as: UTF8.self)
      try? manager.createSymbolicLink(
        atPath: String(path.dropLast()), withDestinationPath: target.isEmpty ? "." : target)
    } else if (try? manager.destinationOfSymbolicLink(atPath: path)) == nil {
      _ = manager.createFile(atPath: path, contents: Data(content))
    }
  }

  /// The paths of `Manifest.json` and of the files that it lists.
  private static func listed(_ package: String) -> [[UInt8]] {
    let bytes = FileManager.default.contents(atPath: package + "/Manifest.json").map { [UInt8]($0) }
    let entries = (try? JSONValue(parsing: bytes ?? []))?["itemInfoEntries"]?.object?.members ?? []
    let paths = entries.compactMap { $0.value["path"]?.string }
    return (["Manifest.json"] + paths.map { "Data/" + $0 }).map { Array($0.utf8) }
  }

  /// Everything in a folder; links are not followed.
  private static func content(_ folder: String) -> [String: [UInt8]] {
    let manager = FileManager.default
    let names = manager.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return Dictionary(
      names.map { name in
        let path = folder + "/" + name
        let link = (try? manager.destinationOfSymbolicLink(atPath: path)).map { Array($0.utf8) }
        return (name, link ?? manager.contents(atPath: path).map { [UInt8]($0) } ?? [])
      }, uniquingKeysWith: { first, _ in first })
  }
}
