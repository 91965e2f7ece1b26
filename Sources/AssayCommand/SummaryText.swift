/// The text for the errors of many inputs.
struct SummaryText {
  let summary: ComparisonSummary

  private static let shares = [0.99, 0.9, 0.5]

  func text() -> String {
    var text = summary.outputs.map(outputText).joined()
    for name in summary.notCompared {
      text += "\(Console.escaped(name))  not compared, only one of the models has it\n"
    }
    if summary.worst.contains(where: { $0.error > 0 }) { text += "worst inputs\n" + worstTable }
    let differing = summary.count - summary.countAgreeing
    return text
      + (differing == 0
        ? "all \(groupedText(summary.count)) inputs agree within tolerance\n"
        : "\(groupedText(differing)) of \(groupedText(summary.count)) inputs differ\n")
  }

  private func outputText(_ output: OutputSummary) -> String {
    var text =
      "\(Console.escaped(output.name))  \(groupedText(output.countAgreeing)) of "
      + "\(groupedText(output.count)) inputs agree\n"
    func row(_ name: String, _ value: String) { text += "  \(name.padded(to: 26)) \(value)\n" }
    func number(_ value: Double) -> String { numberText(value, digits: 6) }
    if output.countMisshapen > 0 { row("of another shape", groupedText(output.countMisshapen)) }
    row("largest absolute error", number(output.largestError))
    for share in Self.shares {
      row(
        "of \(fixedText(100 * share, decimals: 0))% of the inputs",
        "at most " + number(output.percentile(share)))
    }
    row("mean of the inputs", number(output.meanLargestError))
    row("mean error", number(output.meanError))
    row("PSNR", Self.decibels(output.peakSignalToNoise))
    if let agreement = output.agreement {
      row("same best class", Self.percent(agreement.top1))
      if output.topCount > 1 {
        row("same \(output.topCount) best classes", Self.percent(agreement.topN))
      }
    }
    return text
  }

  private var worstTable: String { Self.worstColumns.table(summary.worst, indent: 2) }

  private static var worstColumns: [Column<ComparisonSummary.Case>] {
    [
      Column("", "input") { $0.input }, Column("", "output") { $0.output },
      Column(nil, "agrees") { $0.agrees }, Column("", "largestAbsoluteError") { $0.error },
      Column("", nil) { $0.agrees ? "agrees" : "DIFFERS" },
    ]
  }

  /// How compression changes the outputs: one row per output.
  var changeTable: String {
    let hasClasses = summary.outputs.contains { $0.agreement != nil }
    let top = summary.outputs.map(\.topCount).max() ?? 0
    var columns: [Column<OutputSummary>] = [
      Column("output", nil) { $0.name },
      Column("largest error", nil, digits: 4) { $0.largestError },
      Column("mean error", nil, digits: 4) { $0.meanError },
      Column(">PSNR", nil) { Self.decibels($0.peakSignalToNoise) },
    ]
    if hasClasses {
      columns.append(Column(">same best class", nil) { Self.percent($0.agreement?.top1) })
    }
    if hasClasses, top > 1 {
      columns.append(Column(">same \(top) best", nil) { Self.percent($0.agreement?.topN) })
    }
    return "change of the outputs on \(groupedText(summary.count)) "
      + "\(summary.count == 1 ? "input" : "inputs")\n" + columns.table(summary.outputs)
  }

  static func decibels(_ value: Double) -> String {
    value == .infinity ? "infinite" : fixedText(value, decimals: 1) + " dB"
  }

  static func percent(_ share: Double?) -> String {
    share.map { fixedText(100 * $0, decimals: 2) + "%" } ?? ""
  }

  var outputsJSON: JSONText {
    summary.outputs.json { output in
      let start: JSONText = [
        "name": output.name, "inputs": output.count, "agreeing": output.countAgreeing,
        "largestAbsoluteError": output.largestError, "meanLargestError": output.meanLargestError,
      ]
      let percentiles = JSONText.members(
        Self.shares.reversed().map {
          ("percentile\(fixedText(100 * $0, decimals: 0))", output.percentile($0).json)
        })
      return start + percentiles + [
        "meanError": output.meanError, "rmse": output.rootMeanSquareError,
        "psnr": output.peakSignalToNoise, "top1": (output.agreement?.top1).ifPresent,
        "topN": (output.agreement?.topN).ifPresent,
        "topCount": output.agreement.map { _ in output.topCount }.ifPresent,
      ]
    }
  }

  func json(failed: JSONText) -> JSONText {
    .versioned([
      "matches": summary.matches, "inputs": summary.count, "agreeing": summary.countAgreeing,
      "failed": failed, "outputs": outputsJSON, "notCompared": summary.notCompared,
      "worst": Self.worstColumns.json(summary.worst),
    ])
  }
}
