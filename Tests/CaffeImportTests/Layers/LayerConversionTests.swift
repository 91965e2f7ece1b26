import CoreMLModel
import ImportSupport
import TensorCore
import TestSupport
import Testing

@testable import CaffeImport

/// The Core ML layers of converted layers. `Fixtures/caffe/layers` shows that they compute the same
/// as Caffe's.
@Suite struct LayerConversionTests {
  private static let image = input("x", 1, 3, 4, 5)

  @Test func everyTypeIsNamedOnce() {
    let names = CaffeLayerRegistry.types.flatMap { $0.source.names }
    #expect(Set(names).count == names.count)
    for name in names {
      #expect(UnconvertedLayers.reason(of: name) == nil, "\(name)")
      #expect(LayerRole(name) == .computing, "\(name)")
    }
  }

  @Test func batchNormAndScaleAreOneLayer() throws {
    let network =
      Self.image + layer("bn", "BatchNorm", "x", "y")
      + layer("s", "Scale", "y", "y", "scale_param { bias_term: true }")
    let weights = """
      layer { name: 'bn' blobs { shape { dim: 3 } data: [2, 4, 6] }
        blobs { shape { dim: 3 } data: [8, 6, 4] } blobs { shape { dim: 1 } data: 2 } }
      layer { name: 's' blobs { shape { dim: 3 } data: [1, 2, 3] }
        blobs { shape { dim: 3 } data: [4, 5, 6] } }
      """
    let converted = try convert(network, weights: weights)
    #expect(converted.types == ["batchnorm"])
    #expect(converted.outputs == ["y"])
    let norm = try #require(converted.layer("bn", as: Batchnorm.self))
    // Mean and variance are divided by the third blob.
    #expect(try norm.mean?.floatValue.array() == [1, 2, 3])
    #expect(try norm.variance?.floatValue.array() == [4, 3, 2])
    #expect(try norm.gamma?.floatValue.array() == [1, 2, 3])
    #expect(try norm.beta?.floatValue.array() == [4, 5, 6])
    #expect(norm.epsilon == 1e-5)
  }

  @Test func normsOfForksHaveTheirOwnScaleAndShift() throws {
    // NVIDIA's batch_norm_layer.cpp: blobs 3 and 4 scale and shift the normalized values.
    let network =
      Self.image + layer("bn", "BatchNorm", "x", "y", "batch_norm_param { scale_bias: true }")
    let weights = """
      layer { name: 'bn' blobs { shape { dim: 3 } data: [2, 4, 6] }
        blobs { shape { dim: 3 } data: [8, 6, 4] } blobs { shape { dim: 1 } data: 1 }
        blobs { shape { dim: 3 } data: [1, 2, 3] } blobs { shape { dim: 3 } data: [4, 5, 6] } }
      """
    let norm = try #require(convert(network, weights: weights).layer("bn", as: Batchnorm.self))
    #expect(try norm.gamma?.floatValue.array() == [1, 2, 3])
    #expect(try norm.beta?.floatValue.array() == [4, 5, 6])
  }

  /// Fields from the schemas of Intel's, NVIDIA's, DeepLab's and other forks.
  @Test(arguments: [
    ("Pooling", "pooling_param { kernel_size: 2 avg_include_pad: false }", "avg_include_pad"),
    ("Pooling", "pooling_param { kernel_size: 2 torch_pooling: true }", "torch_pooling"),
    ("Convolution", "convolution_param { num_output: 1 kernel_size: 1 relu: true }", "relu"),
    ("Convolution", "convolution_param { num_output: 1 kernel_size: 1 pad_type: 1 }", "pad_type"),
    ("Dropout", "dropout_param { scale_test: true }", "scale_test"),
  ])
  func settingsThatNothingReadsAreErrors(_ type: String, _ fields: String, _ name: String) {
    var options = ConversionOptions()
    options.missingWeights = .random(RandomWeights(seed: 1))
    let error = #expect(throws: ModelError.self) {
      try convert(Self.image + layer("l", type, "x", "y", fields), options: options)
    }
    #expect(error?.field?.hasSuffix(name) == true, "\(error.map(String.init(describing:)) ?? "")")
    #expect(error?.layer == "l")
  }

  @Test func settingsOfForksWithoutEffectAreNone() throws {
    let converted = try convert(
      Self.image
        + layer(
          "p", "Pooling", "x", "y",
          "pooling_param { kernel_size: 2 avg_include_pad: true torch_pooling: false }")
        + layer("d", "Dropout", "y", "y", "dropout_param { scale_train: true random_seed: 3 }"))
    #expect(converted.types == ["pooling"])
  }

  /// Layers that Intel's Caffe rounds to 8 bits are converted with their single-precision weights:
  /// `mkldnn_convolution_layer.cpp` multiplies by the scales, and divides by them afterward.
  @Test func layersOfEightBitsAreOnesOfSinglePrecision() throws {
    let network =
      Self.image
      + layer(
        "c", "Convolution", "x", "y",
        "convolution_param { num_output: 1 kernel_size: 1 } quantization_param { scale_in: 2 }")
    var options = ConversionOptions()
    options.missingWeights = .random(RandomWeights(seed: 1))
    let converted = try convert(network, options: options)
    #expect(converted.notes.last == "1 layer of 8 bits, now in single precision")
    let plain = try convert(
      network.replacing("quantization_param { scale_in: 2 }", with: ""), options: options)
    #expect(try converted.result.model.encoded() == plain.result.model.encoded())
  }

  /// Dropout in Bayesian SegNet also samples in tests; the mean of its samples is its input.
  @Test func samplesInTestsBecomeTheirMean() throws {
    let converted = try convert(
      Self.image + layer("r", "ReLU", "x", "y")
        + layer("d", "Dropout", "y", "y", "dropout_param { sample_weights_test: true }"))
    #expect(converted.types == ["activation"])
    #expect(converted.notes.first?.contains("sample_weights_test") == true)
  }

  @Test func aSecondBottomIsNeededForItsSize() {
    let error = #expect(throws: ModelError.self) {
      try convert(
        Self.image + layer("i", "Interp", "x", "y", "interp_param { use_blob_size: true }"))
    }
    #expect(error?.field == "interp_param.use_blob_size")
  }

  @Test func dilationHasTheNameThatDeepLabGaveIt() throws {
    var options = ConversionOptions()
    options.missingWeights = .random(RandomWeights(seed: 1))
    let converted = try convert(
      Self.image
        + layer(
          "c", "Convolution", "x", "y",
          "convolution_param { num_output: 1 kernel_size: 2 hole: 2 }"), options: options)
    #expect(converted.outputShape("y") == [1, 2, 3])
  }

  @Test func aNormThatOthersReadStaysApart() throws {
    let network =
      Self.image + layer("bn", "BatchNorm", "x", "y") + layer("s", "Scale", "y", "z")
      + layer("r", "ReLU", "y", "r")
    let weights = """
      layer { name: 'bn' blobs { shape { dim: 3 } data: [2, 4, 6] }
        blobs { shape { dim: 3 } data: [8, 6, 4] } blobs { shape { dim: 1 } data: 0 } }
      layer { name: 's' blobs { shape { dim: 3 } data: [1, 2, 3] } }
      """
    let converted = try convert(network, weights: weights)
    #expect(converted.types == ["batchnorm", "scale", "activation"])
    let norm = try #require(converted.layer("bn", as: Batchnorm.self))
    // A factor of 0 makes both 0.
    #expect(try norm.mean?.floatValue.array() == [0, 0, 0])
    #expect(try norm.variance?.floatValue.array() == [0, 0, 0])
  }

  @Test func poolingHasCaffesRuleOfSizes() throws {
    let converted = try convert(
      input("x", 1, 1, 7, 8)
        + layer("a", "Pooling", "x", "a", "pooling_param { kernel_size: 2 stride: 2 }")
        + layer(
          "b", "Pooling", "x", "b",
          "pooling_param { kernel_size: 2 stride: 2 round_mode: FLOOR }")
        + layer(
          "c", "Pooling", "x", "c",
          "pooling_param { kernel_size: 2 stride: 2 ceil_mode: false }")
        + layer(
          "d", "Pooling", "x", "d",
          "pooling_param { kernel_size: 2 stride: 2 ceil_mode: true }"))
    let pooling = try #require(converted.layer("a", as: Pooling.self))
    guard case .includeLastPixel? = pooling.padding else {
      Issue.record("\(String(describing: pooling.padding))")
      return
    }
    #expect(converted.outputShape("a") == [1, 4, 4])
    #expect(converted.outputShape("b") == [1, 3, 4])
    // ⌊(7 − 2) / 2⌋ + 1 = 3, ⌈(7 − 2) / 2⌉ + 1 = 4
    #expect(converted.outputShape("c") == [1, 3, 4])
    #expect(converted.outputShape("d") == [1, 4, 4])
    #expect(converted.notes.isEmpty)
    let both = "pooling_param { kernel_size: 2 stride: 2 round_mode: FLOOR ceil_mode: true }"
    let error = modelError {
      try convert(input("x", 1, 1, 7, 8) + layer("a", "Pooling", "x", "a", both))
    }
    #expect(error?.field == "pooling_param.ceil_mode")
  }

  /// Caffe refuses names that an enumeration lacks.
  @Test(
    arguments: [
      ("Pooling", "pooling_param", "round_mode: FOO kernel_size: 2", "round_mode"),
      ("Pooling", "pooling_param", "pool: FOO kernel_size: 2", "pool"),
      ("PriorBox", "prior_box_param", "min_size: 1 variance: nan", "variance"),
      ("PriorBox", "prior_box_param", "min_size: 1 variance: -1", "variance"),
      ("PriorBox", "prior_box_param", "min_size: 1 step: 0 img_size: 8", "step"),
      ("LRN", "lrn_param", "norm_region: FOO", "norm_region"),
      ("LRN", "lrn_param", "alpha: nan", "alpha"),
      ("Power", "power_param", "scale: nan", "scale"),
      ("BatchNorm", "batch_norm_param", "eps: nan", "eps"),
      ("Reduction", "reduction_param", "operation: FOO", "operation"),
    ])
  func namesAndNumbersThatMeanNothingAreRefused(
    type: String, message: String, settings: String, field: String
  ) throws {
    let error = modelError {
      try convert(
        input("x", 1, 4, 7, 8) + layer("a", type, "x", "a", "\(message) { \(settings) }"))
    }
    #expect(error?.layer == "a")
    #expect(error?.field == "\(message).\(field)")
  }

  /// Almost all layers require only specification 1.
  @Test(arguments: [
    ("Softmax", "softmax_param { axis: 2 }", 1), ("ArgMax", "argmax_param { axis: 1 }", 1),
    ("ArgMax", "argmax_param { axis: 1 top_k: 2 }", 4), ("Threshold", "", 1),
    ("Clip", "clip_param { min: -1 max: 1 }", 1), ("Swish", "", 1),
    ("Permute", "permute_param { order: 0 order: 2 order: 3 order: 1 }", 1),
    ("Concat", "bottom: 'x' concat_param { axis: 3 }", 1),
    ("Tile", "tile_param { axis: 2 tiles: 2 }", 1), ("LRN", "lrn_param { norm_region: 1 }", 1),
    ("Reduction", "reduction_param { axis: 2 }", 1),
    ("Interp", "interp_param { zoom_factor: 2 }", 3),
    ("Reshape", "reshape_param { shape { dim: 0 dim: 4 dim: -1 } }", 1),
    ("SPP", "spp_param { pyramid_height: 2 }", 1),
  ])
  func specification(_ type: String, _ fields: String, _ version: Int) throws {
    let converted = try convert(Self.image + layer("l", type, "x", "y", fields))
    #expect(converted.result.model.minimumSpecificationVersion == version)
    #expect(converted.outputs == ["y"])
  }

  @Test func networksOfLaterLayersHaveCaffesOwnAxes() throws {
    let converted = try convert(
      input("x", 1, 6, 4, 5) + layer("t", "ArgMax", "x", "y", "argmax_param { axis: 1 top_k: 2 }"))
    #expect(converted.result.model.neuralNetwork?.arrayInputShapeMapping == .exact)
    #expect(converted.inputShape("x") == [1, 6, 4, 5])
    #expect(converted.outputShape("y") == [1, 2, 4, 5])
    #expect(converted.metadata("assay.layout.x") == "NCHW:NCHW")
    #expect(converted.types.first == "expandDims")
    #expect(converted.types.last == "squeeze")
  }

  @Test func boxesThatOnlyDetectionReadsAreNoLayers() throws {
    let network =
      input("f", 1, 2, 2, 2) + input("p", 1, 3, 20, 20) + input("loc", 1, 16)
      + input("conf", 1, 8)
        + """
        layer { name: 'prior' type: 'PriorBox' bottom: 'f' bottom: 'p' top: 'prior'
          prior_box_param { min_size: 5 } }
        layer { name: 'out' type: 'DetectionOutput' bottom: 'loc' bottom: 'conf' bottom: 'prior'
          top: 'out' detection_output_param { num_classes: 2 keep_top_k: 3
            nms_param { top_k: 4 } confidence_threshold: 0.1 } }
        """
    let converted = try convert(network)
    #expect(!converted.types.contains("loadConstant"))
    #expect(converted.types.contains("NonMaximumSuppression"))
    #expect(converted.outputShape("out") == [1, 1, 3, 7])
    #expect(converted.result.model.minimumSpecificationVersion == 4)
  }

  @Test func masksOfMaximaNeedNoLayersOfTheirOwn() throws {
    let network =
      input("x", 1, 2, 4, 4)
        + """
        layer { name: 'pool' type: 'Pooling' bottom: 'x' top: 'pool' top: 'mask'
          pooling_param { kernel_size: 2 stride: 2 } }
        layer { name: 'up' type: 'Upsample' bottom: 'pool' bottom: 'mask' top: 'up'
          upsample_param { scale: 2 } }
        """
    let converted = try convert(network)
    #expect(converted.outputShape("up") == [2, 4, 4])
    #expect(!converted.names.contains("pool_mask"))
    #expect(converted.result.model.minimumSpecificationVersion == 1)
  }

  /// Each error names the layer and the field, and nothing is converted.
  @Test(arguments: [
    ("Convolution", "convolution_param { kernel_size: 3 }", "num_output"),
    ("Convolution", "convolution_param { num_output: 2 kernel_h: 3 }", "kernel_w"),
    (
      "Convolution", "convolution_param { num_output: 2 kernel_size: 9 }", "smaller than the kernel"
    ),
    ("Convolution", "convolution_param { num_output: 2 kernel_size: 1 group: 2 }", "groups"),
    ("Convolution", "convolution_param { num_output: 2 kernel_size: 1 axis: 7 }", "does not exist"),
    ("Pooling", "pooling_param { kernel_size: 9 }", "does not fit"),
    ("Pooling", "pooling_param { kernel_size: 2 pad: 2 }", "pad"),
    ("Pooling", "pooling_param { global_pooling: true kernel_size: 2 }", "global_pooling"),
    ("LRN", "lrn_param { local_size: 4 }", "even"),
    ("Reshape", "reshape_param { shape { dim: 7 dim: -1 } }", "60 elements"),
    ("Reshape", "reshape_param { shape { dim: -1 dim: -1 } }", "more than once"),
    ("Reshape", "reshape_param { shape { dim: 1 dim: 1 dim: 1 dim: 3 dim: 4 dim: 5 } }", "five"),
    ("Flatten", "flatten_param { axis: 3 end_axis: 1 }", "end_axis"),
    ("Permute", "permute_param { order: 0 order: 0 }", "order"),
    ("Slice", "top: 'z' slice_param { axis: 1 }", "split evenly"),
    ("Slice", "top: 'z' slice_param { slice_point: 3 }", "do not split"),
    ("Softmax", "softmax_param { axis: 4 }", "does not exist"),
    ("ArgMax", "argmax_param { axis: 1 top_k: 4 }", "top_k"),
    ("Exp", "exp_param { base: -2 }", "base"),
    ("Eltwise", "bottom: 'x' eltwise_param { operation: MAX coeff: 1 }", "coeff"),
    ("Eltwise", "", "bottoms"),
    ("ShuffleChannel", "shuffle_channel_param { group: 2 }", "group"),
    ("Reorg", "reorg_param { stride: 2 }", "stride"),
    ("Interp", "interp_param { pad_beg: 1 }", "pad_beg"),
    ("Scale", "scale_param { axis: 2 num_axes: 3 }", "num_axes"),
    ("BatchReindex", "bottom: 'x'", "items"),
    ("Tile", "tile_param { tiles: 2000000000 }", "tiles"),
    ("LSTM", "bottom: 'x' recurrent_param { num_output: 2 }", "bottoms"),
    ("PriorBox", "prior_box_param { min_size: -1 img_size: 5 }", "min_size"),
    ("Filter", "bottom: 'x'", "from run to run"), ("Proposal", "", "bottoms"),
    ("ROIPooling", "roi_pooling_param { pooled_h: 2 }", "pooled_w"),
    ("ROIPooling", "roi_pooling_param { pooled_h: 2 pooled_w: 2 }", "bottoms"),
    (
      "ROIPooling", "bottom: 'x' roi_pooling_param { pooled_h: 2 pooled_w: 2 }", "five numbers"
    ),
    ("PSROIPooling", "psroi_pooling_param { output_dim: 3 group_size: 2 }", "output_dim"),
    (
      "Python", "python_param { module: 'm' layer: 'Mine' }",
      "the code of layer 'Mine' is in another file, the Python module 'm'"
    ),
    (
      "Python",
      "bottom: 'x' bottom: 'x' python_param { module: 'rpn.proposal_layer' layer: 'ProposalLayer' "
        + "param_str: 'feat_stride: 16' }", "18 channels"
    ),
    (
      "Python",
      "bottom: 'x' bottom: 'x' python_param { module: 'rpn.proposal_layer' layer: 'ProposalLayer' "
        + "param_str: 'stride: 16' }", "has no setting 'stride'"
    ),
    (
      "Python",
      "bottom: 'x' bottom: 'x' python_param { module: 'rpn.proposal_layer' layer: 'ProposalLayer' "
        + "param_str: 'nothing' }", "not a list of settings"
    ),
  ])
  func refusals(_ type: String, _ fields: String, _ words: String) throws {
    let error = try #require(
      modelError { try convert(Self.image + layer("l", type, "x", "y", fields)) })
    #expect(error.description.contains("'l'"), "\(error)")
    #expect(error.description.contains(words), "\(error)")
  }

  @Test func whatCannotBeExpressedBecomesCustomOnRequest() throws {
    var options = ConversionOptions()
    options.customLayers = .allow
    let converted = try convert(
      Self.image
        + layer("l", "LRN", "x", "y")
        + layer("m", "Filter", "y", "z", "filter_param { depth: 3 }"),
      options: options)
    #expect(converted.types == ["lrn", "custom"])
    let custom = try #require(converted.layer("m", as: Custom.self))
    #expect(custom.className == "Filter")
    #expect(custom.parameters["depth"] != nil)
  }
}
