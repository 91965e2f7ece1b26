/// The structure of an ONNX model, as `inspect` prints it.
struct ONNXText {
  let model: ONNXModel

  /// The sections with their titles, and the names and values in each.
  private var sections: [(title: String, rows: [(String, String)])] {
    let graph = model.graph ?? ONNXGraph()
    let counts = Dictionary(graph.nodes.map { ($0.type, 1) }, uniquingKeysWith: +)
    return [
      (
        "Model",
        [
          ("type", "ONNX"), ("opset", "\(model.opset)"), ("IR version", "\(model.irVersion)"),
          ("producer", "\(model.producerName) \(model.producerVersion)"),
          ("nodes", "\(graph.nodes.count)"), ("initializers", "\(graph.initializers.count)"),
        ]
      ),
      ("Inputs", graph.inputs.map { ($0.name, $0.text) }),
      ("Outputs", graph.outputs.map { ($0.name, $0.text) }),
      ("Metadata", model.metadata.map { ($0.key, $0.value) }),
      (
        "Operators",
        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, "\($0.value)") }
      ),
    ]
  }

  var text: String {
    sections.filter { !$0.rows.isEmpty }.map { section in
      section.title + "\n"
        + TextTable(["", ""], indent: 2, rows: section.rows.map { [$0.0, $0.1] }).text
    }.joined(separator: "\n")
  }
}
