/// The output of `inspect`.
struct InspectionText {
  let model: Model
  let inspection: Inspection
  let customLayers: CustomLayerRegistry

  init(_ model: Model, customLayers: CustomLayerRegistry) {
    self.model = model
    self.customLayers = customLayers
    inspection = Inspection(model, customLayers: customLayers)
  }

  func text() -> String {
    var text = section("Model", modelRows())
    text += section("Inputs", (model.description?.input ?? []).map(featureRow))
    text += section("Outputs", (model.description?.output ?? []).map(featureRow))
    text += section("Preprocessing", preprocessingRows())
    text += section("Metadata", shownMetadata)
    for function in ProgramSummary(model)?.functions ?? [] { text += functionText(function) }
    if !inspection.layers.isEmpty { text += "Layers\n" + layerTable() + "\n" }
    text += section("Custom layers", customRows())
    text += section("Totals", totalRows())
    for (index, member) in model.pipelineModels.enumerated() {
      text += "── model \(Console.escaped(model.pipelineName(index))) of the pipeline\n\n"
      text += InspectionText(member, customLayers: customLayers).text() + "\n"
    }
    return text.hasSuffix("\n\n") ? String(text.dropLast()) : text
  }

  /// All names and values except those of single layers.
  var facts: [(String, String)] {
    modelRows() + (model.description?.input ?? []).map(featureRow).map { ("input " + $0.0, $0.1) }
      + (model.description?.output ?? []).map(featureRow).map { ("output " + $0.0, $0.1) }
      + preprocessingRows().map { ("preprocessing of " + $0.0, $0.1) } + totalRows()
      + customRows().map { ("custom layer " + $0.0, $0.1) } + shownMetadata
  }

  private func functionText(_ function: ProgramSummary.Function) -> String {
    func list(_ values: [(name: String, type: String)]) -> String {
      values.isEmpty ? "nothing" : values.map { "\($0.name): \($0.type)" }.joined(separator: ", ")
    }
    var text = section(
      "Function \(Console.escaped(function.name))",
      [
        ("operations of", function.opset), ("takes", list(function.inputs)),
        ("gives", list(function.outputs)), ("constants", "\(function.constants)"),
      ])
    let table = TextTable(
      ["operation", ">count", ""], indent: 2,
      rows: function.operations.map { [$0.name, "\($0.count)", $0.runs ? "" : "not supported"] })
    if !function.operations.isEmpty { text += table.text + "\n" }
    return text
  }

  private func section(_ title: String, _ rows: [(String, String)]) -> String {
    rows.isEmpty ? "" : "\(title)\n\(Self.lines(rows, indent: 2, width: Terminal.outputWidth))\n"
  }

  /// Names and values, one per line, or wrapped if too long.
  static func lines(_ rows: [(String, String)], indent: Int, width: Int?) -> String {
    let column = min(32, rows.map { Console.escaped($0.0).count }.max() ?? 0)
    return rows.map { name, value in
      let start =
        String(repeating: " ", count: indent) + Console.escaped(name).padded(to: column) + "  "
      let text = Console.escaped(value)
        .wrapped(to: width, indent: indent + column + 2, column: start.count)
      return (start + text).trimmedRight() + "\n"
    }.joined()
  }

  private func modelRows() -> [(String, String)] {
    var rows = [("type", model.typeName), ("specification version", versionText)]
    if model.isUpdatable { rows.append(("updatable", "yes")) }
    // An ML Program has its class labels in its last operation.
    let isClassifier = model.description?.predictedFeatureName.isEmpty == false
    let program = isClassifier ? try? model.programNetwork()?.model : nil
    if let labels = model.classLabels ?? program?.classLabels {
      let strings = labels.strings
      let shown = strings.prefix(3).joined(separator: ", ") + (strings.count > 3 ? ", …" : "")
      rows.append(("class labels", "\(strings.count): \(shown)"))
    }
    return rows
  }

  private var versionText: String {
    "\(model.specificationVersion)" + (model.oldestSystem.map { " (\($0) and later)" } ?? "")
  }

  private func featureRow(_ feature: FeatureDescription) -> (String, String) {
    (feature.name, FeatureText(feature: feature, model: model).text)
  }

  func preprocessingRows() -> [(String, String)] {
    (model.neuralNetwork?.preprocessing ?? []).map { item in
      let name = item.featureName.isEmpty ? "first image" : item.featureName
      return (name, model.preprocessingText(item) ?? "none")
    }
  }

  /// Metadata without source layouts: features show theirs, and those of inner blobs serve `diff`.
  private var shownMetadata: [(String, String)] {
    Self.metadataRows(model).filter { !$0.0.hasPrefix(SourceLayout.blobKey) }
  }

  static func metadataRows(_ model: Model) -> [(String, String)] {
    guard let metadata = model.description?.metadata else { return [] }
    let fixed = [
      ("description", metadata.shortDescription), ("author", metadata.author),
      ("license", metadata.license), ("version", metadata.versionString),
    ].filter { !$0.1.isEmpty }
    return fixed + metadata.userDefined.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Two lines per layer: sizes in columns; then the blobs that it reads and writes, and its
  /// fields.
  private func layerTable() -> String {
    var table = TextTable(["name", "type", "shape", ">parameters", ">multiply-adds"], indent: 2)
    for layer in inspection.layers {
      let attributes = AttributeText.text(layer.attributes)
      let blobs = Self.blobText(layer)
      table.add(
        [
          layer.name, layer.type, Self.shapeText(layer), groupedText(layer.parameterCount),
          groupedText(layer.multiplyAdds),
        ], note: Console.escaped(attributes.isEmpty ? blobs : "\(blobs): \(attributes)"))
    }
    return table.text
  }

  /// The blobs that a layer reads and writes: `a, b → c`.
  static func blobText(_ layer: Inspection.Layer) -> String {
    func list(_ names: [String]) -> String {
      names.isEmpty ? "nothing" : names.joined(separator: ", ")
    }
    return "\(list(layer.inputs)) → \(list(layer.outputs))"
  }

  static func shapeText(_ layer: Inspection.Layer) -> String {
    let output = layer.outputShapes.map(shapeText).joined(separator: ", ")
    let inputs = Set(layer.inputShapes.map(shapeText))
    guard inputs.count == 1, let input = inputs.first, input != output else { return output }
    return "\(input) → \(output)"
  }

  /// The shape with channels last, as in most sources: `400×400×64`, `10`.
  static func shapeText(_ shape: [Int]?) -> String {
    guard let shape else { return "?" }
    guard shape.count == 5 else { return "[\(shape.map(String.init).joined(separator: ", "))]" }
    var sizes = shape[3] == 1 && shape[4] == 1 ? [shape[2]] : [shape[3], shape[4], shape[2]]
    if shape[0] > 1 || shape[1] > 1 { sizes = [shape[0], shape[1]] + sizes }
    return sizes.map(String.init).joined(separator: "×")
  }

  private func customRows() -> [(String, String)] {
    inspection.customClasses.map { custom in
      var text = custom.className.isEmpty ? "no class name" : "class \(custom.className)"
      text += " (\(provider(custom)))"
      if !custom.description.isEmpty { text += ", \"\(custom.description)\"" }
      for parameter in custom.parameters { text += ", \(parameter.name) = \(parameter.value)" }
      if !custom.weightCounts.isEmpty {
        text += ", weights " + custom.weightCounts.map(groupedText).joined(separator: " + ")
      }
      return (custom.layer, text)
    }
  }

  private func provider(_ custom: Inspection.CustomClass) -> String {
    if let plugin = custom.plugin { return "from \(plugin)" }
    return custom.isProvided ? "built in" : "not built in"
  }

  private func totalRows() -> [(String, String)] {
    guard !inspection.layers.isEmpty else { return [] }
    var rows = [("layers", groupedText(inspection.layers.count))]
    if !inspection.customClasses.isEmpty {
      rows.append(("custom layers", groupedText(inspection.customClasses.count)))
    }
    var parameters = groupedText(inspection.parameterCount)
    if let trainable = inspection.trainableCount {
      parameters += ", \(groupedText(trainable)) of them trainable"
    }
    rows.append(("parameters", parameters))
    rows.append(("multiply-adds", groupedText(inspection.multiplyAdds)))
    if !inspection.weightTypes.isEmpty {
      rows.append(("weights", inspection.weightTypes.joined(separator: ", ")))
    }
    return rows
  }
}
