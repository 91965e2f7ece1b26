/// The summary that `convert` prints on a terminal.
struct ConversionSummary {
  let model: Model
  /// The files that were read.
  let files: [String]
  let customLayers: CustomLayerRegistry
  /// The written model, unless it is ONNX.
  var written: Model?
  /// The result of `--check` on these inputs.
  var check: (comparison: Comparison, inputs: [String])?

  /// Names and values, one per line.
  func text(width: Int?) -> String {
    InspectionText.lines(rows.map { ($0.label, $0.text) }, indent: 0, width: width)
  }

  var rows: [(label: String, text: String)] {
    let inspection = Inspection(model, customLayers: customLayers)
    let source = model.description?.metadata?.userDefined["assay.source"]
    var rows: [(label: String, text: String)] = [
      ("read", files.joined(separator: ", ") + (source.map { ": \($0)" } ?? "")),
      (
        "network",
        "\(counted(inspection.layers.count, "layer")), "
          + counted(inspection.parameterCount, "parameter")
      ),
    ]
    let preprocessing = InspectionText(model, customLayers: customLayers).preprocessingRows()
    for input in model.description?.input ?? [] {
      let steps = preprocessing.filter { $0.0 == input.name }.map { ", \($0.1)" }.joined()
      rows.append(("input", "\(input.name): \(text(of: input))\(steps)"))
    }
    for output in model.description?.output ?? [] {
      rows.append(("output", "\(output.name): \(text(of: output))"))
    }
    if let labels = model.classLabels?.strings {
      let more = labels.count > 3 ? ", …" : ""
      rows.append(
        ("classes", "\(labels.count): \(labels.prefix(3).joined(separator: ", "))\(more)"))
    }
    rows += classRows(inspection.customClasses)
    if let written, let system = written.oldestSystem {
      rows.append(
        ("runs on", "\(system) and later (specification version \(written.specificationVersion))"))
    }
    if let check {
      rows.append(
        (
          "checked",
          "on \(check.inputs.joined(separator: ", ")): " + Self.verdict(check.comparison)
        ))
    }
    return rows
  }

  private func text(of feature: FeatureDescription) -> String {
    FeatureText(feature: feature, model: model).text
  }

  /// A row for each class that the app must provide.
  private func classRows(_ layers: [Inspection.CustomClass]) -> [(String, String)] {
    Dictionary(grouping: layers, by: \.className).sorted { $0.key < $1.key }.map { name, layers in
      let position =
        layers.count == 1 ? "layer '\(layers[0].layer)'" : counted(layers.count, "layer")
      return ("needs", "class \(name) in the app, for \(position)")
    }
  }

  /// A verdict such as `agrees: largest error 1e-09, same 5 best classes`.
  static func verdict(_ comparison: Comparison) -> String {
    let largest = comparison.outputs.compactMap { $0.metrics?.largestAbsoluteError }.max() ?? 0
    var text = comparison.matches ? "agrees" : "differs"
    text += ": largest error \(numberText(largest, digits: 2))"
    let classes = comparison.outputs.compactMap(\.classes)
    if let first = classes.first, classes.allSatisfy({ $0.topN == 1 }) {
      text += first.count == 1 ? ", same best class" : ", same \(first.count) best classes"
    }
    return text
  }
}
