import Assay

/// The output of `diff --diagnose`.
struct DiagnosisText {
  let diagnosis: Diagnosis

  init(_ diagnosis: Diagnosis) { self.diagnosis = diagnosis }

  func text() -> String {
    var text = "\n"
    let explanations = diagnosis.explanations
    if explanations.isEmpty {
      text +=
        "none of \(counted(diagnosis.excluded.count, "usual cause")) explains the difference\n"
      if let best = diagnosis.best { text += "closest:\n" + row(best) }
      text +=
        "save what the framework's layers compute with `assay record`, and compare with --layers\n"
    } else {
      text +=
        explanations.count == 1
        ? "the difference is explained:\n" : "each of these explains the difference:\n"
      text += explanations.map(row).joined()
      text += "\(counted(diagnosis.excluded.count, "other cause")) excluded\n"
    }
    if diagnosis.untried > 0 {
      text +=
        "\(counted(diagnosis.untried, "trial")) did not fit into the time limit; see --budget\n"
    }
    return text
  }

  private func row(_ finding: Diagnosis.Finding) -> String {
    let error = { (value: Double) in numberText(value, digits: 2) }
    var text =
      "  " + finding.causes.map { Console.escaped($0.summary) }.joined(separator: "; and ")
      + ": error \(error(diagnosis.error)) → \(error(finding.error))\n"
    for remedy in finding.causes.compactMap(\.remedy) {
      text += "    \(Console.escaped(remedy))\n"
    }
    return text
  }

  func json() -> JSONText {
    .object([
      ("error", .number(diagnosis.error)),
      ("explanations", .array(diagnosis.explanations.map(json))),
      ("closest", diagnosis.best.map(json) ?? .null),
      ("excluded", .array(diagnosis.excluded.map(json))),
      ("untried", .int(diagnosis.untried)),
    ])
  }

  private func json(_ finding: Diagnosis.Finding) -> JSONText {
    .object([
      (
        "causes",
        .array(
          finding.causes.map {
            .object([
              ("summary", .string($0.summary)), ("part", .string($0.part.rawValue)),
              ("remedy", .optional($0.remedy)),
            ])
          })
      ),
      ("error", .number(finding.error)), ("agrees", .bool(finding.agrees)),
    ])
  }
}
