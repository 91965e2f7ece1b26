import CoreMLModel
import ImportSupport
import TensorCore
import TestSupport
import Testing

@testable import KerasImport

/// Expected values follow from Keras's documentation of each layer.
struct LayerTests {
  @Test func dense() throws {
    let converted = try convert(
      single("Dense", input: "[null, 3]", #""units": 2, "activation": "softmax""#),
      ["layer": [.init("layer/kernel:0", [3, 2]), .init("layer/bias:0", [2], from: 9)]])
    #expect(converted.names == ["layer", "layer__activation__"])
    #expect(converted.types == ["innerProduct", "softmax"])
    let product = try #require(converted.layer("layer", as: InnerProduct.self))
    #expect(product.inputChannels == 3)
    #expect(product.outputChannels == 2)
    // [in, out] of 0, ¼, … 1¼ becomes [out, in].
    #expect(try product.matrix?.floatValue.array() == [0, 0.5, 1, 0.25, 0.75, 1.25])
    #expect(try product.bias?.floatValue.array() == [9, 9.25])
    #expect(converted.inputShape() == [3])
    #expect(converted.outputShape() == [2])
    #expect(converted.metadata("assay.layout.layer_input") == "NC")
    #expect(converted.metadata("assay.source") == "Keras 2.2.4")
    #expect(converted.metadata("assay.trainable") == "8")
  }

  @Test func denseOnAnImageIsAConvolution() throws {
    let converted = try convert(
      single("Dense", input: "[null, 4, 5, 3]", #""units": 2, "use_bias": false"#),
      ["layer": [.init("kernel:0", [3, 2])]])
    let convolution = try #require(converted.only(Convolution.self))
    #expect(convolution.kernelSize == [1, 1])
    #expect(try convolution.kernel?.floatValue.array() == [0, 0.5, 1, 0.25, 0.75, 1.25])
    #expect(converted.outputShape() == [2, 4, 5])
  }

  @Test func convolution() throws {
    let converted = try convert(
      single(
        "Conv2D", input: "[null, 9, 11, 2]",
        #""filters": 3, "kernel_size": [2, 3], "strides": [2, 1], "padding": "same", "dilation_rate": 1"#
      ),
      ["layer": [.init("kernel:0", [2, 3, 2, 3]), .init("bias:0", [3])]])
    let convolution = try #require(converted.only(Convolution.self))
    #expect(convolution.outputChannels == 3 && convolution.kernelChannels == 2)
    #expect(convolution.nGroups == 1)
    #expect(convolution.kernelSize == [2, 3] && convolution.stride == [2, 1])
    #expect(convolution.padding == .same(SamePadding()))
    // [h, w, in, out] to [out, in, h, w]: the element [o, i, y, x] was at ((y·3 + x)·2 + i)·3 + o.
    let kernel = try #require(convolution.kernel?.floatValue)
    #expect(kernel.shape == [3, 2, 2, 3])
    #expect(try Array(kernel.array()[0..<6]) == [0, 6, 12, 18, 24, 30].map { Float($0) / 4 })
    #expect(converted.outputShape() == [3, 5, 11])
  }

  @Test func validConvolutionWithDilation() throws {
    let converted = try convert(
      single(
        "Conv2D", input: "[null, 9, 11, 1]",
        #""filters": 1, "kernel_size": 3, "dilation_rate": [2, 1], "use_bias": false"#),
      ["layer": [.init("kernel:0", [3, 3, 1, 1])]])
    #expect(converted.outputShape() == [1, 5, 9])
    #expect(converted.only(Convolution.self)?.dilationFactor == [2, 1])
  }

  @Test func channelsFirstNeedsNoTransposition() throws {
    let converted = try convert(
      single(
        "Conv2D", input: "[null, 2, 9, 11]",
        #""filters": 3, "kernel_size": 3, "data_format": "channels_first", "use_bias": false"#),
      ["layer": [.init("kernel:0", [3, 3, 2, 3])]])
    #expect(converted.types == ["convolution"])
    #expect(converted.inputShape() == [2, 9, 11])
    #expect(converted.outputShape() == [3, 7, 9])
    #expect(converted.metadata("assay.layout.layer_input") == "NCHW")
  }

  @Test func depthwiseConvolution() throws {
    let converted = try convert(
      single(
        "DepthwiseConv2D", input: "[null, 5, 5, 2]",
        #""kernel_size": [1, 2], "depth_multiplier": 2, "use_bias": false"#),
      ["layer": [.init("depthwise_kernel:0", [1, 2, 2, 2])]])
    let convolution = try #require(converted.only(Convolution.self))
    #expect(convolution.nGroups == 2 && convolution.kernelChannels == 1)
    #expect(convolution.outputChannels == 4)
    // Output channel c·2 + m at [0, x, c, m]: x·4 + c·2 + m.
    #expect(
      try convolution.kernel?.floatValue.array() == [0, 4, 1, 5, 2, 6, 3, 7].map { Float($0) / 4 })
    #expect(converted.outputShape() == [4, 5, 4])
  }

  @Test func separableConvolution() throws {
    let converted = try convert(
      single(
        "SeparableConv2D", input: "[null, 5, 5, 2]",
        #""filters": 3, "kernel_size": 3, "strides": 2, "padding": "same""#),
      [
        "layer": [
          .init("depthwise_kernel:0", [3, 3, 2, 1]), .init("pointwise_kernel:0", [1, 1, 2, 3]),
          .init("bias:0", [3]),
        ]
      ])
    #expect(converted.names == ["layer_step_1", "layer_step_2"])
    let depthwise = try #require(converted.layer("layer_step_1", as: Convolution.self))
    let pointwise = try #require(converted.layer("layer_step_2", as: Convolution.self))
    #expect(depthwise.stride == [2, 2] && !depthwise.hasBias && depthwise.nGroups == 2)
    #expect(pointwise.stride == [1, 1] && pointwise.hasBias && pointwise.kernelSize == [1, 1])
    #expect(converted.outputShape() == [3, 3, 3])
  }

  @Test(arguments: [
    ("\"padding\": \"same\"", [18, 22]), ("\"padding\": \"valid\"", [19, 23]),
    ("\"padding\": \"same\", \"output_padding\": [0, 1]", [17, 22]),
    ("\"padding\": \"valid\", \"output_padding\": 1", [20, 24]),
  ])
  func transposedConvolution(_ fields: String, _ size: [Int]) throws {
    let converted = try convert(
      single(
        "Conv2DTranspose", input: "[null, 9, 11, 2]",
        #""filters": 1, "kernel_size": 3, "strides": 2, "use_bias": false, \#(fields)"#),
      ["layer": [.init("kernel:0", [3, 3, 1, 2])]])
    let convolution = try #require(converted.only(Convolution.self))
    #expect(convolution.isDeconvolution)
    #expect(convolution.kernelChannels == 2 && convolution.outputChannels == 1)
    #expect(convolution.outputShape == size)
    // [h, w, out, in] to [in, out, h, w].
    #expect(try convolution.kernel?.floatValue.array()[1] == 0.5)
    #expect(converted.outputShape() == [1] + size)
  }

  @Test func dilatedTransposedConvolutionSpreadsItsKernel() throws {
    let converted = try convert(
      single(
        "Conv2DTranspose", input: "[null, 4, 4, 1]",
        #""filters": 1, "kernel_size": 2, "dilation_rate": 2, "use_bias": false"#),
      ["layer": [.init("kernel:0", [2, 2, 1, 1], from: 1)]])
    let convolution = try #require(converted.only(Convolution.self))
    #expect(convolution.kernelSize == [3, 3] && convolution.dilationFactor == [1, 1])
    #expect(try convolution.kernel?.floatValue.array() == [1, 0, 1.25, 0, 0, 0, 1.5, 0, 1.75])
    #expect(converted.outputShape() == [1, 6, 6])
  }

  @Test func batchNormalizationIsFolded() throws {
    let converted = try convert(
      single("BatchNormalization", input: "[null, 4, 4, 2]", #""axis": -1, "epsilon": 0.5"#),
      [
        "layer": [
          .init("gamma:0", values: [3, 1]), .init("beta:0", values: [10, 20]),
          .init("moving_mean:0", values: [4, 5]),
          .init("moving_variance:0", values: [0.5, 3.5]),
        ]
      ])
    let batchnorm = try #require(converted.only(Batchnorm.self))
    // √(0.5 + 0.5) = 1, √(3.5 + 0.5) = 2
    #expect(try batchnorm.gamma?.floatValue.array() == [3, 0.5])
    #expect(try batchnorm.beta?.floatValue.array() == [10 - 12, 20 - 2.5])
    #expect(try batchnorm.mean?.floatValue.array() == [0, 0])
    #expect(try batchnorm.variance?.floatValue.array() == [1 - 1e-5, 1 - 1e-5])
    #expect(batchnorm.epsilon == 1e-5)
    #expect(converted.metadata("assay.trainable") == "4")
  }

  @Test func batchNormalizationOfAnotherAxisIsPermuted() throws {
    let converted = try convert(
      single(
        "BatchNormalization", input: "[null, 4, 5, 2]",
        #""axis": [1], "scale": false, "center": false"#),
      [
        "layer": [
          .init("mean:0", values: [1, 2, 3, 4]), .init("variance:0", values: [1, 1, 1, 1]),
        ]
      ])
    #expect(converted.types == ["permute", "batchnorm", "permute"])
    #expect((converted.layers[0].parameters as? Permute)?.axis == [0, 2, 1, 3])
    #expect((converted.layers[2].parameters as? Permute)?.axis == [0, 2, 1, 3])
    #expect(converted.outputShape() == [2, 4, 5])
  }

  @Test(arguments: [
    ("relu", ["activation"]), ("relu6", ["activation", "activation", "unary", "activation"]),
    ("selu", ["activation", "multiply"]), ("exponential", ["unary"]), ("softmax", ["softmax"]),
    ("linear", ["activation"]), ("hard_sigmoid", ["activation"]), ("softsign", ["activation"]),
  ])
  func activations(_ name: String, _ types: [String]) throws {
    let converted = try convert(
      single("Activation", input: "[null, 3]", #""activation": "\#(name)""#))
    #expect(converted.types == types)
  }

  @Test func swishIsKnownSinceTensorFlow22() throws {
    let json = single("Activation", input: "[null, 3]", #""activation": "swish""#)
    #expect(try convert(json, version: "2.4.0").types == ["activation", "multiply"])
    // In earlier versions, it is a user-defined function with its usual name.
    let customary = try convert(json, version: "2.2.4")
    #expect(customary.types == ["activation", "multiply"])
    #expect(customary.result.notes.contains { $0.contains("'swish' is assumed to be the usual") })
    let error = modelError {
      try convert(
        single("Activation", input: "[null, 3]", #""activation": "swash""#), version: "2.2.4")
    }
    #expect(error?.code == .unsupported)
    #expect(error?.layer == "layer")
    #expect(error?.message.contains("'swash'") == true)
    #expect(error?.hint?.contains(#"[{"activation": "swash", "className": "YourClass"}]"#) == true)
  }

  @Test func reluWithAllOptions() throws {
    // max_value 4, negative_slope ½, threshold 1: x ≥ 4 → 4; 1 < x < 4 → x; else ½·(x − 1)
    let converted = try convert(
      single(
        "ReLU", input: "[null, 3]", #""max_value": 4, "negative_slope": 0.5, "threshold": 1"#))
    #expect(
      converted.types == [
        "activation", "activation", "unary", "activation", "activation", "activation",
        "activation", "add",
      ])
    let functions = converted.layers.compactMap { ($0.parameters as? Activation)?.function }
    #expect(
      functions == [
        .thresholdedReLU(alpha: 1), .linear(alpha: -1, beta: 0), .linear(alpha: -1, beta: 0),
        .linear(alpha: -1, beta: 1), .relu, .linear(alpha: -0.5, beta: 0),
      ])
    #expect(converted.layer("layer__clip__", as: Unary.self)?.alpha == -4)
  }

  @Test func reluWithASlopeIsLeaky() throws {
    let converted = try convert(
      single(
        "ReLU", input: "[null, 3]", #""max_value": null, "negative_slope": 0.25, "threshold": 0.0"#)
    )
    #expect(converted.only(Activation.self)?.function == .leakyReLU(alpha: 0.25))
  }

  @Test func preluPerChannel() throws {
    let converted = try convert(
      single("PReLU", input: "[null, 4, 5, 3]", #""shared_axes": [1, 2]"#),
      ["layer": [.init("alpha:0", [1, 1, 3])]])
    guard case .prelu(let alpha)? = converted.only(Activation.self)?.function else {
      Issue.record("no PReLU")
      return
    }
    #expect(try alpha?.floatValue.array() == [0, 0.25, 0.5])
  }

  @Test func preluPerElement() throws {
    let converted = try convert(
      single("PReLU", input: "[null, 2, 1, 2]", #""shared_axes": null"#),
      ["layer": [.init("alpha:0", [2, 1, 2])]])
    #expect(converted.types == ["activation", "activation", "activation", "scale", "add"])
    let scale = try #require(converted.layer("layer__alpha__", as: Scale.self))
    #expect(scale.shapeScale == [2, 2, 1])
    // −alpha as [C, H, W]
    #expect(try scale.scale?.floatValue.array() == [0, -0.5, -0.25, -0.75])
  }

  @Test func softmaxOfAnotherAxis() throws {
    let converted = try convert(single("Softmax", input: "[null, 4, 5, 3]", #""axis": 1"#))
    #expect(converted.types == ["permute", "softmax", "permute"])
    #expect(try convert(single("Softmax", input: "[null, 4, 5, 3]")).types == ["softmax"])
  }

  @Test func pooling() throws {
    let converted = try convert(
      single(
        "AveragePooling2D", input: "[null, 7, 8, 3]", #""pool_size": [2, 3], "padding": "same""#))
    let pooling = try #require(converted.only(Pooling.self))
    #expect(pooling.type == .average && pooling.kernelSize == [2, 3] && pooling.stride == [2, 3])
    #expect(pooling.padding == .same(SamePadding()) && pooling.avgPoolExcludePadding)
    #expect(converted.outputShape() == [3, 4, 3])
    let valid = try convert(
      single("MaxPooling2D", input: "[null, 7, 8, 3]", #""pool_size": 3, "strides": 2"#))
    #expect(valid.outputShape() == [3, 3, 3])
  }

  @Test func globalPooling() throws {
    let converted = try convert(single("GlobalMaxPooling2D", input: "[null, 7, 8, 3]"))
    let pooling = try #require(converted.only(Pooling.self))
    #expect(pooling.type == .max && pooling.globalPooling && pooling.kernelSize == [0, 0])
    #expect(converted.outputShape() == [3])
    #expect(converted.metadata("assay.layout.layer") == "NC")
    let kept = try convert(
      single("GlobalAveragePooling2D", input: "[null, 7, 8, 3]", #""keepdims": true"#))
    #expect(kept.outputShape() == [3, 1, 1])
  }

  @Test(arguments: [
    ("1", [1, 1, 1, 1]), ("[1, 2]", [1, 1, 2, 2]), ("[[1, 2], [3, 4]]", [1, 2, 3, 4]),
    ("[1, 2, 3, 4]", [1, 2, 3, 4]), (#"{"top_pad": 1, "right_pad": 4}"#, [1, 0, 0, 4]),
  ])
  func borders(_ amount: String, _ expected: [Int]) throws {
    let converted = try convert(
      single("ZeroPadding2D", input: "[null, 5, 6, 1]", #""padding": \#(amount)"#))
    let amounts = try #require(converted.only(Padding.self)?.paddingAmounts)
    #expect([amounts.top, amounts.bottom, amounts.left, amounts.right] == expected)
    #expect(
      converted.outputShape() == [1, 5 + expected[0] + expected[1], 6 + expected[2] + expected[3]])
  }

  @Test func cropping() throws {
    let converted = try convert(
      single("Cropping2D", input: "[null, 5, 6, 1]", #""cropping": [[1, 2], [0, 3]]"#))
    #expect(converted.outputShape() == [1, 2, 3])
    let nothing = modelError {
      try convert(single("Cropping2D", input: "[null, 5, 6, 1]", #""cropping": 3"#))
    }
    #expect(nothing?.code == .malformed)
  }

  @Test func upsampling() throws {
    let json = single(
      "UpSampling2D", input: "[null, 5, 6, 1]", #""size": [2, 3], "interpolation": "bilinear""#)
    let first = try convert(json)
    #expect(first.only(Upsample.self)?.scalingFactor == [2, 3])
    #expect(first.only(Upsample.self)?.linearUpsampleMode == .default)
    #expect(first.outputShape() == [1, 10, 18])
    // TensorFlow 2 samples at pixel centers.
    #expect(
      try convert(json, version: "2.4.0").only(Upsample.self)?.linearUpsampleMode
        == .alignCornersFalse)
  }

  @Test func flatten() throws {
    let image = try convert(single("Flatten", input: "[null, 2, 3, 4]"))
    #expect(image.only(Flatten.self)?.mode == .channelLast)
    #expect(image.outputShape() == [24])
    let sequence = try convert(single("Flatten", input: "[null, 3, 4]"))
    #expect(sequence.types == ["permute", "flatten"])
    #expect((sequence.layers[0].parameters as? Permute)?.axis == [2, 1, 0, 3])
    #expect(sequence.outputShape() == [12])
  }

  @Test(arguments: [
    ("[null, 12]", "[2, 2, 3]", [1, 3, 2, 2], Reshape.Order.channelLast),
    ("[null, 2, 2, 3]", "[-1]", [1, 12, 1, 1], .channelLast),
    ("[null, 12]", "[3, 4]", [3, 4, 1, 1], .channelFirst),
    ("[null, 3, 4]", "[2, -1, 2]", [1, 2, 2, 3], .channelLast),
  ])
  func reshape(_ input: String, _ target: String, _ shape: [Int], _ mode: Reshape.Order) throws {
    let converted = try convert(single("Reshape", input: input, #""target_shape": \#(target)"#))
    #expect(converted.only(Reshape.self)?.targetShape == shape)
    #expect(converted.only(Reshape.self)?.mode == mode)
  }

  @Test func reshapeToAnotherCountIsRefused() throws {
    let error = modelError {
      try convert(single("Reshape", input: "[null, 12]", #""target_shape": [5, 2]"#))
    }
    #expect(error?.layer == "layer")
  }

  @Test func layersOfTrainingVanish() throws {
    for name in ["Dropout", "GaussianNoise", "AlphaDropout", "ActivityRegularization"] {
      let converted = try convert(single(name, input: "[null, 4]"))
      // Input and output are the same blob, so a copy is inserted between them.
      #expect(converted.types == ["activation"])
      #expect(converted.only(Activation.self)?.function == .linear(alpha: 1, beta: 0))
    }
  }
}
