import TensorCore

/// A layer as a row of the report.
package struct ReportedLayer: Sendable {
  package var name: String
  package var type: String
  package var shape: String
  package var parameterCount: Int
  /// The multiply-adds; nil if they are not counted.
  package var multiplyAdds: Int?
  /// The blobs it reads and writes.
  package var blobs: String
  package var fields: [(label: String, text: String)] = []
  package var weights: [ReportedWeight] = []

  package init(name: String, type: String, shape: String, parameterCount: Int, blobs: String) {
    (self.name, self.type, self.shape, self.blobs) = (name, type, shape, blobs)
    self.parameterCount = parameterCount
  }
}

/// A weight and the distribution of its values.
package struct ReportedWeight: Sendable {
  package var name: String
  package var shape: [Int]
  package var storage: String?
  package var distribution: ValueDistribution?

  package init(name: String, shape: [Int], storage: String?, distribution: ValueDistribution?) {
    (self.name, self.shape, self.storage, self.distribution) = (name, shape, storage, distribution)
  }

  /// The weight's name and shape.
  package var text: String { "\(name) \(shape.map(String.init).joined(separator: "×"))" }
}

extension Report {
  /// Adds one row per layer, with its fields and weights folded. A long table is folded, too.
  package mutating func add(_ heading: String, layers: [ReportedLayer]) {
    let rows = layers.enumerated().map { index, layer -> HTML in
      """
      <tr id="\(row)\(index)"><td><details><summary>\(layer.name)</summary>\(details(layer))\
      </details></td><td>\(layer.type)</td><td>\(layer.shape)</td>\
      <td class="number">\(groupedText(layer.parameterCount))</td>\
      <td class="number">\(layer.multiplyAdds.map { groupedText($0) } ?? "")</td></tr>
      """
    }
    add(
      heading,
      .folded(
        rows.count,
        """
        <table class="layers">
        <tr><th>layer</th><th>type</th><th>shape</th><th class="number">parameters</th>\
        <th class="number">multiply-adds</th></tr>
        \(rows.lines())</table>

        """))
  }

  private func details(_ layer: ReportedLayer) -> HTML {
    var html: HTML = "<p>\(layer.blobs)</p>"
    html.append(.facts(layer.fields))
    for weight in layer.weights {
      html.append("<p>\(weight.text)\(weight.storage.map { ", \($0)" } ?? "")</p>")
      if let distribution = weight.distribution { html.append(distribution.chart) }
    }
    return html
  }
}
