/// The output of `diff` for two models.
struct ModelDifferenceText {
  /// Only this many lines of a kind are printed; the rest is counted.
  private static let lineCount = 100

  let comparison: ModelComparison

  init(_ comparison: ModelComparison) { self.comparison = comparison }

  func text() -> String {
    var text = structureText()
    if let error = comparison.notRun {
      text += "\nnot run: \(Console.escaped(error.description))\n"
    }
    for run in comparison.runs {
      text +=
        "\n\(Console.escaped(run.input))\n"
        + ComparisonText(run.comparison, isOfModels: true).text()
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
    var table = TextTable(
      [
        ("layer", .left), ("weight", .left), ("differ", .right), ("largest difference", .right),
        ("largest value", .right), ("storage", .left),
      ], indent: 2)
    for weight in difference.weights.prefix(Self.lineCount) {
      table.add([
        Console.escaped(weight.layer), Console.escaped(weight.parameter),
        "\(groupedText(weight.countDifferent)) of \(groupedText(weight.count))",
        numberText(weight.largestDifference, digits: 6), numberText(weight.largestValue, digits: 6),
        weight.before == weight.after ? weight.before : "\(weight.before) → \(weight.after)",
      ])
    }
    return text + table.text + Self.rest(difference.weights.count)
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
  ///   - proof: the proof of the second model, if the first is its source.
  func json(failed: JSONText? = nil, proof: Proof? = nil) -> JSONText {
    let difference = comparison.difference
    return .versioned([
      "matches": .bool(comparison.matches), "compared": .int(comparison.comparedCount),
      "structure": .list(difference.entries) { entry in
        .object([
          "change": .string(entry.change.rawValue), "part": .string(entry.part),
          "field": .string(entry.field), "before": .string(entry.before),
          "after": .string(entry.after),
        ])
      },
      "weights": .list(difference.weights) { weight in
        .object([
          "layer": .string(weight.layer), "parameter": .string(weight.parameter),
          "count": .int(weight.count), "countDifferent": .int(weight.countDifferent),
          "largestDifference": .number(weight.largestDifference),
          "largestValue": .number(weight.largestValue), "before": .string(weight.before),
          "after": .string(weight.after),
        ])
      }, "notRun": comparison.notRun.map { .string($0.description) } ?? .null,
      "runs": .list(comparison.runs) { run in
        .object(["input": .string(run.input), "comparison": ComparisonText(run.comparison).json()])
      },
      "summary": comparison.summary.map {
        SummaryText(summary: $0).json(failed: failed ?? .array([]))
      }
        ?? .null, "proof": proof.map { ProofText($0).json() } ?? .null,
    ])
  }
}
