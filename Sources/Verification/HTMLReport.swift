/// A comparison as a self-contained HTML page: no script, no network.
package struct HTMLReport: Sendable {
  package var title: String
  package var comparisons: [OutputComparison]
  /// What was compared and how.
  package var facts: [(label: String, text: String)]

  package init(
    title: String, comparisons: [OutputComparison], facts: [(label: String, text: String)] = []
  ) {
    self.title = title
    self.comparisons = comparisons
    self.facts = facts
  }

  package var html: String {
    let agree = comparisons.filter(\.agrees).count
    let verdict =
      agree == comparisons.count
      ? "<p class=\"good\">All \(agree) outputs agree.</p>"
      : "<p class=\"bad\">\(comparisons.count - agree) of \(comparisons.count) outputs differ.</p>"
    return HTMLPage(
      title: title, style: ".good { color: #17692f; } .bad { color: #a3161b; }",
      body: [verdict, table(facts), comparisons.map(section).joined(separator: "\n")]
    ).text
  }

  private func section(_ comparison: OutputComparison) -> String {
    let mark =
      comparison.agrees
      ? "<span class=\"good\">agrees</span>" : "<span class=\"bad\">differs</span>"
    var rows = [(label: "Shape", text: "\(comparison.actualShape)")]
    if comparison.actualShape != comparison.expectedShape {
      rows.append(("Expected shape", "\(comparison.expectedShape)"))
    }
    var chart = ""
    if let metrics = comparison.metrics {
      rows += metrics.rows
      chart = metrics.histogram.svg
    }
    if let classes = comparison.classes {
      rows.append(("Same best class", "\(number(classes.top1 * 100)) %"))
      rows.append(("Shared best \(classes.count)", "\(number(classes.topN * 100)) %"))
    }
    return "<h2>\(escaped(comparison.name)): \(mark)</h2>\n\(table(rows))\n\(chart)"
  }

  private func table(_ rows: [(label: String, text: String)]) -> String {
    let lines = rows.map { "<tr><th>\(escaped($0.label))</th><td>\(escaped($0.text))</td></tr>" }
    return lines.isEmpty ? "" : "<table>\n\(lines.joined(separator: "\n"))\n</table>"
  }
}

extension ErrorMetrics {
  fileprivate var rows: [(label: String, text: String)] {
    var rows = [
      (
        label: "Outside the tolerance",
        text: "\(countOutside) of \(count), |a − b| ≤ \(number(tolerance.absolute))"
          + " + \(number(tolerance.relative)) · |b|"
      ),
      ("Largest absolute error", number(largestAbsoluteError)),
      ("Largest relative error", number(largestRelativeError)),
      ("Mean error", number(meanError)),
      ("RMSE", number(rootMeanSquareError)),
      ("Cosine", number(cosine, digits: 9)),
      ("PSNR", "\(number(peakSignalToNoise)) dB"),
      ("SNR", "\(number(signalToNoise)) dB"),
    ]
    if let worst {
      rows.append(
        (
          "Worst element",
          "\(worst.index): \(number(worst.actual, digits: 9)), expected"
            + " \(number(worst.expected, digits: 9))"
        ))
    }
    return rows
  }
}

extension ErrorHistogram {
  /// Bars for the counts, with errors of 0 first.
  fileprivate var svg: String {
    let bars =
      [(label: "0", count: exact)]
      + zip(Self.exponents, counts).map { (label: "1e\($0)", count: $1) }
    let largest = max(bars.map(\.count).max() ?? 0, 1)
    let (step, height) = (48, 120)
    let drawn = bars.enumerated().map { index, bar in
      let size = bar.count == 0 ? 0 : max(1, bar.count * height / largest)
      let x = index * step
      let label =
        bar.count == 0 ? "" : "<text x=\"\(x)\" y=\"\(height - size + 12)\">\(bar.count)</text>"
      return """
        <rect x="\(x)" y="\(height - size + 16)" width="\(step - 6)" height="\(size)" fill="#4a78b5"/>\
        \(label)<text x="\(x)" y="\(height + 30)">\(bar.label)</text>
        """
    }
    return """
      <svg width="\(bars.count * step)" height="\(height + 36)" role="img" \
      aria-label="Absolute errors by power of ten">
      \(drawn.joined(separator: "\n"))
      </svg>
      """
  }
}
