/// The text of `diff` about why outputs differ; its last lines are the cause and its remedy.
struct DiagnosisText {
  let diagnosis: Diagnosis
  /// Whether it was not requested, and therefore limited in time.
  var isLimited = false

  func text() -> String {
    // Causes with the same effect, such as two names for one way to resize, are one explanation.
    let explanations = diagnosis.explanations.reduce(into: [Diagnosis.Finding]()) { kept, next in
      if !kept.contains(where: { isSame($0, next) }) { kept.append(next) }
    }
    var text = "\n"
    if explanations.count > 1 {
      text += "each of these explains the difference:\n"
      text += explanations.map { "  \(cause($0))\n" }.joined()
    }
    if !explanations.isEmpty {
      text += "\(counted(diagnosis.excluded.count, "other cause")) excluded\n"
    } else if let best = diagnosis.best {
      text += "closest: \(cause(best))\n"
    }
    if diagnosis.untried > 0 {
      text += "\(counted(diagnosis.untried, "trial")) did not fit into the limit"
      text += isLimited ? "; --diagnose tries all\n" : "; see --budget\n"
    }
    guard let first = explanations.first else {
      return text + "cause: no known cause found (\(diagnosis.excluded.count) tried)\n"
        + "remedy: save what the framework's layers compute with `assay record`, and compare with --layers\n"
    }
    let remedies = first.causes.compactMap(\.remedy).map { Console.escaped($0) }
    return text + "cause: \(cause(first))\n"
      + (remedies.isEmpty ? "" : "remedy: \(remedies.joined(separator: "; "))\n")
  }

  private func isSame(_ first: Diagnosis.Finding, _ second: Diagnosis.Finding) -> Bool {
    first.error == second.error && first.causes.map(\.part) == second.causes.map(\.part)
  }

  private func cause(_ finding: Diagnosis.Finding) -> String {
    let error = { (value: Double) in numberText(value, digits: 2) }
    let same = diagnosis.explanations.filter { isSame($0, finding) }
    let summaries = (same.isEmpty ? [finding] : same).map {
      $0.causes.map { Console.escaped($0.summary) }.joined(separator: "; and ")
    }
    return summaries.joined(separator: ", or ")
      + ": relative RMSE \(error(diagnosis.error)) → \(error(finding.error))"
  }

  func json() -> JSONText {
    [
      "error": diagnosis.error, "explanations": diagnosis.explanations.map(json),
      "closest": diagnosis.best.map(json), "excluded": diagnosis.excluded.map(json),
      "untried": diagnosis.untried,
    ]
  }

  private func json(_ finding: Diagnosis.Finding) -> JSONText {
    [
      "causes": finding.causes.json {
        ["summary": $0.summary, "part": $0.part.rawValue, "remedy": $0.remedy]
      }, "error": finding.error, "agrees": finding.agrees,
    ]
  }
}
