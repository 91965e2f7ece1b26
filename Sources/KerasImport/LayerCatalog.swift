/// What each class of Keras layers becomes, for `docs/keras.md`.
package enum LayerCatalog {
  package struct Entry: Sendable {
    /// The class' present name.
    package let name: String
    /// The Core ML layers, in order; alternatives after a semicolon.
    package let becomes: String
    /// Options that count, and what becomes of them.
    package let options: String
    /// What is refused, and why.
    package let refused: String
    /// The lowest specification version that has what it becomes.
    package let version: Int

    init(
      _ name: String, _ becomes: String, options: String = "", refused: String = "",
      version: Int = 1
    ) {
      self.name = name
      self.becomes = becomes
      self.options = options
      self.refused = refused
      self.version = version
    }
  }

  private static let data = "`data_format` (Keras 1 `dim_ordering`): permutes where it differs"
  private static let unrolled = "steps written out one by one"
  private static let matrices =
    "repeated, multiplied and summed up; where that is large or a length unknown, batchedMatmul of specification 4"

  package static let entries: [Entry] =
    core + convolutions + pooling + shapes + normalizations
    + recurrent + attention + preprocessing + applications

  private static let applications: [Entry] = [
    Entry("CustomScaleLayer", "linear activation, add", options: "`scale`; of Inception-ResNet v2"),
    Entry(
      "DeprocessStylizedImage", "linear activation",
      options: "(x + 1) · 127.5, of fritz.ai's style networks"),
    Entry("LayerScale", "scale", options: "of ConvNeXt"),
    Entry(
      "AdaptiveAveragePooling1D",
      "averages 1 × 1 convolutions, one along each axis; maxima slices, max and concat",
      options: "`output_size`", refused: "unknown sizes"),
  ]

  private static let core: [Entry] = [
    Entry("InputLayer", "nothing"),
    Entry(
      "Dense", "innerProduct; a 1 × 1 convolution on images and volumes",
      options: "`use_bias`, `activation`"),
    Entry("Activation", "see the functions below", options: "`activation`, or a layer used as one"),
    Entry(
      "Embedding", "embedding; with a reshape round it for indices of more than one axis",
      options: "`mask_zero`: the mask goes to the layers that heed it"),
    Entry(
      "ReversibleEmbedding", "embedding; reversed an innerProduct with its table",
      options: "`tie_weights`, `logit_soft_cap`"),
    Entry(
      "Masking", "nothing where `mask_value` is 0, else a multiplication by the computed mask",
      options: "`mask_value`"),
    Entry("Dropout", "nothing: layers that act in training only"),
    Entry("LeakyReLU", "activation leakyReLU"),
    Entry(
      "PReLU", "activation PReLU; max(0, x) − alpha · max(0, −x) where alpha differs in a channel",
      options: "`shared_axes`, any",
      refused: "an alpha for each step of a sequence of images: constants have no sequence axis"),
    Entry("ELU", "activation ELU", options: "`alpha`"),
    Entry(
      "ReLU", "activation ReLU; leakyReLU; a chain",
      options: "`max_value`, `negative_slope`, `threshold`"),
    Entry("ThresholdedReLU", "activation thresholdedReLU", options: "`theta`"),
    Entry(
      "Softmax", "softmax, permutes round it; over several axes max, exp, sum and a product",
      options: "`axis`, any; a `mask` that it is called with",
      refused: "a mask that its input brings along"),
    Entry("ParametricSoftplus", "activation parametricSoftplus; scale, softplus, scale"),
    Entry("SReLU", "a sum of three scaled rectifiers", options: "`shared_axes`"),
    Entry("Highway", "two innerProducts, a sigmoid and the mixture", options: "`bias`"),
    Entry("MaxoutDense", "innerProduct, split, max", options: "`nb_feature`, `bias`"),
    Entry(
      "SpectralNormalization", "the layer in it: the stored kernel is divided already"),
    Entry(
      "EinsumDense", "reshape, innerProduct or 1 × 1 convolution, reshape",
      options:
        "`equation`, `bias_axes`, `activation`; axes that kernel and output share: a grouped convolution"
    ),
    Entry(
      "TimeDistributed", "the layer in it, on the sequence axis",
      options: "`layer`, also a model; recurrent layers in it are \(unrolled)",
      refused: "layers in it that give sequences of sequences"),
    Entry("TimeDistributedDense", "innerProduct"),
    Entry(
      "TFOpLambda", "see the operations below", options: "Keras 3's operations, too",
      refused: "operations that are not in the list"),
  ]

  private static let convolutions: [Entry] = [
    Entry(
      "Conv2D", "convolution",
      options: "`strides`, `padding`, `dilation_rate`, `groups`, `use_bias`, \(data)"),
    Entry(
      "DepthwiseConv2D", "convolution of as many groups as channels",
      options: "`depth_multiplier`, those of Conv2D"),
    Entry("SeparableConv2D", "two convolutions", options: "`depth_multiplier`, those of Conv2D"),
    Entry(
      "Conv2DTranspose", "convolution with isDeconvolution and outputShape",
      options: "`output_padding`; `dilation_rate`: zeros between the kernel's elements"),
    Entry(
      "Conv1D", "convolution along the width, permutes round it",
      options: "`padding='causal'`: padding before it; `groups`"),
    Entry(
      "DepthwiseConv1D", "convolution of as many groups as channels", options: "`depth_multiplier`"),
    Entry("SeparableConv1D", "two convolutions along the width", options: "`depth_multiplier`"),
    Entry(
      "Conv1DTranspose", "convolution with isDeconvolution",
      options: "`output_padding`, `dilation_rate`"),
    Entry(
      "Conv3D", "slices along the depth side by side as channels, one convolution",
      options: "`strides`, `padding`, `dilation_rate`, `groups`, \(data)",
      refused: "kernels that Theano trained"),
    Entry(
      "Conv3DTranspose", "a deconvolution over height and width, one over the depth",
      options: "`strides`, `padding`, `output_padding`, `dilation_rate`"),
    Entry(
      "LocallyConnected1D", "a convolution with unit kernels, a grouped one by place",
      options: "`implementation` 1, 2, 3", refused: "`channels_first` with implementation 2 or 3"),
    Entry(
      "LocallyConnected2D", "a convolution with unit kernels, a grouped one by place",
      options: "`implementation` 1, 2, 3", refused: "`channels_first` with implementation 2 or 3"),
  ]

  private static let pooling: [Entry] = [
    Entry(
      "MaxPooling1D", "pooling along the width, permutes round it", options: "`strides`, `padding`"),
    Entry(
      "AveragePooling1D", "pooling along the width, padding not counted",
      options: "`strides`, `padding`"),
    Entry("GlobalMaxPooling1D", "pooling of the whole width", options: "`keepdims`"),
    Entry(
      "GlobalAveragePooling1D", "pooling of the whole width; with a mask a sum divided by a count",
      options: "`keepdims`"),
    Entry("MaxPooling2D", "pooling", options: "`strides`, `padding`, \(data)"),
    Entry(
      "AveragePooling2D", "pooling, padding not counted", options: "`strides`, `padding`, \(data)"),
    Entry("GlobalMaxPooling2D", "pooling globalPooling", options: "`keepdims`"),
    Entry("GlobalAveragePooling2D", "pooling globalPooling", options: "`keepdims`"),
    Entry(
      "MaxPooling3D", "pooling over height and width, pooling over the depth",
      options: "`strides`, `padding`"),
    Entry(
      "AveragePooling3D", "pooling over height and width, pooling over the depth",
      options: "`strides`, `padding`"),
    Entry("GlobalMaxPooling3D", "two poolings", options: "`keepdims`"),
    Entry("GlobalAveragePooling3D", "two poolings", options: "`keepdims`"),
  ]

  private static let shapes: [Entry] = [
    Entry("Flatten", "flatten; a reshape for volumes", options: "`data_format`"),
    Entry(
      "Reshape", "reshape", options: "`target_shape`, one size −1",
      refused: "more than four axes: Core ML's blobs have four besides the batch"),
    Entry("Permute", "permute", options: "`dims`, two to four"),
    Entry("RepeatVector", "sequenceRepeat"),
    Entry("ZeroPadding1D", "padding"), Entry("ZeroPadding2D", "padding"),
    Entry("ZeroPadding3D", "two paddings"), Entry("Cropping1D", "crop"),
    Entry("Cropping2D", "crop"),
    Entry("Cropping3D", "two crops"), Entry("UpSampling1D", "upsample"),
    Entry(
      "UpSampling2D",
      "upsample; every other interpolation two 1 × 1 convolutions, one along each axis",
      options:
        "`size`, two factors; `interpolation` nearest, bilinear, bicubic, area, lanczos3, lanczos5, gaussian, mitchellcubic. Bilinear of TensorFlow 2 needs specification 5",
      version: 1),
    Entry("UpSampling3D", "two upsamples"),
    Entry("Add", "add", options: "inputs that stretch to one another"),
    Entry("Subtract", "a linear activation and an add"),
    Entry("Multiply", "multiply"), Entry("Average", "average; inputs are stretched first"),
    Entry("Maximum", "max; inputs are stretched first"),
    Entry("Minimum", "min; inputs are stretched first"),
    Entry("Concatenate", "concat, permutes round it", options: "`axis`, any but the batch"),
    Entry(
      "Dot", "dot; for sequences a product of matrices, \(matrices)",
      options: "`axes`, `normalize`", refused: "`normalize` of tensors of more than three axes"),
    Entry(
      "Merge", "as the layers above", options: "`mode` sum, mul, ave, max, concat, cos, dot",
      refused: "a Python function as mode"),
  ]

  private static let normalizations: [Entry] = [
    Entry(
      "BatchNormalization", "batchnorm, folded; permutes round it",
      options: "`axis`, `scale`, `center`",
      refused: "Keras 1 `mode` 1 and 2, `renorm`: statistics of the batch"),
    Entry(
      "LayerNormalization", "means, a reciprocal square root and a scale",
      options: "`axis`, up to three; `rms_scaling`; RMSNormalization",
      refused: "four axes of five"),
    Entry(
      "GroupNormalization", "reshape, batchnorm of each instance, reshape, scale",
      options: "`groups`, −1 for one a channel; `axis`",
      refused: "volumes with the channels first"),
    Entry(
      "InstanceNormalization",
      "mvn and scale (keras-contrib); as GroupNormalization (TensorFlow Addons)",
      options: "`axis`, `scale`, `center`", refused: "volumes"),
    Entry(
      "UnitNormalization", "a sum of squares, a reciprocal square root, a product",
      options: "`axis`"),
  ]

  private static let recurrent: [Entry] = [
    Entry(
      "SimpleRNN", "simpleRecurrent; with a mask or another function \(unrolled)",
      options:
        "`return_sequences`, `return_state`, `go_backwards`, `initial_state`; states are optional inputs and outputs",
      refused: "`time_major`; another function where the number of steps is unknown"),
    Entry(
      "GRU", "gru; with `reset_after`, a mask or another function \(unrolled)",
      options:
        "those of SimpleRNN, `reset_after`: an LSTM of three steps for each where their number is unknown",
      refused: "as SimpleRNN"),
    Entry(
      "LSTM", "uniDirectionalLSTM, forgetBias false; with a mask or another function \(unrolled)",
      options: "those of SimpleRNN", refused: "as SimpleRNN"),
    Entry("CuDNNLSTM", "as LSTM"), Entry("CuDNNGRU", "as GRU with `reset_after`"),
    Entry(
      "RNN", "the layer of the cell; StackedRNNCells \(unrolled)",
      options: "`cell` SimpleRNNCell, GRUCell, LSTMCell, StackedRNNCells",
      refused: "other cells"),
    Entry(
      "Bidirectional",
      "biDirectionalLSTM, split and merge; other cells two layers and one that turns the second round",
      options: "`merge_mode` concat, sum, mul, ave, None; `backward_layer`; also of ConvLSTM2D"),
    Entry(
      "ConvLSTM2D", "convolutions, \(unrolled)",
      options: "`strides`, `padding`, `dilation_rate`, `return_state`, `initial_state`; ConvLSTM1D",
      refused: "an unknown number of steps, a mask"),
  ]

  private static let attention: [Entry] = [
    Entry(
      "Attention", "products of matrices, \(matrices), softmax",
      options:
        "`use_scale`, `score_mode`, `use_causal_mask`, `return_attention_scores`, masks; AdditiveAttention",
      refused: "images"),
    Entry(
      "MultiHeadAttention", "innerProducts, products of matrices, \(matrices), softmax",
      options:
        "`value_dim`, `use_bias`, `output_shape`, `attention_axes`, `use_causal_mask`, `attention_mask`, `return_attention_scores`, `sliding_window`, `use_gate`, masks; GroupQueryAttention",
      refused: "masks of its own, windows and scores along axes of an image"),
  ]

  private static let preprocessing: [Entry] = [
    Entry(
      "Rescaling", "a linear activation; scale", options: "`scale`, `offset`, numbers or lists"),
    Entry(
      "Normalization", "a linear activation; scale",
      options: "`axis`, `mean`, `variance`, `invert`, or what `adapt` found"),
    Entry(
      "Resizing", "two 1 × 1 convolutions, one along each axis",
      options: "`interpolation` as UpSampling2D, `crop_to_aspect_ratio`, `pad_to_aspect_ratio`",
      refused: "`antialias`; unknown sizes"),
    Entry(
      "CenterCrop", "crop; a resize where the image is too small",
      options: "RandomCrop: the middle, scaled"),
    Entry(
      "Discretization", "a step for each boundary and their sum",
      options: "`bin_boundaries`, `output_mode` int, one_hot, multi_hot, count",
      refused: "boundaries that are not stored"),
    Entry(
      "CategoryEncoding", "innerProduct, abs, relu; max or sum for several numbers",
      options: "`output_mode`", refused: "`count_weights`"),
    Entry(
      "IntegerLookup", "innerProduct, abs, relu, innerProduct",
      options: "`vocabulary`, `output_mode`",
      refused: "`mask_token`, `invert`, `num_oov_indices` other than 1, vocabularies in files"),
    Entry("AutoContrast", "min, max, a product", options: "`value_range`", version: 4),
  ]

  /// Classes of Keras that cannot be converted, and why.
  package static let impossible: [(names: [String], reason: String)] = [
    (
      ["Lambda"],
      "Python code, which is never run; `--lambda auto` reads formulas, a rule makes it a custom layer"
    ),
    (
      ["StringLookup", "TextVectorization", "Hashing", "HashedCrossing"],
      "texts: a Core ML network takes numbers"
    ),
    (
      ["Equalization", "ContrastLimitedAdaptiveHistogramEqualization"],
      "Core ML's networks have no histograms"
    ),
    (["MaxNumBoundingBoxes"], "boxes, which training alone has"),
    (["Pipeline", "DenseFeatures"], "apply its layers one by one in the model"),
    (
      ["STFTSpectrogram", "MelSpectrogram"],
      "Core ML's networks have no Fourier transform"
    ),
    (["ConvLSTM3D"], "steps of volumes have one axis more than Core ML's blobs"),
    (
      ["Wrapper", "TFSMLayer", "TorchModuleWrapper", "JaxLayer", "FlaxLayer"],
      "code that is not in the file"
    ),
    (
      ["QuantizeWrapperV2", "QuantizeLayer", "PruneLowMagnitude"],
      "made by tensorflow-model-optimization; strip them, or let a rule make them custom layers"
    ),
  ]

  /// The operations that models call without layers, by their names without `_`.
  package static var operations: [[String]] { OperationTable.operations.map { $0.names } }

  /// The functions that `activation` names.
  package static let functions: [(names: [String], becomes: String)] = [
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
