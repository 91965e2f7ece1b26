extension StringProtocol {
  /// Whether it starts with an error about this file: `FILE: …` or `FILE is …`.
  func isError(of file: String) -> Bool {
    hasPrefix("error: \(file): ") || hasPrefix("error: \(file) is ")
  }
}
