/// Predictions as comma-separated values: one row per input, with the names of the outputs'
/// elements as column titles.
struct PredictionTable {
  /// The columns of the first prediction.
  private var columns: [String] = []
  private var rows = ""

  var text: String { columns.isEmpty ? "" : Self.line(columns) + rows }

  /// - Throws: `.mismatch` if the columns of an input differ from those of the first.
  mutating func add(_ outputs: [PredictedOutput], of input: String, labels: [String]?) throws {
    let found = ["input"] + outputs.flatMap { Self.names($0, labels) }
    if columns.isEmpty { columns = found }
    try require(
      found == columns, .mismatch,
      "it has \(found.count - 1) values, but the first input has " + "\(columns.count - 1)",
      file: input, hint: "write a folder of files instead")
    rows += Self.line(
      [input]
        + outputs.flatMap { output in
          output.text.map { [$0] } ?? output.numbers.map { numberText($0) }
        })
  }

  private static func line(_ cells: [String]) -> String {
    TextTableFile.line(cells.map { $0.escapingControls() })
  }

  private static func names(_ output: PredictedOutput, _ labels: [String]?) -> [String] {
    if case .feature(.dictionary(let entries)) = output.kind {
      return entries.keys.sorted().map { "\(output.name)[\($0)]" }
    }
    let count = output.text == nil ? output.value.elements.count : 1
    if case .classes = output.kind, let labels, labels.count == count { return labels }
    return count == 1 ? [output.name] : (0..<count).map { "\(output.name)[\($0)]" }
  }
}
