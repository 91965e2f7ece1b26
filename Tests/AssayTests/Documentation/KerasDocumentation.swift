import KerasImport

/// The page `docs/keras.md`, made from the importer's lists.
enum KerasDocumentation {
  static var markdown: String {
    let names = Dictionary(
      KerasImporter.supportedClasses.compactMap { all in
        all.first.map { ($0, Array(all.dropFirst())) }
      }, uniquingKeysWith: { first, _ in first })
    let layers = LayerCatalog.entries.map { entry in
      [
        "`\(entry.name)`", MarkdownTable.code(names[entry.name] ?? []), entry.becomes,
        entry.options, String(entry.version), entry.refused,
      ]
    }
    let functions = LayerCatalog.functions.map { [MarkdownTable.code($0.names), $0.becomes] }
    let impossible = LayerCatalog.impossible.map { [MarkdownTable.code($0.names), $0.reason] }
    return """
      # Keras

      `make docs` writes this page: every class of layers, what `assay convert` makes of it, the lowest
      version of the specification that has it, and what is refused. All that stands in the way of a
      model is named in one message.

      ## Layers

      \(MarkdownTable.layers("class", layers))

      ## Functions

      \(MarkdownTable(["`activation`", "becomes"], functions))

      Recurrent layers of Core ML have linear, tanh, sigmoid, hard_sigmoid and relu, the numbers of
      which are written; with any other function the steps are written out one by one.

      ## Operations

      What functional models call without layers (`TFOpLambda`, `SlicingOpLambda`, Keras 3's operation
      nodes), by name; case, module and underscores do not count.

      \(LayerCatalog.operations.map { MarkdownTable.code($0) }.joined(separator: "; "))

      ## Masks

      Core ML has no masks. `Embedding(mask_zero)` and `Masking` hand theirs on as Keras does, and a
      layer may be called with one of the model's own, a number for each step. Where a recurrent layer,
      an attention or a `GlobalAveragePooling1D` heeds it, it is computed as a blob of ones and zeros.
      The steps of a recurrent layer with a mask are written out one by one; where their number is
      unknown the layer becomes an LSTM that the mask holds still. The mask of a sum and the like is
      since Keras 3.4 that of the steps that count in any input, before in all.

      ## Specification

      The layers above are of version 1 unless they say otherwise. Conditions, orders, trigonometry,
      slices of axes of unknown size and large products of matrices need version 4, whose layers take
      arrays only as they are declared: the model's arrays are `[Seq, Batch, C, H, W]` then.

      ## Not converted

      \(MarkdownTable(["class", "reason"], impossible))

      Any of these, and classes of one's own, become custom layers by `--custom-layers`.

      """
  }
}
