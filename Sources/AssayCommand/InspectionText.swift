import Assay

/// What `inspect` prints.
struct InspectionText {
  let model: Model
  private let inspection: Inspection
  private let customLayers: CustomLayerRegistry

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
    text += section("Metadata", metadataRows())
    if !inspection.layers.isEmpty { text += "Layers\n" + layerTable() + "\n" }
    text += section("Custom layers", customRows())
    text += section("Totals", totalRows())
    for (index, member) in model.pipelineModels.enumerated() {
      text += "── model \(Console.escaped(model.pipelineName(index))) of the pipeline\n\n"
      text += InspectionText(member, customLayers: customLayers).text() + "\n"
    }
    return text.hasSuffix("\n\n") ? String(text.dropLast()) : text
  }

  private func section(_ title: String, _ rows: [(String, String)]) -> String {
    guard !rows.isEmpty else { return "" }
    let width = min(32, rows.map { Console.escaped($0.0).count }.max() ?? 0)
    return title + "\n"
      + rows.map {
        "  \(Console.escaped($0.0).padded(to: width))  \(Console.escaped($0.1))".trimmedRight()
          + "\n"
      }.joined() + "\n"
  }

  private func modelRows() -> [(String, String)] {
    var rows = [
      ("type", model.typeName),
      ("specification version", versionText),
    ]
    if model.isUpdatable { rows.append(("updatable", "yes")) }
    if let labels = model.classLabels {
      let strings = labels.strings
      let shown = strings.prefix(3).joined(separator: ", ") + (strings.count > 3 ? ", …" : "")
      rows.append(("class labels", "\(strings.count): \(shown)"))
    }
    return rows
  }

  private var versionText: String {
    let version = model.specificationVersion
    return "\(version)"
      + (SpecificationVersion.oldestSystem(version).map { " (\($0) and later)" } ?? "")
  }

  private func featureRow(_ feature: FeatureDescription) -> (String, String) {
    let layout = SourceLayout(of: feature.name, in: model).map { ", \($0.letters) in the source" }
    let optional = feature.type?.isOptional == true ? ", optional" : ""
    let description = feature.shortDescription.isEmpty ? "" : ": \(feature.shortDescription)"
    return (feature.name, typeText(feature.type) + (layout ?? "") + optional + description)
  }

  private func typeText(_ type: FeatureType?) -> String {
    switch type?.kind {
    case .int64: return "int64"
    case .double: return "double"
    case .string: return "string"
    case .image(let image):
      let flexible = image.flexibility == nil ? "" : ", flexible size"
      return "image \(image.width)×\(image.height) \(colorText(image.colorSpace))\(flexible)"
    case .multiArray(let array):
      let flexible = array.flexibility == nil ? "" : ", flexible shape"
      let shape = array.shape.map(String.init).joined(separator: "×")
      return
        "array \(shape.isEmpty ? "of any shape" : shape) \(dataTypeText(array.dataType))\(flexible)"
    case .dictionary(let key): return key == .int64 ? "dictionary by int64" : "dictionary by string"
    case .opaque(let message): return message.name ?? "type \(message.field)"
    case nil: return "no type"
    }
  }

  private func colorText(_ color: ImageFeatureType.ColorSpace) -> String {
    switch color {
    case .invalid: "no color space"
    case .grayscale: "grayscale"
    case .rgb: "RGB"
    case .bgr: "BGR"
    case .grayscaleFloat16: "grayscale float16"
    }
  }

  private func dataTypeText(_ type: ArrayFeatureType.DataType) -> String {
    switch type {
    case .invalid: "no data type"
    case .float16: "float16"
    case .float32: "float32"
    case .double: "double"
    case .int8: "int8"
    case .int32: "int32"
    }
  }

  private func preprocessingRows() -> [(String, String)] {
    (model.neuralNetwork?.preprocessing ?? []).map { item in
      let name = item.featureName.isEmpty ? "first image" : item.featureName
      switch item.preprocessor {
      case .scaler(let scaler):
        func number(_ value: Float) -> String { numberText(Double(value), digits: 7) }
        return (
          name,
          "x · \(number(scaler.channelScale)) + bias, red \(number(scaler.redBias)), "
            + "green \(number(scaler.greenBias)), blue \(number(scaler.blueBias)), "
            + "gray \(number(scaler.grayBias))"
        )
      case .meanImage(let mean): return (name, "x − mean image of \(mean.meanImage.count) values")
      case nil: return (name, "none")
      }
    }
  }

  private func metadataRows() -> [(String, String)] {
    guard let metadata = model.description?.metadata else { return [] }
    let fixed = [
      ("description", metadata.shortDescription), ("author", metadata.author),
      ("license", metadata.license), ("version", metadata.versionString),
    ].filter { !$0.1.isEmpty }
    return fixed + metadata.userDefined.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  private func layerTable() -> String {
    let layers = inspection.layers
    let nameWidth = min(40, layers.map { Console.escaped($0.name).count }.max() ?? 0)
    let typeWidth = min(24, layers.map { Console.escaped($0.type).count }.max() ?? 0)
    let shapes = layers.map(shapeText)
    let shapeWidth = max(6, shapes.map(\.count).max() ?? 0)
    var text =
      "  " + "name".padded(to: nameWidth) + "  " + "type".padded(to: typeWidth) + "  "
      + "shape".padded(to: shapeWidth) + "    parameters  multiply-adds\n"
    for (layer, shape) in zip(layers, shapes) {
      text += "  " + Console.escaped(layer.name).padded(to: nameWidth)
      text += "  " + Console.escaped(layer.type).padded(to: typeWidth)
      text += "  " + shape.padded(to: shapeWidth)
      text += groupedText(layer.parameterCount).leftPadded(to: 14)
      text += groupedText(layer.multiplyAdds).leftPadded(to: 15) + "\n"
    }
    return text
  }

  private func shapeText(_ layer: Inspection.Layer) -> String {
    let output = layer.outputShapes.map(Self.shapeText).joined(separator: ", ")
    let inputs = Set(layer.inputShapes.map(Self.shapeText))
    guard inputs.count == 1, let input = inputs.first, input != output else { return output }
    return "\(input) → \(output)"
  }

  /// Channels last, as most sources have it: `400×400×64`, `10`.
  private static func shapeText(_ shape: [Int]?) -> String {
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

  func json() -> JSONText {
    func feature(_ feature: FeatureDescription) -> JSONText {
      .object([("name", .string(feature.name)), ("type", .string(typeText(feature.type)))])
    }
    func shape(_ shape: [Int]?) -> JSONText { shape.map { .array($0.map(JSONText.int)) } ?? .null }
    let members = model.pipelineModels.map {
      InspectionText($0, customLayers: customLayers).json()
    }
    return .object([
      ("type", .string(model.typeName)),
      ("specificationVersion", .int(model.specificationVersion)),
      ("inputs", .array((model.description?.input ?? []).map(feature))),
      ("outputs", .array((model.description?.output ?? []).map(feature))),
      ("metadata", .object(metadataRows().map { ($0.0, .string($0.1)) })),
      (
        "layers",
        .array(
          inspection.layers.map { layer in
            .object([
              ("name", .string(layer.name)), ("type", .string(layer.type)),
              ("inputShapes", .array(layer.inputShapes.map(shape))),
              ("outputShapes", .array(layer.outputShapes.map(shape))),
              ("parameters", .int(layer.parameterCount)),
              ("multiplyAdds", .int(layer.multiplyAdds)),
            ])
          })
      ),
      ("customClasses", .array(inspection.customClasses.map { .string($0.className) })),
      ("parameters", .int(inspection.parameterCount)),
      ("trainableParameters", inspection.trainableCount.map(JSONText.int) ?? .null),
      ("multiplyAdds", .int(inspection.multiplyAdds)),
      ("weights", .array(inspection.weightTypes.map(JSONText.string))),
      ("models", .array(members)),
    ])
  }
}
