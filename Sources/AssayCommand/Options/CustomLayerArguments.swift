/// Changes to custom layers. A layer is identified by its name, or as `#N` by its index among the
/// custom layers.
struct CustomLayerArguments: ParsableArguments {
  @Option(
    name: .customLong("custom-layer"),
    help: .advanced(
      "Change a custom layer: FIELD is className, description, weights (or weights:N, from position N on) with a FILE, or a parameter, which keeps its type unless one is given, as in int:2; without =VALUE, the parameter is removed; repeatable.",
      "LAYER.FIELD=VALUE"), completion: .file())
  var changes: [String] = []

  /// - Throws: `.mismatch` if the model has no such custom layer.
  func edits(of model: Model) throws -> [CustomLayerEdit] {
    try changes.map { text in
      let pair = KeyValue(argument: text)
      let (layer, field) = try Self.split(pair?.key ?? text, ".", model)
      var edit = CustomLayerEdit(Self.selection(layer))
      switch (field, pair?.value) {
      case ("className", let name?): edit.className = name
      case ("description", let text?): edit.classDescription = text
      case (_, let file?) where field == "weights" || field.hasPrefix("weights:"):
        let first = Int(field.dropFirst("weights:".count)) ?? 0
        edit.weights = try ArraySet.read(file).arrays.enumerated().map {
          (first + $0, $1.tensor.elements)
        }
      case (_, let value): edit.parameters = [(field, value.map { ParameterText($0) })]
      }
      return edit
    }
  }

  private static func selection(_ text: String) -> CustomLayerSelection {
    if text.hasPrefix("#"), let index = Int(text.dropFirst()) { return .index(index) }
    return .name(text)
  }

  /// Splits a layer name, which may contain the separator, from the rest.
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
