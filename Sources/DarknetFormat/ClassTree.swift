import Files

/// A class hierarchy from a file. Each line has a name and the index of the parent, or −1 for a
/// root. Consecutive classes with the same parent form a group.
package struct ClassTree: Sendable {
  /// The number of classes in each group, in order.
  package let groups: [Int]

  private static let byteLimit = 1 << 24

  /// - Throws: an error with the line of a parent that is not an earlier class.
  package init(_ bytes: Bytes) throws {
    var groups: [Int] = []
    var last: Int?
    let lines = bytes.array(of: UInt8.self).split(separator: 10, omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      let words = line.split { $0 == 32 || $0 == 9 || $0 == 13 }
      if words.isEmpty, index == lines.count - 1 { break }
      let parent = words.count > 1 ? Int(String(decoding: words[1], as: UTF8.self)) : -1
      guard let parent, parent >= -1, parent < index else {
        throw ModelError(
          .malformed, "line \(index + 1) has no parent among the classes before it",
          hint: "each line has a class and the number of its parent, or −1")
      }
      if parent == last { groups[groups.count - 1] += 1 } else { groups.append(1) }
      last = parent
    }
    self.groups = groups
  }

  /// The tree that an option names, from the folder where Darknet would find it for a configuration in
  /// `cfg`, or beside the configuration.
  package static func read(_ name: String, for configuration: String) throws -> ClassTree {
    let folder = configuration.lastIndex(of: "/").map { String(configuration[...$0]) } ?? ""
    let file = name.split(separator: "/").last.map(String.init) ?? name
    let isInside = !name.hasPrefix("/") && !name.split(separator: "/").contains("..")
    let paths = (isInside ? [folder + "../" + name, folder + name] : []) + [folder + file]
    var failure: (any Error)?
    for path in paths {
      do {
        let bytes = try MappedFile.read(path, limit: byteLimit)
        return try inFile(path) { try ClassTree(bytes) }
      } catch let error as ModelError where error.code == .missingFile {
        failure = error
      }
    }
    throw failure ?? ModelError(.missingFile, "the file '\(name)' does not exist")
  }
}
