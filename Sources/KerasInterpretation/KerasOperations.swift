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
    for name in ["Add", "Subtract", "Multiply", "Maximum", "Minimum"] {
      // With one tensor, the call contains the other operand as a number.
      let merge = table[name]
      table[KerasModel.Layer.operation + name] = { run in
        guard run.inputs.count == 2, let merge else {
          throw run.missing("\(run.inputs.count) tensors")
        }
        return try merge(run).map { KerasValue(array: $0.array) }
      }
    }
    return table
  }()

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
