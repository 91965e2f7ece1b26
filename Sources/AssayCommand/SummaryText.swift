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
    if output.countMisshapen > 0 {
      row("of another shape", groupedText(output.countMisshapen))
    }
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

  private var worstTable: String {
    var table = TextTable([("", .left), ("", .left), ("", .right), ("", .left)], indent: 2)
    for worst in summary.worst {
      table.add([
        Console.escaped(worst.input), Console.escaped(worst.output),
        numberText(worst.error, digits: 6), worst.agrees ? "agrees" : "DIFFERS",
      ])
    }
    return table.text
  }

  /// How compression changes the outputs: one row per output.
  var changeTable: String {
    let hasClasses = summary.outputs.contains { $0.agreement != nil }
    let top = summary.outputs.map(\.topCount).max() ?? 0
    let hasTop = hasClasses && top > 1
    var table = TextTable(
      [
        ("output", .left), ("largest error", .right), ("mean error", .right), ("PSNR", .right),
      ] + (hasClasses ? [("same best class", .right)] : [])
        + (hasTop ? [("same \(top) best", .right)] : []))
    for output in summary.outputs {
      let agreement = output.agreement
      table.add(
        [
          Console.escaped(output.name), numberText(output.largestError, digits: 4),
          numberText(output.meanError, digits: 4), Self.decibels(output.peakSignalToNoise),
        ] + (hasClasses ? [agreement.map { Self.percent($0.top1) } ?? ""] : [])
          + (hasTop ? [agreement.map { Self.percent($0.topN) } ?? ""] : []))
    }
    return "change of the outputs on \(groupedText(summary.count)) "
      + "\(summary.count == 1 ? "input" : "inputs")\n" + table.text
  }

  static func decibels(_ value: Double) -> String {
    value == .infinity ? "infinite" : fixedText(value, decimals: 1) + " dB"
  }

  static func percent(_ share: Double) -> String { fixedText(100 * share, decimals: 2) + "%" }

  var outputsJSON: JSONText {
    .list(summary.outputs) { output in
      .members(
        [
          ("name", .string(output.name)), ("inputs", .int(output.count)),
          ("agreeing", .int(output.countAgreeing)),
          ("largestAbsoluteError", .number(output.largestError)),
          ("meanLargestError", .number(output.meanLargestError)),
        ]
          + Self.shares.reversed().map {
            ("percentile\(fixedText(100 * $0, decimals: 0))", .number(output.percentile($0)))
          } + [
            ("meanError", .number(output.meanError)),
            ("rmse", .number(output.rootMeanSquareError)),
            ("psnr", .number(output.peakSignalToNoise)),
          ]
          + (output.agreement.map {
            [
              ("top1", .number($0.top1)), ("topN", .number($0.topN)),
              ("topCount", .int(output.topCount)),
            ]
          } ?? []))
    }
  }

  func json(failed: JSONText) -> JSONText {
    .versioned([
      "matches": .bool(summary.matches), "inputs": .int(summary.count),
      "agreeing": .int(summary.countAgreeing), "failed": failed, "outputs": outputsJSON,
      "notCompared": .array(summary.notCompared.map { .string($0) }),
      "worst": .list(summary.worst) {
        .object([
          "input": .string($0.input), "output": .string($0.output), "agrees": .bool($0.agrees),
          "largestAbsoluteError": .number($0.error),
        ])
      },
    ])
  }
}
