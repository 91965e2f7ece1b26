import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore
import TestSupport
import Testing

@testable import KerasImport

/// Expected values follow from Keras's documentation of each layer.
struct SequenceLayerTests {
  @Test func convolutionRunsAlongTheWidth() throws {
    let converted = try convert(
      single(
        "Conv1D", input: "[null, 10, 2]",
        #""filters": 3, "kernel_size": [3], "strides": [2], "padding": "valid""#),
      ["layer": [.init("kernel:0", [3, 2, 3]), .init("bias:0", [3])]])
    #expect(converted.types == ["permute", "convolution", "permute"])
    #expect((converted.layers[0].parameters as? Permute)?.axis == [3, 1, 2, 0])
    let convolution = try #require(converted.layer("layer", as: Convolution.self))
    #expect(convolution.kernelSize == [1, 3] && convolution.stride == [1, 2])
    // [k, in, out] to [out, in, 1, k]: element [0, 0, 0, x] was at x·6.
    #expect(try Array(convolution.kernel?.floatValue.array().prefix(3) ?? []) == [0, 1.5, 3])
    #expect(converted.inputShape() == [2] && converted.outputShape() == [3])
    #expect(converted.metadata("assay.layout.layer") == "NTC")
  }

  @Test func causalPaddingCountsTheDilation() throws {
    let converted = try convert(
      single(
        "Conv1D", input: "[null, 10, 1]",
        #""filters": 1, "kernel_size": 3, "dilation_rate": 2, "padding": "causal", "use_bias": false"#
      ),
      ["layer": [.init("kernel:0", [3, 1, 1])]])
    #expect(converted.types == ["permute", "padding", "convolution", "permute"])
    let padding = try #require(converted.layer("layer__causal_pad__", as: Padding.self))
    #expect(padding.paddingAmounts?.left == 4 && padding.paddingAmounts?.right == 0)
  }

  @Test func keras1ConvolutionHasAFourthAxis() throws {
    let converted = try convert(
      single(
        "Convolution1D", input: "[null, 10, 2]",
        #""nb_filter": 1, "filter_length": 3, "border_mode": "same", "subsample_length": 1, "bias": false"#
      ),
      version: "1.2.2", ["layer": [.init("layer_W:0", [3, 1, 2, 1])]])
    let kernel = try #require(converted.layer("layer", as: Convolution.self)?.kernel)
    #expect(try kernel.floatValue.array() == [0, 0.5, 1, 0.25, 0.75, 1.25])
  }

  @Test func chainsOfOneDimensionalLayersNeedTwoPermutes() throws {
    let converted = try convert(
      #"""
      {"class_name": "Sequential", "config": [
        {"class_name": "ZeroPadding1D", "config": {"name": "z", "batch_input_shape": [null, 4, 2], "padding": [1, 2]}},
        {"class_name": "Activation", "config": {"name": "a", "activation": "relu"}},
        {"class_name": "MaxPooling1D", "config": {"name": "p", "pool_size": 2, "strides": 2, "padding": "same"}},
        {"class_name": "UpSampling1D", "config": {"name": "u", "size": 3}},
        {"class_name": "Cropping1D", "config": {"name": "c", "cropping": [2, 1]}},
        {"class_name": "Flatten", "config": {"name": "f"}}]}
      """#)
    #expect(
      converted.types == [
        "permute", "padding", "activation", "pooling", "upsample", "crop", "permute", "permute",
        "flatten",
      ])
    // (4 + 3 + 1) / 2 = 4, · 3 − 3 = 9, · 2 = 18
    #expect(converted.outputShape() == [18])
  }

  @Test func globalPooling() throws {
    let converted = try convert(single("GlobalAveragePooling1D", input: "[null, 7, 3]"))
    #expect(converted.layer("layer", as: Pooling.self)?.kernelSize == [1, 7])
    #expect(converted.outputShape() == [3])
    let unknown = try convert(single("GlobalMaxPooling1D", input: "[null, null, 3]"))
    #expect(unknown.layer("layer", as: Pooling.self)?.globalPooling == true)
  }

  @Test func embedding() throws {
    let converted = try convert(
      single("Embedding", input: "[null, 5]", #""input_dim": 3, "output_dim": 2"#),
      ["layer": [.init("embeddings:0", [3, 2])]])
    let embedding = try #require(converted.only(Embedding.self))
    #expect(embedding.inputDim == 3 && embedding.outputChannels == 2 && !embedding.hasBias)
    #expect(try embedding.matrix?.floatValue.array() == [0, 0.5, 1, 0.25, 0.75, 1.25])
    #expect(converted.inputShape() == [1] && converted.outputShape() == [2])
    #expect(converted.metadata("assay.layout.layer_input") == "NT")
    #expect(converted.metadata("assay.shape.layer_input") == "?,5")
    #expect(converted.metadata("assay.layout.layer") == "NTC")
    // No layer uses the mask, so it is not computed.
    let masked = try convert(
      single(
        "Embedding", input: "[null, 5]", #""input_dim": 3, "output_dim": 2, "mask_zero": true"#),
      ["layer": [.init("embeddings:0", [3, 2])]])
    #expect(masked.types == ["embedding"])
  }

  @Test(arguments: [
    ("[null, 2, 3, 4]", "[3, 1, 2]", [0, 3, 1, 2], [3, 4, 2]),
    ("[null, 2, 3, 4]", "[1, 2, 3]", [0, 1, 2, 3], [4, 2, 3]),
    ("[null, 2, 3]", "[2, 1]", [1, 0, 2, 3], [2]),
  ])
  func permute(_ input: String, _ dims: String, _ axes: [Int], _ shape: [Int]) throws {
    // (3, 1, 2): the output's H is the input's C, its W is H, and its C is W.
    let converted = try convert(single("Permute", input: input, #""dims": \#(dims)"#))
    let expected = dims == "[3, 1, 2]" ? [0, 3, 1, 2] : axes
    #expect(converted.only(Permute.self)?.axis == expected)
    #expect(converted.outputShape() == shape)
  }

  @Test func repeatVector() throws {
    let converted = try convert(single("RepeatVector", input: "[null, 3]", #""n": 4"#))
    #expect(converted.only(SequenceRepeat.self)?.nRepetitions == 4)
    #expect(converted.metadata("assay.layout.layer") == "NTC")
  }

  @Test func timeDistributedLayersWorkOnEachStep() throws {
    let converted = try convert(
      single(
        "TimeDistributed", input: "[null, 6, 3]",
        #""layer": {"class_name": "Dense", "config": {"name": "inner", "units": 2, "activation": "relu"}}"#
      ),
      ["layer": [.init("kernel:0", [3, 2]), .init("bias:0", [2])]])
    #expect(converted.names == ["layer", "layer__activation__"])
    #expect(converted.types == ["innerProduct", "activation"])
    let image = try convert(
      single(
        "TimeDistributed", input: "[null, 6, 4, 4, 3]",
        #""layer": {"class_name": "Flatten", "config": {"name": "inner"}}"#))
    #expect(image.only(Flatten.self)?.mode == .channelLast)
    #expect(image.inputShape() == [3, 4, 4] && image.outputShape() == [48])
    let unknown = modelError {
      try convert(
        single(
          "TimeDistributed", input: "[null, 6, 3]",
          #""layer": {"class_name": "Mystery", "config": {}}"#))
    }
    #expect(unknown?.message.contains("TimeDistributed(Mystery)") == true)
  }

  @Test func lstmGatesAreReordered() throws {
    let converted = try convert(
      single(
        "LSTM", input: "[null, 5, 2]",
        #""units": 1, "activation": "tanh", "recurrent_activation": "hard_sigmoid", "unit_forget_bias": true, "return_sequences": true"#
      ),
      [
        "layer": [
          .init("kernel:0", [2, 4]), .init("recurrent_kernel:0", [1, 4], from: 10),
          .init("bias:0", values: [1, 2, 3, 4]),
        ]
      ])
    let layer = try #require(converted.only(UniDirectionalLSTM.self))
    // Keras stores i, f, c, o side by side.
    #expect(try layer.weightParams?.inputGate.matrix?.floatValue.array() == [0, 1])
    #expect(try layer.weightParams?.forgetGate.matrix?.floatValue.array() == [0.25, 1.25])
    #expect(try layer.weightParams?.blockInput.matrix?.floatValue.array() == [0.5, 1.5])
    #expect(try layer.weightParams?.outputGate.matrix?.floatValue.array() == [0.75, 1.75])
    #expect(try layer.weightParams?.blockInput.recursion?.floatValue.array() == [10.5])
    #expect(try layer.weightParams?.outputGate.bias?.floatValue.array() == [4])
    #expect(layer.params?.forgetBias == false && layer.params?.sequenceOutput == true)
    #expect(
      layer.activations.map(\.function) == [.sigmoidHard(alpha: 0.2, beta: 0.5), .tanh, .tanh])
    let description = converted.result.model.description
    #expect(description?.input.map(\.name) == ["layer_input", "layer_h_in", "layer_c_in"])
    #expect(description?.input.map { $0.type?.isOptional } == [false, true, true])
    #expect(description?.output.map(\.name) == ["layer", "layer_h_out", "layer_c_out"])
    #expect(converted.inputShape("layer_h_in") == [1])
  }

  @Test func keras1KeepsEachGateOnItsOwn() throws {
    let gates = ["i", "c", "f", "o"]
    var weights: [MemoryWeights.Weight] = []
    for (index, gate) in gates.enumerated() {
      let start = Float(10 * index)
      weights.append(.init("layer_W_\(gate):0", [2, 1], from: start))
      weights.append(.init("layer_U_\(gate):0", [1, 1], from: start + 1))
      weights.append(.init("layer_b_\(gate):0", [1], from: start + 2))
    }
    let converted = try convert(
      single(
        "LSTM", input: "[null, 5, 2]",
        #""output_dim": 1, "inner_activation": "sigmoid", "consume_less": "cpu""#),
      version: "1.2.2", ["layer": weights])
    let layer = try #require(converted.only(UniDirectionalLSTM.self)?.weightParams)
    #expect(try layer.blockInput.matrix?.floatValue.array() == [10, 10.25])
    #expect(try layer.forgetGate.recursion?.floatValue.array() == [21])
    #expect(try layer.outputGate.bias?.floatValue.array() == [32])
  }

  @Test func gruGates() throws {
    let json = single("GRU", input: "[null, 5, 1]", #""units": 1, "go_backwards": true"#)
    let converted = try convert(
      json,
      [
        "layer": [
          .init("kernel:0", [1, 3]), .init("recurrent_kernel:0", [1, 3], from: 5),
          .init("bias:0", [3], from: 8),
        ]
      ])
    let layer = try #require(converted.only(GRU.self))
    #expect(try layer.updateGate.matrix?.floatValue.array() == [0])
    #expect(try layer.resetGate.recursion?.floatValue.array() == [5.25])
    #expect(try layer.outputGate.bias?.floatValue.array() == [8.5])
    #expect(layer.reverseInput && !layer.sequenceOutput)
    #expect(converted.outputShape() == [1])
    #expect(converted.types == ["gru"])
  }

  /// Keras 2.2, which coremltools supports, numbers layers from 1; in tf.keras, the first one has
  /// no number.
  @Test func statesOfUnnamedLayersAreNamedAsInTheReference() throws {
    func layer(_ name: String) -> String {
      #"{"class_name": "GRU", "config": {"name": "\#(name)", "batch_input_shape": [null, 5, 2], "#
        + #""units": 2, "reset_after": false, "use_bias": false, "return_sequences": true}}"#
    }
    func states(_ names: [String], _ version: String) throws -> [String] {
      let json =
        #"{"class_name": "Sequential", "config": {"name": "s", "layers": ["#
        + names.map(layer).joined(separator: ",") + "]}}"
      var options = ConversionOptions()
      options.missingWeights = .zeros
      let source = try KerasSource(
        path: "model.json", version: KerasVersion(text: version, backend: "tensorflow"),
        configuration: JSONValue(parsing: json), weights: nil)
      let model = try KerasImporter.convert(source, options: options).model
      return (model.description?.input.map(\.name) ?? []).filter { $0.hasSuffix("_in") }
    }
    #expect(try states(["gru", "gru_1"], "2.2.4-tf") == ["gru_1_h_in", "gru_2_h_in"])
    #expect(try states(["gru", "gru_1"], "2.2.4") == ["gru_h_in", "gru_1_h_in"])
    #expect(try states(["gru_1", "gru_2"], "2.2.4-tf") == ["gru_1_h_in", "gru_2_h_in"])
    #expect(try states(["gru", "gru_x"], "2.4.0") == ["gru_1_h_in", "gru_x_h_in"])
  }

  @Test func simpleRNN() throws {
    let converted = try convert(
      single(
        "SimpleRNN", input: "[null, 5, 2]", #""units": 2, "activation": "tanh", "use_bias": false"#),
      ["layer": [.init("kernel:0", [2, 2]), .init("recurrent_kernel:0", [2, 2])]])
    let layer = try #require(converted.only(SimpleRecurrent.self))
    #expect(try layer.weightMatrix?.floatValue.array() == [0, 0.5, 0.25, 0.75])
    #expect(layer.activation?.function == .tanh && !layer.hasBiasVector && layer.biasVector == nil)
  }

  @Test(arguments: [
    ("\"concat\"", ["biDirectionalLSTM"], [4]),
    ("\"sum\"", ["biDirectionalLSTM", "split", "add"], [2]),
    ("\"ave\"", ["biDirectionalLSTM", "split", "average"], [2]),
    ("\"mul\"", ["biDirectionalLSTM", "split", "multiply"], [2]),
  ])
  func bidirectional(_ mode: String, _ types: [String], _ shape: [Int]) throws {
    let converted = try convert(
      single(
        "Bidirectional", input: "[null, 5, 1]",
        #""merge_mode": \#(mode), "layer": {"class_name": "LSTM", "config": {"name": "inner", "units": 2}}"#
      ),
      [
        "layer": [
          .init("f/kernel:0", [1, 8]), .init("f/recurrent_kernel:0", [2, 8]),
          .init("f/bias:0", [8]),
          .init("b/kernel:0", [1, 8], from: 50), .init("b/recurrent_kernel:0", [2, 8]),
          .init("b/bias:0", [8]),
        ]
      ])
    #expect(converted.types == types)
    #expect(converted.outputShape() == shape)
    let layer = try #require(converted.layer("layer", as: BiDirectionalLSTM.self))
    #expect(layer.weightParams.count == 2)
    #expect(try layer.weightParams[1].inputGate.matrix?.floatValue.array() == [50, 50.25])
    #expect(converted.result.model.description?.input.count == 5)
  }

  @Test func initialStatesAreTakenFromTheNetwork() throws {
    let converted = try convert(
      #"""
      {"class_name": "Model", "config": {"name": "m", "layers": [
        {"name": "x", "class_name": "InputLayer", "config": {"name": "x", "batch_input_shape": [null, 5, 1]}, "inbound_nodes": []},
        {"name": "h", "class_name": "InputLayer", "config": {"name": "h", "batch_input_shape": [null, 1]}, "inbound_nodes": []},
        {"name": "r", "class_name": "SimpleRNN", "config": {"name": "r", "units": 1, "return_state": true, "use_bias": false},
         "inbound_nodes": [[["x", 0, 0, {}], ["h", 0, 0, {}]]]}],
        "input_layers": [["x", 0, 0], ["h", 0, 0]], "output_layers": [["r", 0, 0], ["r", 0, 1]]}}
      """#, ["r": [.init("kernel:0", [1, 1]), .init("recurrent_kernel:0", [1, 1])]])
    #expect(converted.layers.first?.input == ["x", "h"])
    #expect(converted.result.model.description?.input.map(\.name) == ["x", "h"])
    // The state is an output twice: under its name, and as Keras's second output.
    #expect(converted.types == ["simpleRecurrent", "activation"])
    #expect(
      converted.result.model.description?.output.map(\.name) == ["r", "r_1", "r_h_out"])
  }

  @Test func dotOfVectors() throws {
    let converted = try convert(
      #"""
      {"class_name": "Model", "config": {"name": "m", "layers": [
        {"name": "x", "class_name": "InputLayer", "config": {"name": "x", "batch_input_shape": [null, 3]}, "inbound_nodes": []},
        {"name": "y", "class_name": "InputLayer", "config": {"name": "y", "batch_input_shape": [null, 3]}, "inbound_nodes": []},
        {"name": "d", "class_name": "Dot", "config": {"name": "d", "axes": -1, "normalize": true}, "inbound_nodes": [[["x", 0, 0, {}], ["y", 0, 0, {}]]]}],
        "input_layers": [["x", 0, 0], ["y", 0, 0]], "output_layers": [["d", 0, 0]]}}
      """#)
    #expect(converted.only(DotProduct.self)?.cosineSimilarity == true)
    #expect(converted.outputShape() == [1])
  }

  private static let resetAfter: KeyValuePairs<String, [MemoryWeights.Weight]> = [
    "layer": [
      .init("kernel:0", [1, 3]), .init("recurrent_kernel:0", [1, 3]), .init("bias:0", [2, 3]),
    ]
  ]

  @Test func stepsThatNoLayerComputesAreWrittenOut() throws {
    let converted = try convert(
      single("GRU", input: "[null, 4, 1]", #""units": 1, "reset_after": true"#), Self.resetAfter)
    #expect(!converted.types.contains("gru"))
    // One product for all inputs, and one for the state in each step.
    #expect(converted.types.count { $0 == "innerProduct" } == 5)
    #expect(converted.names.contains("layer__step_3__out"))
    #expect(!converted.names.contains("layer__step_4__out"))
    let description = converted.result.model.description
    #expect(description?.input.map(\.name) == ["layer_input", "layer_h_in"])
    #expect(description?.output.map(\.name) == ["layer", "layer_h_out"])
  }

  @Test func writingOutNeedsTheNumberOfSteps() {
    let error = modelError {
      try convert(
        single("GRU", input: "[null, null, 1]", #""units": 1, "reset_after": true"#),
        Self.resetAfter)
    }
    #expect(error?.code == .unsupported && error?.layer == "layer")
    #expect(error?.message.contains("(None, None, 1)") == true)
    #expect(error?.hint?.contains("inputShape") == true)
  }

  @Test func bidirectionalLayersOfOtherCellsAreTwo() throws {
    let converted = try convert(
      single(
        "Bidirectional", input: "[null, null, 1]",
        #""layer": {"class_name": "SimpleRNN", "config": {"units": 2, "return_sequences": true}}"#),
      [
        "layer": [
          .init("f/kernel:0", [1, 2]), .init("f/recurrent_kernel:0", [2, 2]),
          .init("f/bias:0", [2]),
          .init("b/kernel:0", [1, 2]), .init("b/recurrent_kernel:0", [2, 2]),
          .init("b/bias:0", [2]),
        ]
      ])
    #expect(
      converted.types == [
        "simpleRecurrent", "simpleRecurrent", "activation", "simpleRecurrent", "activation",
        "concat",
      ])
    #expect(converted.layer("layer_forward", as: SimpleRecurrent.self)?.reverseInput == false)
    #expect(converted.layer("layer_backward", as: SimpleRecurrent.self)?.reverseInput == true)
    // The last layer reverses the sequence: a scaled unit matrix without feedback.
    let turn = try #require(converted.layer("layer_reverse", as: SimpleRecurrent.self))
    #expect(turn.reverseInput && turn.sequenceOutput)
    #expect(try turn.weightMatrix?.floatValue.array() == [1.0 / 4096, 0, 0, 1.0 / 4096])
    #expect(try turn.recursionMatrix?.floatValue.array() == [0, 0, 0, 0])
    #expect(converted.outputShape() == [4])
  }

  /// CuDNN stores each gate's matrix transposed in place, and has two biases, which are added.
  @Test func weightsOfCuDNN() throws {
    let converted = try convert(
      single("CuDNNLSTM", input: "[null, 5, 2]", #""units": 1"#),
      [
        "layer": [
          .init("kernel:0", [2, 4]), .init("recurrent_kernel:0", [1, 4], from: 10),
          .init("bias:0", [8]),
        ]
      ])
    let layer = try #require(converted.only(UniDirectionalLSTM.self))
    #expect(try layer.weightParams?.forgetGate.matrix?.floatValue.array() == [0.25, 1.25])
    #expect(try layer.weightParams?.forgetGate.recursion?.floatValue.array() == [10.25])
    // 0.25 · 1 + 0.25 · 5
    #expect(try layer.weightParams?.forgetGate.bias?.floatValue.array() == [1.5])
    #expect(layer.activations.first?.function == .sigmoid)
  }
}
