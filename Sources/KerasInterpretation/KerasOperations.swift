import Interpretation

/// The supported classes, without aliases.
enum KerasOperations {
  typealias Operation = @Sendable (LayerRun) throws -> [KerasValue]

  static let byClass: [String: Operation] = {
    var table: [String: Operation] = [:]
    for family in [
      Products.operations, Elements.operations, Convolutions.operations, Poolings.operations,
      Shapes.operations, Merges.operations, Recurrences.operations, Wrappers.operations,
      Normalizations.operations, Collections.operations, Einsums.operations,
      Attentions.operations, Keras1Layers.operations, ConvolutionalLSTM.operations,
      Lambdas.operations, Spectrograms.operations, Examples.operations,
      Resizings.operations, VisionTransformers.operations, AttentionModels.operations,
    ] {
      table.merge(family) { first, _ in first }
    }
    for (name, other) in otherNames { table[name] = table[other] }
    for (name, function) in pairs {
      table[KerasModel.Layer.operation + name] = { run in
        let rank = try max(run.operand(0).rank, run.operand(1).rank)
        let (first, second) = try (run.operand(0, rank: rank), run.operand(1, rank: rank))
        return [KerasValue(array: try Merges.broadcast(first, second, function))]
      }
    }
    table[KerasModel.Layer.operation + "Any"] = any
    return table
  }()

  /// The functions of keras.ops with two operands, which broadcast as in NumPy.
  private static let pairs: [String: @Sendable (Double, Double) -> Double] = [
    "Add": { $0 + $1 }, "Subtract": { $0 - $1 }, "Multiply": { $0 * $1 },
    "Maximum": { max($0, $1) }, "Minimum": { min($0, $1) }, "NotEqual": { $0 == $1 ? 0 : 1 },
    "Equal": { $0 == $1 ? 1 : 0 }, "Greater": { $0 > $1 ? 1 : 0 },
    "GreaterEqual": { $0 >= $1 ? 1 : 0 }, "Less": { $0 < $1 ? 1 : 0 },
    "LessEqual": { $0 <= $1 ? 1 : 0 }, "LogicalOr": { $0 == 0 && $1 == 0 ? 0 : 1 },
    "LogicalAnd": { $0 == 0 || $1 == 0 ? 0 : 1 },
  ]

  /// Whether any element along the last axis is nonzero, as in the mask of `Masking`.
  private static func any(_ run: LayerRun) throws -> [KerasValue] {
    let x = try run.operand(0)
    try run.require(
      x.rank > 0 && run.field("axis")?.int.flatMap(x.axis) == x.rank - 1 && !run.bool("keepdims"),
      "its axes are not interpreted")
    let (outer, size, _) = x.split(at: x.rank - 1)
    let found = (0..<outer).map { row in
      x.values[row * size..<(row + 1) * size].contains { $0 != 0 } ? 1.0 : 0
    }
    return [KerasValue(array: DoubleArray(shape: Array(x.shape.dropLast()), found))]
  }

  /// Aliases of these classes, in Keras and in other packages.
  private static let otherNames: [(String, String)] =
    (1...3).flatMap { axes in
      [
        ("AvgPool\(axes)D", "AveragePooling\(axes)D"), ("MaxPool\(axes)D", "MaxPooling\(axes)D"),
        ("GlobalAvgPool\(axes)D", "GlobalAveragePooling\(axes)D"),
        ("GlobalMaxPool\(axes)D", "GlobalMaxPooling\(axes)D"),
        ("Convolution\(axes)DTranspose", "Conv\(axes)DTranspose"),
      ]
    } + [
      ("BatchNormalizationV1", "BatchNormalization"),
      ("BatchNormalizationV2", "BatchNormalization"),
      ("SyncBatchNormalization", "BatchNormalization"), ("AtrousConv1D", "AtrousConvolution1D"),
      ("BatchNorm", "BatchNormalization"), ("FixedBatchNormalization", "BatchNormalization"),
      ("AtrousConv2D", "AtrousConvolution2D"), ("Deconv2D", "Deconvolution2D"),
      ("Deconvolution3D", "Conv3DTranspose"), ("DepthwiseConv3D", "DepthwiseConv2D"),
      ("DepthwiseConvolution1D", "DepthwiseConv1D"), ("DepthwiseConvolution2D", "DepthwiseConv2D"),
      ("SeparableConvolution1D", "SeparableConv1D"), ("Normalize2D", "L2Normalization"),
      ("ReflectPadding2D", "ReflectionPadding2D"), ("ReversibleEmbedding", "Embedding"),
      ("DepthToSpace", "SubPixelUpscaling"), ("Normalize", "L2Normalization"),
    ]
}
