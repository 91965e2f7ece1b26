import CoreMLModel
import Engine
import Imaging
import ImportSupport
import ModelPrediction
import TensorCore

/// The predictions for the words of a command line, in their order.
///
/// Words `NAME=FILE` form one prediction, as do as many files as the model has required inputs, if
/// it has several. Otherwise each file is a separate prediction. A folder means its files and those
/// of its subfolders in ascending order; `-` means the paths in a list, one per line, which are
/// read one by one when needed.
package struct InputList: Sequence, IteratorProtocol {
  /// The number of predictions; nil for a list.
  package let count: Int?
  /// Whether a prediction was named directly, not in a folder or a list.
  package let isSingle: Bool

  private enum Entry {
    case source(InputSource)
    /// A path, and the start of its part relative to the named folder.
    case file(String, below: Int)
    case list
  }

  private var entries: ArraySlice<Entry>
  private let line: () -> String?
  private let shard: Shard
  private var position = 0
  private var names: UniqueNames?

  /// - Parameters:
  ///   - shard: the part of all predictions to use.
  ///   - namesFiles: whether each prediction gets an `outputStem` that is unique across all shards.
  ///   - line: returns the next line of the list for `-`.
  package init(
    _ words: [String], for model: Model, shard: Shard = .whole, namesFiles: Bool = false,
    line: @escaping () -> String? = { nil }
  ) throws {
    self.line = line
    self.shard = shard
    names = namesFiles ? UniqueNames() : nil
    if let source = try Self.together(words, for: model) {
      entries = [.source(source)]
      count = shard.size(of: 1)
      isSingle = true
      return
    }
    var isSingle = words.count == 1
    let entries = try words.flatMap { word -> [Entry] in
      if word == "-" {
        isSingle = false
        return [.list]
      }
      guard Folder.isFolder(word) else { return [.file(word, below: Self.lastPart(of: word))] }
      isSingle = false
      let below = word.utf8.count + (word.hasSuffix("/") ? 0 : 1)
      return try Folder.files(below: word).map { .file($0, below: below) }
    }
    guard !entries.isEmpty else {
      throw ModelError(.mismatch, "the folder is empty", file: words.first)
    }
    let hasList = entries.contains { if case .list = $0 { true } else { false } }
    self.entries = entries[...]
    self.isSingle = isSingle
    count = hasList ? nil : shard.size(of: entries.count)
  }

  /// The next prediction of the shard, nil after the last.
  package mutating func next() -> InputSource? {
    while let source = nextOfAll() {
      position += 1
      if shard.contains(position - 1) { return source }
    }
    return nil
  }

  /// The lines of standard input, if `-` is among the words.
  ///
  /// - Throws: `.usage` if they are an input instead of a list of paths.
  package static func standardInput(for words: [String]) throws -> () -> String? {
    guard words.contains("-") else { return { nil } }
    var first = readLine()
    // Bytes that are not UTF-8 are decoded as this character.
    if let first, first.utf8.contains(0) || first.unicodeScalars.contains("\u{FFFD}") {
      throw ModelError(
        .usage, "it is not a list of paths", file: "standard input",
        hint: "save the input in a file and give its name; - reads a list with a path on each line")
    }
    return {
      defer { first = nil }
      return first ?? readLine()
    }
  }

  private mutating func nextOfAll() -> InputSource? {
    while let entry = entries.first {
      switch entry {
      case .source(let source):
        entries.removeFirst()
        return named(source, "output")
      case .file(let path, let below):
        entries.removeFirst()
        return named(InputSource(path), String(decoding: path.utf8.dropFirst(below), as: UTF8.self))
      case .list:
        guard let line = line() else {
          entries.removeFirst()
          continue
        }
        if line.isEmpty { continue }
        // `-` in a list is a file name, since the stream is the list itself.
        let path = line == "-" ? "./-" : line
        return named(
          InputSource(path),
          String(decoding: path.utf8.dropFirst(Self.lastPart(of: path)), as: UTF8.self))
      }
    }
    return nil
  }

  private mutating func named(_ source: InputSource, _ path: String) -> InputSource {
    var source = source
    source.outputStem = names?.claim(path)
    return source
  }

  private static func lastPart(of path: String) -> Int {
    path.utf8.lastIndex(of: UInt8(ascii: "/"))
      .map { path.utf8.distance(from: path.utf8.startIndex, to: $0) + 1 } ?? 0
  }

  /// A word `NAME=FILE` split at each equals sign, since names and paths may contain some; the
  /// longest name comes first. `Folder.marked` takes a name that starts with a dash for a path.
  private static func splits(of word: String) -> [(name: String, path: String)] {
    let text = word.dropFirst(word.hasPrefix("./-") ? 2 : 0)
    return text.indices.reversed().filter { text[$0] == "=" }.map {
      (String(text[..<$0]), String(text[text.index(after: $0)...]))
    }
  }

  /// The single prediction that all words form together; nil if they are separate predictions.
  private static func together(_ words: [String], for model: Model) throws -> InputSource? {
    let inputs = model.description?.input ?? []
    let names = inputs.map(\.name)
    func named(_ word: String) -> (feature: String?, path: String) {
      let splits = splits(of: word)
      for (name, path) in splits {
        if let meant = FeatureNames.input.meant(by: name, among: names) { return (meant, path) }
      }
      guard let (name, path) = splits.last, !Folder.exists(word) else { return (nil, word) }
      return (name, path)
    }
    let pairs = words.map(named)
    if let unknown = pairs.first(where: { $0.feature.map { !names.contains($0) } ?? false }) {
      throw ModelError.unknown("input", unknown.feature ?? "", among: names)
    }
    let required = inputs.filter { $0.type?.isOptional != true }.count
    guard
      pairs.contains(where: { $0.feature != nil }) || (words.count > 1 && words.count == required)
    else { return nil }
    return InputSource(name: words.joined(separator: " "), files: pairs)
  }
}

/// Every `count`th element of a list, starting at `index`, without knowing the length of the list.
package struct Shard: Sendable, Equatable {
  /// The index, from 0.
  package let index: Int
  package let count: Int

  package static let whole = Shard(index: 0, count: 1)

  private init(index: Int, count: Int) {
    self.index = index
    self.count = count
  }

  /// The `number`th of `count` parts, from 1; nil if there is no such part.
  package init?(number: Int, of count: Int) {
    guard count >= 1, (1...count).contains(number) else { return nil }
    self.init(index: number - 1, count: count)
  }

  package func contains(_ position: Int) -> Bool { position % count == index }

  /// The number of elements that the shard has of a list of `total`.
  package func size(of total: Int) -> Int { total > index ? (total - index - 1) / count + 1 : 0 }
}

/// Unique names for output files.
struct UniqueNames {
  private var given: Set<String> = []

  /// `path` without its extension, followed by `-2`, `-3`, … if it was used before.
  mutating func claim(_ path: String) -> String {
    var stem = path
    if let dot = path.lastIndex(of: "."), path[dot...].dropFirst().allSatisfy({ $0 != "/" }),
      dot != path.startIndex, path[path.index(before: dot)] != "/"
    {
      stem = String(path[..<dot])
    }
    if stem.isEmpty { stem = "output" }
    var name = stem
    var number = 2
    while !given.insert(name).inserted {
      name = "\(stem)-\(number)"
      number += 1
    }
    return name
  }
}

extension InputList {
  /// The names of the inputs for which words name images or folders with images; a nil element
  /// means any input.
  static func images(among words: [String]) -> Set<String?> {
    var inputs: Set<String?> = []
    for word in words {
      if hasImage(word) {
        inputs.insert(nil)
      } else {
        inputs.formUnion(splits(of: word).filter { hasImage($0.path) }.map { $0.name })
      }
    }
    return inputs
  }

  private static func hasImage(_ path: String) -> Bool {
    guard Folder.isFolder(path) else {
      return Folder.exists(path) && InputSource.hasNameOfImage(path)
    }
    return (try? Folder.files(below: path))?.contains(where: InputSource.hasNameOfImage) ?? false
  }

  /// The values of all predictions. Throws `.mismatch` if there are none.
  static func values(
    _ words: [String], for model: Model, _ images: ImageOptions,
    _ hooks: EngineHooks
  ) throws -> [[String: FeatureValue]] {
    let values = try InputList(words, for: model).map {
      try $0.read(for: model, images: images, hooks: hooks)
    }
    guard !values.isEmpty else { throw ModelError(.mismatch, "no inputs were given") }
    return values
  }
}
