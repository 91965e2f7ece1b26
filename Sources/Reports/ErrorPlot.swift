import LibC

/// The errors along a network: the error of each blob, in the order of computation, and the part
/// that its own layer adds.
package struct ErrorPlot: Sendable {
  /// The largest absolute error of a blob, relative to its largest expected value; the error of its
  /// layer on the expected inputs, or nil if these are unknown; and whether the blob is within its
  /// tolerance.
  package typealias Point = (name: String, error: Double, own: Double?, agrees: Bool)

  package var points: [Point]

  package init(_ points: [Point]) { self.points = points }

  /// The errors on a logarithmic axis from 10⁻⁹ to 10.
  var chart: HTML {
    let (left, top, height, low, high) = (48.0, 10.0, 240.0, -9.0, 1.0)
    let step = min(24, max(4, 860 / Double(max(1, points.count))))
    let width = step * Double(points.count)
    func y(_ error: Double) -> Double {
      let exponent = error > 0 ? (error.isFinite ? log10(error) : high) : low
      return top + height * (1 - (min(max(exponent, low), high) - low) / (high - low))
    }
    func x(_ index: Int) -> Double { left + step * (Double(index) + 0.5) }
    let lines = stride(from: low, through: high, by: 1).map { exponent -> HTML in
      let y = top + height * (1 - (exponent - low) / (high - low))
      return """
        <line class="axis" x1="\(left)" y1="\(y)" x2="\(left + width)" y2="\(y)"/>\
        <text x="\(left - 6)" y="\(y + 4)" text-anchor="end">1e\(Int(exponent))</text>
        """
    }
    let own = points.enumerated().compactMap { index, point -> HTML? in
      guard let own = point.own else { return nil }
      return """
        <rect class="other" x="\(x(index) - step * 0.35)" y="\(y(own))" width="\(step * 0.7)" \
        height="\(top + height - y(own))"><title>\(point.name): the layer adds \(number(own))</title></rect>
        """
    }
    let corners = points.indices.map {
      "\(number(x($0), digits: 6)),\(number(y(points[$0].error), digits: 6))"
    }
    let dots = points.enumerated().map { index, point -> HTML in
      """
      <circle class="dot\(point.agrees ? "" : " chosen")" cx="\(x(index))" cy="\(y(point.error))" r="3.5">\
      <title>\(point.name): \(number(point.error))</title></circle>
      """
    }
    return """
      <p><span class="mark">●</span> the blob's largest error, relative to its largest \
      expected value; <span class="bad">●</span> outside the tolerance; \
      <span class="own">■</span> what its own layer adds, given the expected inputs.</p>
      <svg width="\(left + width + 8)" height="\(top + height + 8)" role="img" \
      aria-label="Relative errors of the blobs, in the order of computation">
      \(lines.lines())\(own.lines())<polyline class="curve" points="\(corners.joined(separator: " "))"/>
      \(dots.lines())</svg>

      """
  }
}

extension Report {
  package mutating func add(_ heading: String, errors: ErrorPlot) { add(heading, errors.chart) }
}
