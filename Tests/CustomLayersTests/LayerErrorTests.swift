import TensorCore
import TestSupport
import Testing

@testable import CustomLayers

/// Inputs that the built-in layers reject with one error that names the field.
@Suite struct LayerErrorTests {
  /// The required parameters of each class.
  private static let needed: [String: [String: CustomLayerParameter]] = [
    "Resize": ["scale": .double(2)],
    "Formula": ["expression": .string("x")],
    "DeformableConvolution": ["kernel_h": .int(1), "kernel_w": .int(1)],
    "reshape": [
      "src_dim": .int(1), "part_a": .int(1), "part_b": .int(-1), "high": .int(1), "low": .int(2),
    ],
    "ROIPooling": ["pooled_h": .int(2), "pooled_w": .int(2)],
    "ROIAlign": ["pooled_h": .int(2), "pooled_w": .int(2)],
    "PSROIPooling": ["group_size": .int(2)],
    "addition": ["dim": .int(1), "chunk_size": .int(1)],
    "dneprDroid_deform_conv2d": [
      "outShape": .string("[1, 1, 1, 2, 2]"), "inChannels": .int(1), "height": .int(2),
      "width": .int(2), "weightH": .int(1), "weightW": .int(1), "padH": .int(0), "padW": .int(0),
      "strideH": .int(1), "strideW": .int(1), "dilationH": .int(1), "dilationW": .int(1),
      "outH": .int(2), "outW": .int(2), "deformableGroup": .int(1), "useMask": .bool(false),
    ],
  ]

  private static let classNames = builtInCustomLayers.map { $0.className }

  @Test(arguments: classNames)
  func refusesAnotherNumberOfInputs(name: String) throws {
    let layer = try LayerRun.type(name).init(parameters: Self.needed[name] ?? [:])
    for count in [0, 4] {
      let shapes = [[Int]](repeating: [1, 1, 1, 2, 2], count: count)
      let error = #expect(throws: ModelError.self) {
        try layer.outputShapes(forInputShapes: shapes)
      }
      #expect(error?.message.hasPrefix("it has \(count) inputs, but the class takes ") == true)
    }
  }

  /// Input shapes of every rank produce output shapes or an error, never a trap.
  @Test(arguments: classNames)
  func takesAnyRankOrRefusesIt(name: String) throws {
    let layer = try LayerRun.type(name).init(parameters: Self.needed[name] ?? [:])
    var answered = false
    for rank in 1...8 {
      for count in 1...3 {
        let shapes = [[Int]](repeating: [Int](repeating: 8, count: rank), count: count)
        do {
          let outputs = try layer.outputShapes(forInputShapes: shapes)
          #expect(outputs.allSatisfy { !$0.isEmpty && $0.allSatisfy { $0 > 0 } })
          answered = true
        } catch { #expect(error is ModelError) }
      }
    }
    // These accept only particular shapes.
    let particular = [
      "ROIPooling", "ROIAlign", "PSROIPooling", "GroupNormalization", "DeformableConvolution",
      "GridSampleLayer", "Proposal",
    ]
    #expect(answered || particular.contains(name) || name.hasPrefix("dneprDroid"))
  }

  @Test func namesTheParameter() throws {
    for (name, parameters, field) in [
      ("Resize", [:], "parameters.height"),
      ("Resize", ["height": .int(0), "width": .int(3)], "parameters.height"),
      ("Resize", ["scale": .double(2), "mode": .string("cubic")], "parameters.mode"),
      (
        "Resize", ["scale": .double(2), "align_corners": .bool(true), "half_pixel": .bool(true)],
        "parameters.align_corners"
      ),
      ("GroupNormalization", ["groups": .int(0)], "parameters.num_groups"),
      ("GroupNormalization", ["groups": .double(1.5)], "parameters.groups"),
      ("InstanceNormalization", ["epsilon": .string("small")], "parameters.epsilon"),
      ("GELU", ["approximate": .string("erf")], "parameters.approximate"),
      ("SpaceToDepth", ["block_size": .int(0)], "parameters.block_size"),
      ("GridSampleLayer", ["mode": .int(2)], "parameters.mode"),
      ("DeformableConvolution", ["kernel_h": .int(3)], "parameters.kernel_w"),
      ("reshape", ["src_dim": .int(4)], "parameters.src_dim"),
      ("dneprDroid_lstsq", ["driver": .string("gelsy")], "parameters.driver"),
      ("dneprDroid_deform_conv2d", [:], "parameters.weightH"),
    ] as [(String, [String: CustomLayerParameter], String)] {
      let error = #expect(throws: ModelError.self, "\(name)") {
        try LayerRun.type(name).init(parameters: parameters)
      }
      #expect(error?.field == field, "\(name)")
    }
  }

  @Test func refusesShapesAndWeightsThatDoNotFit() throws {
    let halves = CustomLayerWeight(Bytes([UInt8](repeating: 0, count: 3)), .float16)
    #expect(throws: ModelError.self) { try halves.floats() }
    let image = [1, 1, 6, 4, 5]
    for (name, parameters, weights, shapes) in [
      ("GroupNormalization", ["groups": .int(4)], [], [image]),
      ("GroupNormalization", ["in_channels": .int(4), "groups": .int(2)], [], [image]),
      ("GroupNormalization", ["groups": .int(2)], [CustomLayerWeight([1, 2])], [image]),
      ("L2Normalization", [:], [CustomLayerWeight([1, 2])], [image]),
      ("Softmax", ["axis": .int(5)], [], [image]),
      ("SpaceToDepth", [:], [], [image]),
      ("DepthToSpace", [:], [], [image]),
      ("ResCropBlockLambda", [:], [], [image]),
      ("GridSampleLayer", [:], [], [image, image]),
      ("dneprDroid_addmm", [:], [], [image, image]),
      ("dneprDroid_lstsq", [:], [], [[3, 4], [3]]),
      ("dneprDroid_lstsq", [:], [], [[100_000, 100_000], [100_000]]),
      (
        "DeformableConvolution", ["kernel_h": .int(7), "kernel_w": .int(1)],
        [CustomLayerWeight([1])], [image, image]
      ),
      (
        "DeformableConvolution", ["kernel_h": .int(1), "kernel_w": .int(1)],
        [CustomLayerWeight([1, 2, 3, 4, 5])], [image, [1, 1, 2, 4, 5]]
      ),
    ] as [(String, [String: CustomLayerParameter], [CustomLayerWeight], [[Int]])] {
      let layer = try LayerRun.make(name, parameters, weights)
      #expect(throws: ModelError.self, "\(name) \(parameters)") {
        try layer.outputShapes(forInputShapes: shapes)
      }
    }
    for (name, count) in [("HardSwish", 1), ("Swish", 2), ("GroupNormalization", 3)] {
      #expect(throws: ModelError.self) {
        try LayerRun.make(name, [:], [CustomLayerWeight](repeating: .init([1]), count: count))
      }
    }
  }

  /// Coordinates that no integer can represent.
  @Test(
    arguments: ["ROIPooling", "ROIAlign", "PSROIPooling"],
    [Double(Float.greatestFiniteMagnitude), -1e30])
  func anEnormousScaleOfRegionsHasAnAnswer(_ name: String, _ scale: Double) throws {
    let layer = try LayerRun.make(
      name,
      [
        "pooled_h": .int(2), "pooled_w": .int(2), "group_size": .int(2),
        "spatial_scale": .double(scale),
      ])
    let regions = CaseTensor(
      shape: [3, 5, 1, 1],
      values: [0, 1, 1, 3, 3, 0, -1e9, 1e9, 1e9, -1e9, 1, .nan, .infinity, -.infinity, 0])
    let image = CaseTensor(shape: [2, 4, 5, 6], values: [Float](repeating: 1, count: 240))
    let result = try LayerRun.run(layer, [image, regions])
    #expect(result[0].shape == [3, name == "PSROIPooling" ? 1 : 4, 2, 2])
  }
}
