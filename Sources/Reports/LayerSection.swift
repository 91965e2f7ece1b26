import TensorCore

/// A layer, as its row in the report shows it.
package struct ReportedLayer: Sendable {
  package var name: String
  package var type: String
  package var shape: String
  package var parameterCount: Int
  package var multiplyAdds: Int
  /// The blobs it reads and writes, and its fields.
  package var blobs: String
  package var fields: String
  package var weights: [ReportedWeight]
  /// The source layer, and why it became this layer.
  package var origin: String?

  package init(
    name: String, type: String, shape: String, parameterCount: Int, multiplyAdds: Int,
    blobs: String, fields: String, weights: [ReportedWeight], origin: String? = nil
  ) {
    self.name = name
    self.type = type
    self.shape = shape
    self.parameterCount = parameterCount
    self.multiplyAdds = multiplyAdds
    self.blobs = blobs
    self.fields = fields
    self.weights = weights
    self.origin = origin
  }
}

/// A weight and the distribution of its values.
package struct ReportedWeight: Sendable {
  package var name: String
  package var shape: [Int]
  package var storage: String?
  package var distribution: ValueDistribution?

  package init(
    name: String, shape: [Int], storage: String?, distribution: ValueDistribution?
  ) {
    self.name = name
    self.shape = shape
    self.storage = storage
    self.distribution = distribution
  }
}

extension Report {
  /// One row per layer; its fields and weights unfold.
  package mutating func add(_ heading: String, layers: [ReportedLayer]) {
    let rows = layers.enumerated().map { index, layer -> HTML in
      """
      <tr id="layer-\(index)"><td><details><summary>\(layer.name)</summary>\(details(layer))\
      </details></td><td>\(layer.type)</td><td>\(layer.shape)</td>\
      <td class="number">\(groupedText(layer.parameterCount))</td>\
      <td class="number">\(groupedText(layer.multiplyAdds))</td></tr>
      """
    }
    add(
      heading,
      """
      <table>
      <tr><th>layer</th><th>type</th><th>shape</th><th class="number">parameters</th>\
      <th class="number">multiply-adds</th></tr>
      \(rows.lines())</table>

      """)
  }

  private func details(_ layer: ReportedLayer) -> HTML {
    var html: HTML = "<p>\(layer.blobs)</p>"
    if let origin = layer.origin { html.append("<p>\(origin)</p>") }
    if !layer.fields.isEmpty { html.append("<p class=\"faint\">\(layer.fields)</p>") }
    for weight in layer.weights {
      let shape = weight.shape.map(String.init).joined(separator: "×")
      html.append("<p>\(weight.name) \(shape)\(weight.storage.map { ", \($0)" } ?? "")</p>")
      if let distribution = weight.distribution { html.append(distribution.chart) }
    }
    return html
  }
}
