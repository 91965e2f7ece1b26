import Verification

extension Report {
  /// Adds the overall result, and a section for each output.
  package mutating func add(_ comparisons: [OutputComparison]) {
    let agree = comparisons.filter(\.agrees).count
    add(
      agree == comparisons.count
        ? "<p class=\"good\">\(agree == 1 ? "The output agrees." : "All \(agree) outputs agree.")</p>"
        : "<p class=\"bad\">\(comparisons.count - agree) of \(comparisons.count) outputs differ.</p>"
    )
    for comparison in comparisons { add(section(comparison)) }
  }

  private func section(_ comparison: OutputComparison) -> HTML {
    let mark: HTML =
      comparison.agrees
      ? "<span class=\"good\">agrees</span>" : "<span class=\"bad\">differs</span>"
    var rows = [(label: "Shape", text: "\(comparison.actualShape)")]
    if comparison.actualShape != comparison.expectedShape {
      rows.append(("Expected shape", "\(comparison.expectedShape)"))
    }
    var chart: HTML = ""
    if let metrics = comparison.metrics {
      rows += metrics.rows
      chart = metrics.histogram.chart
    }
    if let classes = comparison.classes {
      rows.append(("Same best class", "\(number(classes.top1 * 100))%"))
      rows.append(("Shared best \(classes.count)", "\(number(classes.topN * 100))%"))
    }
    return """
      <section class="text">
      <h2>\(comparison.name): \(mark)</h2>
      \(HTML.facts(rows))\(chart)
      </section>
      """
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
  /// Bars for the counts; errors of 0 come first.
  fileprivate var chart: HTML {
    let bars =
      [(label: "0", count: exact)]
      + zip(Self.exponents, counts).map { (label: "1e\($0)", count: $1) }
    let largest = max(bars.map(\.count).max() ?? 0, 1)
    let (step, height) = (48, 120)
    let drawn = bars.enumerated().map { index, bar -> HTML in
      let size = bar.count == 0 ? 0 : max(1, bar.count * height / largest)
      let x = index * step
      let label: HTML =
        bar.count == 0 ? "" : "<text x=\"\(x)\" y=\"\(height - size + 12)\">\(bar.count)</text>"
      return """
        <rect class="bar" x="\(x)" y="\(height - size + 16)" width="\(step - 6)" height="\(size)"/>\
        \(label)<text x="\(x)" y="\(height + 30)">\(bar.label)</text>
        """
    }
    return """
      <svg width="\(bars.count * step)" height="\(height + 36)" role="img" \
      aria-label="Absolute errors by power of ten">
      \(drawn.lines())</svg>
      """
  }
}
