/// What each kind of section becomes, for `docs/darknet.md`.
package enum LayerCatalog {
  package struct Entry: Sendable {
    /// The name in brackets.
    package let name: String
    package let otherNames: [String]
    /// The Core ML layers, in order; alternatives after a semicolon.
    package let becomes: String
    /// Options that count when the network runs.
    package let options: [String]
    /// What is refused, and why.
    package let refused: String
    /// The lowest specification version that has what it becomes.
    package let version: Int
  }

  private struct Text {
    var becomes: String
    var refused = ""
    var version = 1
  }

  /// One for each kind, in the order of the registry.
  package static let entries: [Entry] = DarknetLayerRegistry.types.compactMap { type in
    guard let name = type.sections.first, let text = texts[name] else { return nil }
    return Entry(
      name: name, otherNames: Array(type.sections.dropFirst()), becomes: text.becomes,
      options: type.options, refused: text.refused, version: text.version)
  }

  private static let undefined = "what Darknet leaves undefined"

  private static let texts: [String: Text] = [
    "convolutional": Text(
      becomes: "convolution, batchnorm, the function",
      refused:
        "`xnor`, `binary`, `bin_output`: computed on single bits; `sway`, `rotate`, `stretch`, `stretch_sway`, `coordconv`: kernels made while it runs; `antialiasing`: \(undefined)"
    ),
    "deconvolutional": Text(
      becomes: "convolution with isDeconvolution, batchnorm, the function"),
    "local": Text(
      becomes:
        "convolution with unit kernels, one with a group for each place, permutes and reshapes round it, bias"
    ),
    "connected": Text(becomes: "flatten, innerProduct, batchnorm, the function"),
    "maxpool": Text(
      becomes: "pooling, padded to Darknet's size; `maxpool_depth`: reduce, or split and max",
      refused: "`antialiasing`, `maxpool_zero_nonmax`; windows that lie in the padding"),
    "avgpool": Text(becomes: "pooling globalPooling"),
    "local_avgpool": Text(becomes: "pooling, padding not counted"),
    "route": Text(
      becomes:
        "nothing for one layer; slice for a group; concat; pictures of unlike sizes in a row",
      refused: "groups that do not divide the channels"),
    "shortcut": Text(
      becomes:
        "add; slices where `from` has other channels, rows or columns; scales for `weights_type`",
      refused: "a `from` of fewer rows"),
    "scale_channels": Text(becomes: "multiply, the function"),
    "sam": Text(becomes: "multiply, the function"),
    "reorg": Text(
      becomes: "reshape, reorganizeData, reshape; `reverse`: reorganizeData",
      refused: "`extra`; channels that the square of `stride` does not divide: \(undefined)"),
    "reorg3d": Text(becomes: "reorganizeData; `reverse`: reshapes round it"),
    "upsample": Text(becomes: "upsample nearest; a negative `stride`: pooling, linear"),
    "crop": Text(becomes: "crop of the middle, 2x − 1"),
    "activation": Text(becomes: "see the functions below"),
    "logistic": Text(becomes: "activation sigmoid"),
    "softmax": Text(
      becomes: "flatten, softmax; with `groups` reshapes and permutes round it",
      refused: "`tree`: a hierarchy of classes"),
    "batchnorm": Text(becomes: "batchnorm"),
    "normalization": Text(
      becomes: "squares, a 1 × 1 convolution, a power, a product: Darknet's sum lacks a channel"),
    "l2norm": Text(becomes: "reduce, a power, a product"),
    "implicit": Text(becomes: "loadConstant"),
    "dropout": Text(becomes: "nothing"),
    "cost": Text(becomes: "nothing"),
    "region": Text(becomes: "nothing: the raw grid is an output"),
    "yolo": Text(becomes: "nothing: the raw grid is an output"),
    "detection": Text(becomes: "nothing: the raw numbers are an output"),
  ]

  /// Sections of Darknet that cannot be converted, and why.
  package static let impossible: [(names: [String], reason: String)] = [
    (
      ["rnn", "lstm", "gru", "crnn", "conv_lstm"],
      "recurrent layers, whose state Darknet keeps from one picture to the next"
    ),
    (["history"], "it keeps earlier pictures"),
    (["iseg"], "masks of instances, which Darknet finds outside the network"),
    (["contrastive"], "a loss"),
    (["empty", "silence"], "Darknet leaves its output undefined"),
  ]

  static func reason(_ kind: String) -> String? {
    impossible.first { $0.names.contains(kind) }?.reason
  }

  /// The functions that `activation` names.
  package static var functions: [(name: String, becomes: String)] {
    ActivationFormula.allCases.map { ($0.rawValue, $0.becomes) }
  }
}
