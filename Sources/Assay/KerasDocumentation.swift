import KerasImport

/// The page `docs/keras.md`, made from the importer's lists.
public enum KerasDocumentation {
  public static var markdown: String {
    let names = Dictionary(
      KerasImporter.supportedClasses.compactMap { all in
        all.first.map { ($0, Array(all.dropFirst())) }
      }, uniquingKeysWith: { first, _ in first })
    let layers = LayerCatalog.entries.map { entry in
      let others = (names[entry.name] ?? []).map { "`\($0)`" }.joined(separator: ", ")
      return row([
        "`\(entry.name)`", others, entry.becomes, entry.options, String(entry.version),
        entry.refused,
      ])
    }
    let functions = LayerCatalog.functions.map { row([code($0.names), $0.becomes]) }
    let impossible = LayerCatalog.impossible.map { row([code($0.names), $0.reason]) }
    return """
      # Keras

      `make docs` writes this page: every class of layers, what `assay convert` makes of it, the lowest
      version of the specification that has it, and what is refused. All that stands in the way of a
      model is named in one message.

      ## Layers

      | class | also named | becomes | options | specification | refused |
      |---|---|---|---|---|---|
      \(layers.joined(separator: "\n"))

      ## Functions

      | `activation` | becomes |
      |---|---|
      \(functions.joined(separator: "\n"))

      Recurrent layers of Core ML have linear, tanh, sigmoid, hard_sigmoid and relu, the numbers of
      which are written; with any other function the steps are written out one by one.

      ## Operations

      What functional models call without layers (`TFOpLambda`, `SlicingOpLambda`, Keras 3's operation
      nodes), by name; case, module and underscores do not count.

      \(LayerCatalog.operations.map { code($0) }.joined(separator: "; "))

      ## Masks

      Core ML has no masks. `Embedding(mask_zero)` and `Masking` hand theirs on as Keras does; where a
      recurrent layer or a `GlobalAveragePooling1D` heeds it, it is computed as a blob of ones and zeros,
      and the recurrent layer's steps are written out one by one. That needs a known number of steps.

      ## Not converted

      | class | reason |
      |---|---|
      \(impossible.joined(separator: "\n"))

      Any of these, and classes of one's own, become custom layers by `--custom-layers`.

      """
  }

  private static func code(_ names: [String]) -> String {
    names.map { "`\($0)`" }.joined(separator: ", ")
  }

  private static func row(_ cells: [String]) -> String {
    "| " + cells.joined(separator: " | ") + " |"
  }
}
