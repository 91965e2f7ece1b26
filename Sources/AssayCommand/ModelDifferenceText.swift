/// The output of `diff` for two models.
struct ModelDifferenceText {
  /// The number of lines of each kind that are printed; the rest is only counted.
  private static let lineCount = 100

  let comparison: ModelComparison

  func text() -> String {
    var text = structureText()
    if let error = comparison.notRun {
      text += "\nnot run: \(Console.escaped(error.description))\n"
    }
    for run in comparison.runs {
      text +=
        "\n\(Console.escaped(run.input))\n"
        + ComparisonText(comparison: run.comparison, isOfModels: true).text()
    }
    if let summary = comparison.summary { text += "\n" + SummaryText(summary: summary).text() }
    return text
  }

  /// Why a model differs from its source network: a line for the cause and one for the remedy.
  func explanation(_ finding: Proof.Finding?, _ source: String) -> String {
    let file = Console.escaped(String(source.split(separator: "/").last ?? ""))
    let weights = comparison.difference.weights
    let cause: String
    var remedy = "convert \(file) again"
    if let weight = weights.first(where: { $0.before != $0.after }) {
      cause = "the weights of '\(Console.escaped(weight.layer))' are stored in \(weight.after)"
      remedy = "accept that with --tolerance fp16 or int8, or " + remedy
    } else if let weight = weights.first {
      cause =
        "the \(weight.parameter) of '\(Console.escaped(weight.layer))' are not those of \(file)"
    } else if let finding {
      cause = "layer '\(Console.escaped(finding.layer))' does not compute what \(file) says"
    } else {
      return ""
    }
    return "cause: \(cause)\nremedy: \(remedy)\n"
  }

  private func structureText() -> String {
    let difference = comparison.difference
    guard !difference.isEmpty else { return "structure: the same\n" }
    var text = "structure\n"
    for entry in difference.entries.prefix(Self.lineCount) {
      let sign =
        switch entry.change {
        case .added: "+"
        case .removed: "−"
        case .changed: "~"
        }
      text += "  \(sign) \(Console.escaped(entry.part))"
      if !entry.field.isEmpty { text += ": \(Console.escaped(entry.field))" }
      if !(entry.before.isEmpty && entry.after.isEmpty) {
        text += " \(Self.short(entry.before)) → \(Self.short(entry.after))"
      }
      text += "\n"
    }
    text += Self.rest(difference.entries.count)
    guard !difference.weights.isEmpty else { return text }
    text += "weights\n"
    return text + Self.weights.table(difference.weights.prefix(Self.lineCount), indent: 2)
      + Self.rest(difference.weights.count)
  }

  private static var weights: [Column<ModelDifference.Weight>] {
    [
      Column("layer", "layer") { $0.layer }, Column("weight", "parameter") { $0.parameter },
      Column(nil, "count") { $0.count },
      Column("differ", "countDifferent") {
        $0.countDifferent
      } cell: {
        "\(groupedText($0.countDifferent)) of \(groupedText($0.count))"
      }, Column("largest difference", "largestDifference") { $0.largestDifference },
      Column("largest value", "largestValue") { $0.largestValue },
      Column("storage", "before") {
        $0.before
      } cell: {
        $0.before == $0.after ? $0.before : "\($0.before) → \($0.after)"
      }, Column(nil, "after") { $0.after },
    ]
  }

  private static func rest(_ count: Int) -> String {
    count > lineCount ? "  … and \(groupedText(count - lineCount)) more\n" : ""
  }

  private static func short(_ text: String) -> String {
    if text.isEmpty { return "nothing" }
    let escaped = Console.escaped(text)
    return escaped.count > 80 ? escaped.prefix(79) + "…" : escaped
  }

  /// - Parameters:
  ///   - failed: inputs that failed.
  ///   - proof: the proof of the second model, if the first is its source network.
  func json(failed: JSONText? = nil, proof: Proof? = nil) -> JSONText {
    .versioned([
      "matches": comparison.matches, "compared": comparison.comparedCount,
      "structure": comparison.difference.entries.json {
        [
          "change": $0.change.rawValue, "part": $0.part, "field": $0.field, "before": $0.before,
          "after": $0.after,
        ]
      }, "weights": Self.weights.json(comparison.difference.weights),
      "notRun": comparison.notRun?.description,
      "runs": comparison.runs.json {
        ["input": $0.input, "comparison": ComparisonText(comparison: $0.comparison).json()]
      },
      "summary": comparison.summary.map {
        SummaryText(summary: $0).json(failed: failed ?? .array([]))
      }, "proof": proof.map { ProofText(proof: $0).json() },
    ])
  }
}
