import ArgumentParser
import Assay

/// Changes to custom layers. A layer is given by its name, or as `#N`, its index among the custom
/// layers.
struct CustomLayerArguments: ParsableArguments {
  @Option(
    name: .customLong("custom-class"),
    help: ArgumentHelp("Set the class of a custom layer; repeatable.", valueName: "LAYER=CLASS"))
  var classes: [KeyValue] = []

  @Option(
    name: .customLong("custom-description"),
    help: ArgumentHelp(
      "Set the description of a custom layer; repeatable.", valueName: "LAYER=TEXT"))
  var descriptions: [KeyValue] = []

  @Option(
    name: .customLong("custom-parameter"),
    help: ArgumentHelp(
      "Set a parameter of a custom layer; keeps its type unless one is given, as in int:2; repeatable.",
      valueName: "LAYER.KEY=[TYPE:]VALUE"))
  var parameters: [KeyValue] = []

  @Option(
    name: .customLong("remove-custom-parameter"),
    help: ArgumentHelp("Remove a parameter; repeatable.", valueName: "LAYER.KEY"))
  var removedParameters: [String] = []

  @Option(
    name: .customLong("custom-weights"),
    help: ArgumentHelp(
      "Set the weights of a custom layer, in the order of the file's arrays, from position N on; repeatable.",
      valueName: "LAYER[:N]=FILE"),
    completion: .file())
  var weights: [KeyValue] = []

  /// - Throws: `.mismatch` if the model has no such custom layer.
  func edits(of model: Model) throws -> [CustomLayerEdit] {
    var edits: [CustomLayerEdit] = []
    for pair in classes {
      var edit = CustomLayerEdit(Self.selection(pair.key))
      edit.className = pair.value
      edits.append(edit)
    }
    for pair in descriptions {
      var edit = CustomLayerEdit(Self.selection(pair.key))
      edit.classDescription = pair.value
      edits.append(edit)
    }
    for pair in parameters {
      let (layer, key) = try Self.split(pair.key, ".", model)
      var edit = CustomLayerEdit(Self.selection(layer))
      edit.parameters = [(key, ParameterText(pair.value))]
      edits.append(edit)
    }
    for text in removedParameters {
      let (layer, key) = try Self.split(text, ".", model)
      var edit = CustomLayerEdit(Self.selection(layer))
      edit.parameters = [(key, nil)]
      edits.append(edit)
    }
    for pair in weights { edits.append(try weightEdit(pair, model)) }
    return edits
  }

  private func weightEdit(_ pair: KeyValue, _ model: Model) throws -> CustomLayerEdit {
    let arrays = try ArraySet.read(pair.value).arrays
    var layer = pair.key
    var first = 0
    if !model.customLayerNames.contains(layer), let separator = layer.lastIndex(of: ":"),
      let index = Int(layer[layer.index(after: separator)...]), index >= 0
    {
      layer = String(layer[..<separator])
      first = index
    }
    var edit = CustomLayerEdit(Self.selection(layer))
    edit.weights = arrays.enumerated().map { (first + $0, $1.tensor.elements) }
    return edit
  }

  private static func selection(_ text: String) -> CustomLayerSelection {
    if text.hasPrefix("#"), let index = Int(text.dropFirst()) { return .index(index) }
    return .name(text)
  }

  /// Splits off a layer, whose name may contain the separator, from the rest.
  private static func split(
    _ text: String, _ separator: Character, _ model: Model
  ) throws -> (layer: String, rest: String) {
    let names = model.customLayerNames
    for position in text.indices where text[position] == separator {
      let layer = String(text[..<position])
      let isLayer =
        if case .index = selection(layer) { true } else { names.contains(layer) }
      if isLayer { return (layer, String(text[text.index(after: position)...])) }
    }
    throw ModelError(
      .mismatch, "'\(text)' is not a parameter of a custom layer",
      hint: "write LAYER\(separator)KEY; "
        + (names.isEmpty
          ? "the model has no custom layer"
          : "the custom layers are " + names.map { "'\($0)'" }.joined(separator: ", ")))
  }
}
