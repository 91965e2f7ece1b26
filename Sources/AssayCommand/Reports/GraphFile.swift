/// A file with a network's graph, in the format of its extension.
struct GraphFile {
  let path: String
  private let language: Language

  private enum Language: String, CaseIterable { case svg, dot, md }

  /// Nil for another extension.
  init?(path: String) {
    let known = Language.allCases.first { path.lowercased().hasSuffix(".\($0.rawValue)") }
    guard let known else { return nil }
    self.path = path
    language = known
  }

  func write(_ graph: NetworkGraph, title: String) throws {
    let text =
      switch language {
      case .svg: try inFile(title) { try GraphImage(graph).file() }
      case .dot: GraphText(graph).dot
      case .md: GraphText(graph).markdown(title: title)
      }
    try AtomicFile.write(Array(text.utf8), to: path)
    Console.wrote(path)
  }
}
