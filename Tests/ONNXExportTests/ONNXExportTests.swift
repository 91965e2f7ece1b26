import ByteFormats
import CoreMLModel
import Foundation
import TensorCore
import TestSupport
import Testing

@testable import ONNXExport

/// Graphs that the program writes. Their expected contents follow from the source in each test.
@Suite struct ONNXExportTests {
  private static let caffe = Fixtures("caffe")
  private static let programs = Fixtures("programs")

  private static func read(_ path: String) throws -> ONNXModel {
    try ONNXModel(bytes: Bytes([UInt8](Data(contentsOf: URL(filePath: path)))))
  }

  private static func converted(
    _ arguments: [String], in folder: String
  ) throws -> ONNXModel {
    let result = try Command.run(["convert"] + arguments + ["-o", folder + "/m.onnx"])
    #expect(result.code == 0, "\(result.errors)")
    return try read(folder + "/m.onnx")
  }

  /// Convolution, ReLU, pooling, inner product and softmax, on 3 × 6 × 6.
  @Test func aCaffeNetworkBecomesAGraph() throws {
    try withTemporaryFolder { folder in
      let model = try Self.converted(
        [Self.caffe.path("v2.prototxt"), Self.caffe.path("single.caffemodel")], in: folder)
      let graph = try #require(model.graph)
      let types = graph.nodes.map(\.type)
      for type in ["Conv", "Relu", "MaxPool", "Softmax"] {
        #expect(types.filter { $0 == type }.count == 1, "\(types)")
      }
      #expect((model.opset, model.irVersion, model.producerName) == (13, 7, "Assay"))
      #expect(graph.inputs.map(\.name) == ["data"] && graph.outputs.map(\.name) == ["prob"])
      #expect(model.findings.isEmpty, "\(model.findings)")
      let kernel = try #require(graph.initializers.first { $0.sizes == [4, 3, 3, 3] })
      #expect(kernel.data.count == 4 * 4 * 27)
    }
  }

  /// ONNX's GRU resets after its product, as Keras does by default, so that no loop is needed.
  @Test(arguments: ["float32", "float16"])
  func aGRUThatResetsAfterItsProduct(_ precision: String) throws {
    try withTemporaryFolder { folder in
      let source = Fixtures("keras/layers/k3").path("gru_reset_after_sequences.keras")
      let graph = try #require(
        try Self.converted([source, "--precision", precision], in: folder).graph)
      let node = try #require(graph.nodes.first { $0.type == "GRU" })
      #expect(node.attributes.contains { $0.name == "linear_before_reset" })
    }
  }

  /// `clip` for integers may have any bounds.
  @Test(arguments: [3e9, -3e9, .infinity, -.infinity, .nan] as [Float])
  func numbersBeyondIntegersAreRefused(_ value: Float) throws {
    let writer = ProgramWriter(MILProgram(), opset: 13, outputNames: [:])
    let operation = ExportedOperation(operation: MILOperation(), program: writer)
    #expect(throws: ModelError.self) { try operation.array([value], [], .int32) }
    #expect(try operation.array([-2.5], [], .int32).type == .int32)
  }

  @Test func theSameModelGivesTheSameBytes() throws {
    try withTemporaryFolder { folder in
      let source = [Self.caffe.path("v2.prototxt"), Self.caffe.path("single.caffemodel")]
      _ = try Self.converted(source, in: folder)
      let first = try Data(contentsOf: URL(filePath: folder + "/m.onnx"))
      _ = try Self.converted(source, in: folder)
      #expect(try Data(contentsOf: URL(filePath: folder + "/m.onnx")) == first)
    }
  }

  /// An initializer is at its offset, a multiple of 4096, in the separate weights file.
  @Test func weightsMayHaveAFileOfTheirOwn() throws {
    try withTemporaryFolder { folder in
      let source = [Self.programs.path("recurrent.mlpackage")]
      let whole = try Self.converted(source, in: folder)
      let split = try Self.converted(source + ["--external-data"], in: folder)
      let data = try Data(contentsOf: URL(filePath: folder + "/m.onnx.data"))
      var count = 0
      for (a, b) in zip(whole.graph?.initializers ?? [], split.graph?.initializers ?? [])
      where b.location == 1 {
        let places = Dictionary(b.externalData.map { ($0.key, $0.value) }) { $1 }
        let start = try #require(Int(places["offset"] ?? ""))
        #expect(places["location"] == "m.onnx.data" && start % 4096 == 0)
        #expect(data[start..<start + a.data.count].elementsEqual(a.data.array(of: UInt8.self)))
        count += 1
      }
      #expect(
        (count > 0) == (whole.graph?.initializers.contains { $0.data.count >= 1024 } ?? false))
      #expect(split.findings.isEmpty, "\(split.findings)")
    }
  }

  /// The batch of a source may have any size, unless `--fixed-sizes` asks for one item; states of
  /// recurrent layers have size one, so that they can be omitted.
  @Test(
    arguments: [
      (["caffe/v2.prototxt", "caffe/single.caffemodel"], "data  float[batch, 3, 6, 6]"),
      (
        ["caffe/v2.prototxt", "caffe/single.caffemodel", "--fixed-sizes"],
        "data  float[1, 3, 6, 6]"
      ),
      (
        ["caffe/v2.prototxt", "caffe/single.caffemodel", "--image-input", "data"],
        "data  float[batch, 3, 6, 6]"
      ),
      (["programs/keras/recurrent.h5"], "int32[1, 6]"),
    ])
  func aBatchHasAnyNumberOfItems(_ arguments: [String], _ line: String) throws {
    try withTemporaryFolder { folder in
      let words = arguments.map { $0.contains("/") ? Fixtures("").path($0) : $0 }
      let model = try Self.converted(words, in: folder)
      #expect(model.findings.isEmpty, "\(model.findings)")
      let shown = try Command.run("inspect", folder + "/m.onnx")
      #expect(shown.output.contains(line), "\(shown.output)")
    }
  }

  /// ONNX Runtime rejects the rule SAME_UPPER beside dilations, and for windows narrower than their
  /// distance. Windows of extent e at a distance s need max(0, (⌈n / s⌉ − 1) · s + e − n) more
  /// elements along an axis of size n, the smaller half in front.
  @Test(
    arguments: [
      // 3 × 7: windows of 1 × 3, dilated to 1 × 5, at distances of 3 × 3
      ("k3/sparse_dilated.keras", "Conv", [0, 2, 0, 2]),
      // 9 × 8: windows of 1 × 1 at 2 × 3, then, on 5 × 3, windows of 1 × 2 at 3 × 3
      ("tf2/sparse_windows.h5", "AveragePool", [0, 0, 0, 0]),
      ("tf2/sparse_windows.h5", "MaxPool", [0, 0, 0, 0]),
    ])
  func paddingIsStated(_ name: String, _ type: String, _ pads: [Int]) throws {
    try withTemporaryFolder { folder in
      let model = try Self.converted([Fixtures("keras/layers").path(name)], in: folder)
      let node = try #require(model.graph?.nodes.first { $0.type == type })
      #expect(node.attributes.first { $0.name == "pads" }?.ints == pads)
      #expect(!node.attributes.contains { $0.name == "auto_pad" })
    }
  }

  /// This version writes no lists; the message names the operations.
  @Test func listsAreRefused() throws {
    try withTemporaryFolder { folder in
      let result = try Command.run(
        "convert", Self.programs.path("growing.mlpackage"), "-o", folder + "/m.onnx")
      #expect(result.code == 2, "\(result.errors)")
      #expect(result.errors.contains("'make_list_0' (make_list)"), "\(result.errors)")
      #expect(result.errors.contains("lists are not written"), "\(result.errors)")
      #expect(fileNames(in: folder).isEmpty)
    }
  }

  /// A loop's and a branch's blocks are graphs; tables of codes are expanded; a fractional factor
  /// is the ratio of two sizes.
  @Test func placesTablesAndLoops() throws {
    try withTemporaryFolder { folder in
      let model = try Self.converted([Self.programs.path("places.mlpackage")], in: folder)
      #expect(model.findings.isEmpty, "\(model.findings)")
      let graph = try #require(model.graph)
      let loop = try #require(graph.nodes.first { $0.type == "Loop" }?.attributes[0].graph)
      let branch = try #require(loop.nodes.first { $0.type == "If" })
      #expect(branch.attributes.map(\.name) == ["then_branch", "else_branch"])
      #expect(graph.nodes.first { $0.type == "Resize" }?.inputs.count == 4)
      // The blocks read values of the graph around them.
      var damaged = model
      damaged.graph?.inputs.removeAll { $0.name == "x" }
      #expect(damaged.findings.contains { $0.layerClass == "ReduceSum" })
    }
  }

  /// `band_part` keeps columns j of row i for i − j ≤ lower and j − i ≤ upper. Trilu keeps
  /// j − i ≥ k of upper triangles, j − i ≤ k of lower ones.
  @Test func trianglesOfMatricesOfAnySize() throws {
    for (lower, upper, sides) in [(-1, 0, [0]), (2, -1, [1]), (1, 3, [1, 0])] {
      let writer = ProgramWriter(MILProgram(), opset: 14, outputNames: [:])
      writer.define("x", GraphValue(name: "x", type: .float32, shape: [nil, nil]))
      var operation = MILOperation()
      operation.inputs = [MILArgumentEntry("x", [.name("x")])]
      operation.attributes = [
        MILAttribute("lower", MILValue(ints: [lower], [])),
        MILAttribute("upper", MILValue(ints: [upper], [])),
      ]
      let rule = try #require(onnxRules["band_part"])
      _ = try rule(ExportedOperation(operation: operation, program: writer))
      #expect(writer.graph.nodes.map { $0.attributes[0].int } == sides)
      let diagonals = writer.graph.initializers.map { $0.data.array(of: Int64.self)[0] }
      #expect(diagonals == sides.map { Int64($0 == 1 ? -lower : upper) })
    }
  }

  /// Strides of 0 are an error, not a division by zero.
  @Test(arguments: ["conv", "conv_transpose"]) func windowsMustMove(_ type: String) throws {
    let writer = ProgramWriter(MILProgram(), opset: 13, outputNames: [:])
    for (name, shape) in [("x", [1, 2, 8, 8]), ("weight", [2, 2, 3, 3])] {
      writer.define(name, GraphValue(name: name, type: .float32, shape: shape))
    }
    let operation = MILOperation(
      type, name: "y", inputs: ["x", "weight"].map { MILArgumentEntry($0, [.name($0)]) },
      outputs: [],
      attributes: [
        MILAttribute("strides", MILValue(ints: [0, 0], [2])),
        MILAttribute("dilations", MILValue(ints: [2, 2], [2])),
        MILAttribute("pad_type", MILValue("same")),
      ])
    let rule = try #require(onnxRules[type])
    let error = #expect(throws: ModelError.self) {
      try rule(ExportedOperation(operation: operation, program: writer))
    }
    #expect(error?.field == "strides")
  }

  @Test func optionsOfONNXNeedIt() throws {
    try withTemporaryFolder { folder in
      let source = Self.programs.path("binary.mlpackage")
      for (options, message) in [
        (["--opset", "12", "-o", "m.onnx"], "opsets 13 to 21"),
        (["--opset", "13", "-o", "m.mlpackage"], "write an .onnx"),
        (["-o", "m.onx"], "did you mean '.onnx'"), (["-o", "m.mlmodel"], "with -o FILE.onnx"),
      ] {
        let words = options.map { $0.hasPrefix("m.") ? folder + "/" + $0 : $0 }
        let result = try Command.run(["convert", source] + words)
        let code = message == "with -o FILE.onnx" ? 2 : 64
        #expect(result.code == code && result.errors.contains(message), "\(result.errors)")
      }
    }
  }

  /// A state is an input with zeros as its default, and an output.
  @Test func statesBecomeInputsAndOutputs() throws {
    try withTemporaryFolder { folder in
      let model = try Self.converted([Self.programs.path("states.mlpackage")], in: folder)
      let graph = try #require(model.graph)
      let next = graph.outputs.map(\.name).filter { $0.hasSuffix("_next") }
      #expect(!next.isEmpty)
      for name in next {
        let state = String(name.dropLast("_next".count))
        #expect(graph.inputs.contains { $0.name == state })
        let zeros = try #require(graph.initializers.first { $0.name == state })
        #expect(zeros.data.array(of: UInt8.self).allSatisfy { $0 == 0 })
      }
    }
  }

  /// The function returns 'y2' twice, and a graph may have each name once.
  @Test func aRepeatedOutputIsWrittenOnce() throws {
    try withTemporaryFolder { folder in
      let model = try Self.converted([Self.programs.path("reflected.mlpackage")], in: folder)
      #expect(model.graph?.outputs.map(\.name) == ["y0", "y1", "y2"])
      #expect(model.findings.isEmpty, "\(model.findings)")
    }
  }

  /// `inspect` and `check` show the structure and the errors.
  @Test func theStructureIsReadBack() throws {
    try withTemporaryFolder { folder in
      var model = try Self.converted(
        [Self.caffe.path("v2.prototxt"), Self.caffe.path("single.caffemodel")], in: folder)
      let shown = try Command.run("inspect", folder + "/m.onnx")
      #expect(shown.code == 0 && shown.output.contains("float[batch, 3, 6, 6]"), "\(shown)")
      #expect(shown.output.contains("MaxPool"), "\(shown.output)")
      #expect(try Command.run("check", folder + "/m.onnx").code == 0)
      model.graph?.nodes.removeFirst()
      try model.write(to: folder + "/m.onnx")
      let wrong = try Command.run("check", folder + "/m.onnx")
      #expect(wrong.code == 2 && wrong.output.contains("is not defined"), "\(wrong.output)")
    }
  }

  /// Truncated files are errors.
  @Test func damagedFilesAreErrors() throws {
    try withTemporaryFolder { folder in
      _ = try Self.converted([Self.programs.path("binary.mlpackage")], in: folder)
      let bytes = try [UInt8](Data(contentsOf: URL(filePath: folder + "/m.onnx")))
      for count in stride(from: 0, to: bytes.count / 2, by: max(1, bytes.count / 60)) {
        #expect(throws: ModelError.self) {
          let model = try ONNXModel(bytes: Bytes(Array(bytes[..<count])))
          if let error = model.findings.first { throw error }
        }
      }
    }
  }

  /// ONNX Runtime matches coremltools, or a derivation beside the fixtures.
  @Test(.onnxRuntime, .unsanitized) func onnxRuntimeAgrees() throws {
    let python = try #require(Python.withONNXRuntime)
    let judge = "\(packageRoot)/Tests/Tools/onnx_judge.py"
    let names = [
      "binary", "boxes17", "unary", "reductions", "normalizations", "recurrent", "mixed", "logical",
      "shapes", "places", "condition",
    ]
    let result = try Program(python).run(
      [judge, Command.binary, Self.programs.path("")]
        + names.flatMap { ["--only", "/\($0).mlpackage"] })
    #expect(result.code == 0, "\(result.output)\(result.errors)")
    #expect(result.output.contains("\(names.count) match"), "\(result.output)")
  }
}

/// Python with the packages onnx and onnxruntime: `python3`, or the one in `ASSAY_ONNX_PYTHON`.
private enum Python {
  static let withONNXRuntime: String? = {
    let named = ProcessInfo.processInfo.environment["ASSAY_ONNX_PYTHON"]
    for path in [named, Program.find("python3")?.path].compactMap({ $0 }) {
      let imported = try? Program(path).run(["-c", "import onnx, onnxruntime, numpy"])
      if imported?.code == 0 { return path }
    }
    return nil
  }()
}

extension Trait where Self == ConditionTrait {
  fileprivate static var onnxRuntime: Self {
    .enabled(
      if: Python.withONNXRuntime != nil, "python3 has no onnx and onnxruntime (ASSAY_ONNX_PYTHON)")
  }
}
