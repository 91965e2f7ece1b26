@testable import KerasImport

/// The page `docs/keras.md`, made from the importer's lists.
enum KerasDocumentation {
  static var markdown: String {
    let layers = KerasLayerRegistry.types.flatMap { $0.classes }.map { row in
      [
        "`\(row.names[0])`", MarkdownTable.code(Array(row.names.dropFirst())), row.becomes,
        row.options, String(row.version), row.refused,
      ]
    }
    let functions = Self.functions.map { [MarkdownTable.code($0.names), $0.becomes] }
    let impossible = UnconvertedClasses.reasons.map { [MarkdownTable.code($0.names), $0.reason] }
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

      \(OperationTable.operations.map { MarkdownTable.code($0.names) }.joined(separator: "; "))

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
      arrays only as they are declared: the model's arrays are `[Seq, Batch, C, H, W]` then. So are they
      where a volume or a sequence of images is an input: arrays of five axes came with version 4, too.

      ## Not converted

      \(MarkdownTable(["class", "reason"], impossible))

      Any of these, and classes of one's own, become custom layers by `--custom-layers`.

      """
  }

  /// The functions that `activation` names.
  static let functions: [(names: [String], becomes: String)] = [
    (
      ["linear", "relu", "tanh", "sigmoid", "softplus", "softsign", "elu"],
      "activation of this name"
    ),
    (["hard_sigmoid"], "sigmoidHard: 0.2x + 0.5, in Keras 3 x / 6 + 0.5"),
    (["sparse_sigmoid"], "sigmoidHard: 0.5x + 0.5"), (["leaky_relu"], "leakyReLU 0.2"),
    (["celu"], "ELU"), (["selu"], "ELU and a multiplication"),
    (["relu6"], "a chain with a threshold"),
    (["softmax"], "softmax over the last axis"), (["log_softmax"], "max, exp, sum, log"),
    (["exponential"], "unary exp"), (["swish", "silu"], "sigmoid and a product"),
    (["hard_silu", "hard_swish"], "sigmoidHard and a product"),
    (["mish"], "softplus, tanh, a product"),
    (
      ["gelu"],
      "x · Φ(x) from exp and a polynomial (Abramowitz and Stegun 7.1.26, to 1.5e-7)"
    ),
    (["glu"], "split, sigmoid, a product"),
    (
      [
        "hard_tanh", "hard_shrink", "soft_shrink", "tanh_shrink", "sparse_plus", "squareplus",
        "log_sigmoid",
      ],
      "a chain of linear, ReLU, sigmoidHard, tanh and sums"
    ),
    (["sparsemax"], "topK of specification 4, sums and a rectifier"),
  ]
}
