/// The option for a report page.
struct ReportArguments: ParsableArguments {
  @Option(
    help: .advanced(
      "Write a self-contained HTML page: the network's graph, its layers, and the results.",
      "FILE.html"), completion: .file(extensions: ["html"]))
  var report: String?

  /// - Throws: a usage error if the option was given.
  func refuse(with inputs: String) throws {
    try require(report == nil, .usage, "--report does not take \(inputs)")
  }

  /// Writes the page, if requested. Its title is the files' names.
  func write(_ files: String..., fill: (inout Report) throws -> Void) throws {
    guard let report else { return }
    try inFile(report) {
      var page = Report(files.map(Self.name).joined(separator: " against "))
      try fill(&page)
      try AtomicFile.write(to: report) { try $0.write(page.html) }
    }
    Console.wrote(report)
  }

  /// The last part of a path.
  static func name(_ path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }
}
