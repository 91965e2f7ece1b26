import LibC
import TensorCore
import Verification

extension Report {
  /// A report with the curve of error against size, and the compression of each layer.
  ///
  /// - Parameter layers: column titles and rows of the table of layers.
  package init(
    title: String, facts: [(label: String, text: String)], points: [CompressionPoint],
    chosen: CompressionPoint, layers: (titles: [String], rows: [[String]])
  ) {
    self.init(title)
    let curve = CompressionCurve(points: points, chosen: chosen)
    add(.facts(facts))
    add(
      "Size and error",
      """
      <p>The relative error of the outputs against the size of the weights. The large mark is the \
      file that was written.</p>
      \(curve.chart)\(curve.pointTable)
      """)
    add("Layers", .table(layers.titles, layers.rows))
  }
}

private struct CompressionCurve {
  let points: [CompressionPoint]
  let chosen: CompressionPoint

  var pointTable: HTML {
    let hasClasses = points.contains { $0.agreement != nil }
    let rows = points.map { point -> HTML in
      let mark: HTML = point == chosen ? " class=\"chosen\"" : ""
      let cells =
        [
          groupedText(point.byteCount), number(point.largestError), number(point.relativeError),
          point.decibels,
        ] + (hasClasses ? [point.agreement.map { "\(number($0 * 100))%" } ?? ""] : [])
      // A line may break only between the parts of a label.
      let label = point.label.split(separator: ", ").map { "<span>\(String($0))</span>" as HTML }
      let last = label.dropFirst().reduce(label.first ?? "") { "\($0), \($1)" }
      return """
        <tr\(mark)>\(cells.map { "<td>\($0)</td>" as HTML }.joined())<td>\(last)</td></tr>
        """
    }
    return """
      <table>
      <tr><th>Bytes of weights</th><th>Largest error</th><th>Relative error</th><th>SNR</th>\
      \(hasClasses ? "<th>Same best class</th>" : "" as HTML)<th>Layers</th></tr>
      \(rows.lines())
      </table>
      """
  }

  /// The chart of size (horizontal) and relative error (vertical), both logarithmic; points without
  /// error are at the bottom.
  var chart: HTML {
    let (width, height, left, top) = (640.0, 300.0, 60.0, 12.0)
    let exponents = points.compactMap { point in
      point.relativeError > 0 && point.relativeError.isFinite ? log10(point.relativeError) : nil
    }
    let low = (exponents.min() ?? -1).rounded(.down)
    let high = max(low + 1, (exponents.max() ?? 0).rounded(.up))
    let sizes = points.map { log10(Double(max(1, $0.byteCount))) }
    let first = (sizes.min() ?? 0) - 0.05
    let last = max(first + 0.1, (sizes.max() ?? 1) + 0.05)
    func across(_ bytes: Double) -> Double {
      left + (log10(max(1, bytes)) - first) / (last - first) * width
    }
    func position(_ point: CompressionPoint) -> (x: String, y: String) {
      let error = point.relativeError
      let exponent = error > 0 ? (error.isFinite ? log10(error) : high) : low
      return (
        number(across(Double(point.byteCount)), digits: 6),
        number(top + height - (exponent - low) / (high - low) * height, digits: 6)
      )
    }
    let lines = stride(from: low, through: high, by: 1).map { exponent -> HTML in
      let y = top + height - (exponent - low) / (high - low) * height
      return """
        <line x1="\(left)" y1="\(number(y))" x2="\(left + width)" y2="\(number(y))" class="axis"/>\
        <text x="\(left - 8)" y="\(number(y + 4))" text-anchor="end">1e\(Int(exponent))</text>
        """
    }
    let ticks = Self.ticks(from: pow(10, first), to: pow(10, last)).map { bytes -> HTML in
      """
      <line x1="\(number(across(bytes)))" y1="\(top)" x2="\(number(across(bytes)))" \
      y2="\(top + height)" class="axis"/>\
      <text x="\(number(across(bytes)))" y="\(top + height + 18)" text-anchor="middle">\
      \(bytes < 1e6 ? "\(number(bytes / 1e3)) kB" : "\(number(bytes / 1e6)) MB")</text>
      """
    }
    let corners = points.map { point -> String in
      let (x, y) = position(point)
      return "\(x),\(y)"
    }
    let marks = points.map { point -> HTML in
      let (x, y) = position(point)
      let isChosen = point == chosen
      return """
        <circle cx="\(x)" cy="\(y)" r="\(isChosen ? 7 : 3.5)" \
        class="dot\(isChosen ? " chosen" : "")"><title>\(groupedText(point.byteCount)) bytes, \
        relative error \(number(point.relativeError))</title></circle>
        """
    }
    return """
      <svg width="\(left + width + 40)" height="\(top + height + 28)" role="img" \
      aria-label="Relative error of the outputs against bytes of weights">
      \((lines + ticks).lines())
      <polyline points="\(corners.joined(separator: " "))" class="curve"/>
      \(marks.lines())
      </svg>
      """
  }

  /// The values 1, 2 and 5 · 10ⁿ in an interval.
  private static func ticks(from first: Double, to last: Double) -> [Double] {
    let exponents = Int(log10(first).rounded(.down))...Int(log10(last).rounded(.up))
    return exponents.flatMap { exponent in [1.0, 2, 5].map { $0 * pow(10, Double(exponent)) } }
      .filter { (first...last).contains($0) }
  }
}
