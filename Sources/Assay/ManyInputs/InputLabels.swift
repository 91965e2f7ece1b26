import ByteFormats
import Imaging
import TensorCore

/// The true class of each input: from a table of files and labels, or from the folder of the input.
package struct InputLabels {
  /// The word for labels by folder.
  package static let folders = "folders"
  private static let fileTitles: Set = [
    "file", "filename", "file_name", "image", "image_id", "path", "name", "input", "id",
  ]
  private static let labelTitles: Set = [
    "label", "class", "class_name", "category", "target", "truth",
  ]

  private let word: String
  private var table = PathTable<String>()
  /// The folders' names in ascending order, if they are the classes.
  private let folderNames: [String]?

  /// - Parameters:
  ///   - word: `folders`, or the path of a table.
  ///   - inputs: the inputs, for the names of their folders.
  package init(_ word: String, inputs: InputList) throws {
    self.word = word
    guard word != Self.folders else {
      var inputs = inputs
      try require(
        inputs.count != nil, .usage, "labels by folder need a folder, not a list on standard input")
      var names: Set<String> = []
      while let source = inputs.next() { names.insert(try Self.folder(of: source)) }
      folderNames = names.sorted()
      return
    }
    folderNames = nil
    let rows = try TextTableFile.read(word)
    try inFile(word) {
      let columns = Self.columns(rows.first ?? [])
      let (file, label) = columns ?? (0, 1)
      for (index, row) in rows.enumerated() where columns == nil || index > 0 {
        try require(
          row.count > max(file, label), "row \(index + 1) is not a file and a label",
          hint: "a table of labels needs the columns file,label")
        try table.insert(row[file], row[label])
      }
      try require(table.count > 0, "the table has no labels")
    }
  }

  /// Whether the file is a table of labels rather than of numbers.
  package static func isTable(_ path: String) -> Bool {
    guard path.lowercased().hasSuffix(".csv") || path.lowercased().hasSuffix(".tsv"),
      let row = try? TextTableFile.read(path).first
    else { return false }
    return columns(row) != nil || row.count == 2 && Double(row[0]) == nil
  }

  private static func columns(_ titles: [String]) -> (file: Int, label: Int)? {
    let titles = titles.map { $0.lowercased() }
    guard let file = titles.firstIndex(where: fileTitles.contains),
      let label = titles.firstIndex(where: labelTitles.contains)
    else { return nil }
    return (file, label)
  }

  private static func folder(of source: InputSource) throws -> String {
    let parts = source.name.split(separator: "/")
    try require(
      parts.count > 1, .mismatch, "is not in a folder named after its class", file: source.name,
      hint: "name the folder that contains a folder for each class")
    return String(parts[parts.count - 2])
  }

  /// - Throws: `.mismatch` if the input has no label.
  mutating func label(of source: InputSource) throws -> String {
    if folderNames != nil { return try Self.folder(of: source) }
    return try table.value(for: source.name).orThrow(
      ModelError(.mismatch, "\(word) has no label for it", file: source.name))
  }

  /// The classes of a model without labels for its `count` classes: the folders in ascending order,
  /// as in Keras's generators, if there are as many; otherwise indices.
  func classNames(_ count: Int) -> [String] {
    if let folderNames, folderNames.count == count,
      !folderNames.allSatisfy({ Int($0).map { (0..<count).contains($0) } ?? false })
    {
      return folderNames
    }
    return (0..<count).map(String.init)
  }
}

/// The indices of a model's classes by the labels that people use: the label, without a WordNet
/// identifier, the identifier alone, or the first of several synonyms.
struct ClassNumbers {
  let names: [String]
  /// Class indices by label; nil for a label that several classes share.
  private var numbers: [String: Int?] = [:]

  init(_ labels: [String]) {
    names = labels.map { WordNet.split($0)?.name ?? $0 }
    for (index, label) in labels.enumerated() {
      let parts = WordNet.split(label)
      let name = parts?.name ?? label
      let words = [
        label, name, parts?.identifier, name.split(separator: ",").first.map(String.init),
      ]
      for word in Set(words.compactMap(\.self)) {
        numbers[word] = .some(numbers[word] == nil ? index : nil)
      }
    }
  }

  func number(of label: String) throws -> Int {
    switch numbers[label] {
    case .some(.some(let number)): return number
    case .some(.none):
      throw ModelError(.mismatch, "several classes of the model are called '\(label)'")
    case .none:
      let similar = NameDistance.nearest(to: label, among: names)
      throw ModelError(
        .mismatch, "the model has no class '\(label)'",
        hint: similar.isEmpty
          ? "its \(names.count) classes are \(names.prefix(5).joined(separator: ", "))"
            + (names.count > 5 ? ", …" : "")
          : "did you mean " + similar.map { "'\($0)'" }.joined(separator: " or ") + "?")
    }
  }
}
