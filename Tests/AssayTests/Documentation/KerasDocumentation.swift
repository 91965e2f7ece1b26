@testable import KerasImport

/// The page `docs/keras.md`, generated from the importer's lists.
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

      `make docs` generates this page: every layer class, what `assay convert` turns it into, the lowest
      specification version that supports it, and what is refused. If a model cannot be converted, one
      error lists all obstacles.

      ## Layers

      \(MarkdownTable.layers("class", layers))

      ## Functions

      \(MarkdownTable(["`activation`", "becomes"], functions))

      Core ML's recurrent layers support linear, tanh, sigmoid, hard_sigmoid and relu, which are written with
      their parameters. With any other function, the steps are unrolled.

      ## Operations

      Operations that functional models call without layers (`TFOpLambda`, `SlicingOpLambda`, Keras 3's
      operation nodes), by name; case, module and underscores do not matter.

      \(OperationTable.operations.map { MarkdownTable.code($0.names) }.joined(separator: "; "))

      ## Masks

      Core ML has no masks. `Embedding(mask_zero)` and `Masking` propagate masks as in Keras, and a layer may
      be called with an explicit mask, one number per step. If a recurrent layer, an attention layer or a
      `GlobalAveragePooling1D` uses the mask, it is computed as a blob of ones and zeros. A recurrent layer
      with a mask is unrolled; if the number of steps is unknown, it becomes an LSTM, and the mask controls
      whether its state is updated. Since Keras 3.4, the mask of a merge layer covers the steps that are valid
      in any input; before, those valid in all inputs. Since then, too, a masked step is 1 in a product, and
      has the value of the other operand in a maximum or minimum. Keras 3 passes the mask to a recurrent
      layer with an `initial_state` only if the call states it.

      Since Keras 3.8, `MultiHeadAttention` removes the masks of its inputs: a sum with such an input has no
      mask for later attention and lists, so in blocks that add before they normalize only the first attention
      is masked. `RMSNormalization` removes masks, too.

      What differs between versions follows the one that wrote the file. Masked steps in the output of
      `Bidirectional` repeat the step before, or are 0 since TensorFlow 2.1. `TimeDistributed` passes the mask
      of a sequence of sequences to its layer since Keras 2.2, and has the mask of that layer before Keras 3.

      ## Training

      A call may store `training=True`, and a model that is called so passes it to its layers. In Keras 1 and
      2, batch normalization then uses the statistics of its input, of which one item is a batch here; noise
      and dropout are refused, because they are random at prediction. `predict` of Keras 3 overrides the
      argument, so it has no effect, which a note says.

      ## Windows in the batch

      Attention within windows moves the windows into the batch: one `reshape` turns (N, height, width,
      channels) into (N · windows, height, width, channels), and another reverses it. A Core ML network takes
      one item, so the windows become an axis of the blob, usually the sequence. Axes beyond the four of a
      blob are combined in the same way. Layers and operations on the other axes convert as usual, and
      reshapes and transposes regroup the axes. Other layers, and outputs of the model with such axes, are
      refused.

      If the inputs declare the batch size, an operation may state it as a number. In `reshape(x, [32, -1])`
      of a network for 32 items, 32 stands for the batch, and 64 for two windows of each item.

      ## Networks trained with Theano

      Theano's convolutions flip their kernels. If the attribute `backend` of a file (in an architecture, the
      field) is `theano`, kernels are flipped, and those of Keras 1 are also read in Theano's order. Keras 1
      does not write the attribute. Without it, kernels are used as stored, as in Keras, and a note says so if
      the axes are in Theano's order. To add it with h5py:
      `h5py.File("net.h5", "a").attrs["backend"] = "theano"`.

      ## Layers that are called several times

      A layer called twice becomes two layers, `NAME_0` and `NAME_1`, each with a copy of the weights: a layer
      of an `.mlmodel` cannot refer to the weights of another. `assay compress` makes the
      copies smaller, but they remain copies. Equal calls, with the same inputs, become one layer.

      ## Specification

      The layers above need version 1 unless stated otherwise. Conditions, sorting, trigonometry, slices of
      axes of unknown size and large matrix products need version 4, whose layers take arrays exactly as
      declared: the model's arrays are then `[Seq, Batch, C, H, W]`. The same holds if an input is a volume or
      a sequence of images, because arrays with five axes were introduced in version 4.

      ## Not converted

      \(MarkdownTable(["class", "reason"], impossible))

      Any of these, and custom classes, become custom layers with `--custom-layers`.

      """
  }

  /// The functions that `activation` may name.
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
