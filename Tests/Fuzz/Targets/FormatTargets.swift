import Assay
import ByteFormats
import Formulas
import Foundation
import FuzzSupport
import HDF5Reader
import Imaging
import TensorCore

extension FuzzTarget {
  /// Files changed byte by byte.
  static let formats: [FuzzTarget] = [
    FuzzTarget("mlmodel-bytes", suffix: ".mlmodel", attempt: network),
    FuzzTarget("caffemodel-bytes", suffix: ".caffemodel", attempt: network),
    FuzzTarget("prototxt-bytes", suffix: ".prototxt", attempt: network),
    FuzzTarget("cfg-bytes", suffix: ".cfg", attempt: network),
    // The worker reads these; it has to be beside the program.
    FuzzTarget("h5-bytes", suffix: ".h5", attempt: network),
    FuzzTarget("keras-bytes", suffix: ".keras", attempt: network),
    FuzzTarget("npy-bytes", suffix: ".npy", attempt: arrays),
    FuzzTarget("npz-bytes", suffix: ".npz", attempt: arrays),
    FuzzTarget("json-bytes", suffix: ".json", from: [], examples: lists, attempt: arrays),
    FuzzTarget("csv-bytes", suffix: ".csv", from: [], examples: tables, attempt: arrays),
    FuzzTarget("labels-bytes", suffix: ".txt", from: [], examples: labels) { _, bytes in
      _ = try LabelFile.parse(Bytes(bytes))
    },
    FuzzTarget(
      "png-bytes", suffix: ".png", mutator: { _ in { PNGMutator.mutated($0, &$1) } }, attempt: image
    ),
    FuzzTarget("jpeg-bytes", suffix: ".jpg", attempt: image),
    FuzzTarget("zip-bytes", suffix: ".zip", from: [".keras", ".npz"]) { path, bytes in
      _ = try FileFormat.read(path)
      let archive = try ZipArchive(Bytes(bytes))
      for member in archive.members { _ = try archive.contents(member) }
    },
    FuzzTarget("frames-bytes", suffix: ".frames", from: [], examples: [WorkerAnswers.seed]) {
      try WorkerAnswers($1).read()
    },
    FuzzTarget("requests-bytes", suffix: ".requests", from: [], examples: [requests]) {
      _ = RequestTable.decode($1)
    },
    FuzzTarget("formula-bytes", suffix: ".formula", from: formulaFiles, seeds: formulas) {
      let expression = try Expression(parsing: String(decoding: $1, as: UTF8.self))
      _ = "\(expression)"
    },
    FuzzTarget(
      "lambda-bytes", suffix: ".marshal", from: formulaFiles, seeds: lambdas, attempt: lambda),
    FuzzTarget(
      "python-bytes", suffix: ".py",
      from: [
        "sources/layers.py", "sources/old_layers.py", "layer-sources/stacked.py",
        "layer-sources/twins.py", "layer-sources/unet.py",
      ],
      attempt: source),
    FuzzTarget("constants-bytes", suffix: ".marshal", from: [], examples: constants) {
      try lambda($0, code(with: $1))
    },
  ]

  @Sendable private static func arrays(_ path: String, _ bytes: [UInt8]) throws {
    let set = try ArraySet.parse(Bytes(bytes), prefersJSON: path.hasSuffix(".json"))
    for array in set.arrays { _ = array.tensor.elements.reduce(0, +) }
  }

  @Sendable private static func image(_ path: String, _ bytes: [UInt8]) throws {
    _ = Orientation(of: Bytes(bytes))
    _ = try Image(decoding: Bytes(bytes))
  }

  private static let formulaFiles = ["formulas/expressions.json", "formulas/lambdas.json"]

  /// Numbers separated by commas.
  private static let tables = ["1,2.5,-3e4\n4,nan,inf\n", "a,b\n1,2\n"].map { Array($0.utf8) }

  private static let lists = [
    "[[1, 2.5], [-3e4, true]]", #"{"a": [1, "NaN"], "b": [[[0]], [[1]]]}"#, "7",
  ].map { Array($0.utf8) }

  private static let labels = [
    "tench\r\n\"great white\"\n", #"["a", "b"]"#, "{0: 'tench',\n 1: \"goldfish\"}\n",
    "0: a\n1: b\n", "n01440764 tench\nn01443537 goldfish\n",
    #"{"0": ["n01440764", "tench"], "1": ["n0", "b"]}"#,
  ].map { Array($0.utf8) }

  @Sendable private static func formulas(_ path: String, _ bytes: [UInt8]) -> [[UInt8]] {
    guard let json = try? JSONValue(parsing: bytes) else { return [] }
    let cases = json["cases"]?.array ?? []
    return cases.compactMap {
      ($0["expression"] ?? $0["value"])?.string.map { Array($0.utf8) }
    }
  }

  /// The code of Python functions.
  @Sendable private static func lambdas(_ path: String, _ bytes: [UInt8]) -> [[UInt8]] {
    guard let json = try? JSONValue(parsing: bytes) else { return [] }
    return (json["cases"]?.array ?? []).compactMap { entry in
      entry["code"]?.string.flatMap { Data(base64Encoded: $0) }.map { [UInt8]($0) }
    }
  }

  /// Converts a network of one Lambda with the code.
  @Sendable private static func lambda(_ path: String, _ bytes: [UInt8]) throws {
    let code = Data(bytes).base64EncodedString()
    let text = """
      {"class_name": "Sequential", "config": {"name": "s", "layers": [{"class_name": "Lambda",
       "config": {"name": "l", "batch_input_shape": [null, 4, 5, 3], "function_type": "lambda",
       "function": ["\(code)", null, null]}}]}, "keras_version": "2.2.4", "backend": "tensorflow"}
      """
    try Data(text.utf8).write(to: URL(filePath: path))
    try network(path, Array(text.utf8))
  }

  /// Converts networks of one layer of each class in a source, and those that functions build.
  @Sendable private static func source(_ path: String, _ bytes: [UInt8]) throws {
    let words = String(decoding: bytes, as: UTF8.self).split { !$0.isLetter && $0 != "_" }
    let names = zip(words, words.dropFirst()).filter { $0.0 == "class" }.map(\.1)
    var options = ConversionOptions()
    options.layerSources = [path]
    options.missingWeights = .zeros
    var failure: (any Error)?
    for name in Set(names).sorted().prefix(8) {
      let text = """
        {"class_name": "Sequential", "config": {"name": "s", "layers": [{"class_name": "\(name)",
         "config": {"name": "l", "batch_input_shape": [null, 4, 6, 3], "units": 4, "filters": 4,
         "heads": 2, "key_dim": 4}}]}, "keras_version": "3.1.0", "backend": "tensorflow"}
        """
      let model = path + ".json"
      try Data(text.utf8).write(to: URL(filePath: model))
      defer { try? FileManager.default.removeItem(atPath: model) }
      do { _ = try ModelSource(contentsOf: model).convert(options) } catch { failure = error }
    }
    let functions = zip(words, words.dropFirst()).filter { $0.0 == "def" }.map(\.1)
    for name in Set(functions).sorted().prefix(8) {
      do { _ = try ModelSource(contentsOf: "\(path):\(name)").convert(options) } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }

  /// Constants in the format of `marshal`: numbers, texts, and tuples of references.
  private static let constants: [[UInt8]] = {
    func text(_ text: String) -> [UInt8] { [0x7A, UInt8(text.utf8.count)] + Array(text.utf8) }
    func int(_ bytes: [UInt8]) -> [UInt8] { [0x69] + bytes }
    let (two, three) = (int([2, 0, 0, 0]), int([3, 0, 0, 0]))
    let long: [UInt8] = [0x6C, 2, 0, 0, 0, 0xFF, 0x7F, 1, 0]
    let double: [UInt8] = [0x67, 0, 0, 0, 0, 0, 0, 0xF8, 0x3F]
    let list: [UInt8] = [0x28, 3, 0, 0, 0]
    // Each of 12 tuples contains the next one twice; references are counted from the outermost.
    let shared = (1...12).reversed().reduce([0xE9, 2, 0, 0, 0] as [UInt8]) {
      [0xA9, 2] + $0 + [0x72, UInt8($1), 0, 0, 0]
    }
    return [
      two, long, double, text("ab"), shared, [0x29, 2] + two + double,
      list + two + [0x29, 1] + three + [0x4E], [0x29, 2, 0x54, 0x2E], [0x5B, 1, 0, 0, 0] + two,
    ]
  }()

  /// The code of `def f(x): a = CONSTANT; return x * a` in Python 3.11.
  private static func code(with constant: [UInt8]) -> [UInt8] {
    func bytes(_ content: [UInt8]) -> [UInt8] { [0x73, UInt8(content.count), 0, 0, 0] + content }
    // The numbers of arguments, positional-only and keyword-only ones; the stack size; flags.
    let counts: [UInt8] = [1, 0, 0, 8, 3].flatMap { [$0, 0, 0, 0] as [UInt8] }
    let instructions: [UInt8] = [
      0x97, 0, 0x64, 1, 0x7D, 1, 0x7C, 0, 0x7C, 1, 0x7A, 5, 0, 0, 0x53, 0,
    ]
    let names: [UInt8] = [0x29, 0, 0x29, 2, 0x7A, 1, 0x78, 0x7A, 1, 0x61]
    let name: [UInt8] = [0x7A, 1, 0x66]
    return [0x63] + counts + bytes(instructions) + [0x29, 2, 0x4E] + constant + names
      + bytes([0x20, 0x20]) + name + name + name + [1, 0, 0, 0] + bytes([]) + bytes([])
  }

  private static let requests: [UInt8] = {
    // The length of the table, the position of the values, the number of requests, one request.
    var bytes = [UInt8](repeating: 0, count: 20)
    bytes[0] = 43
    bytes[10] = 1
    bytes[16] = 1
    return bytes + [1, 7, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0x2F, 0x61]
  }()
}

/// A worker whose output is the mutant: the description of a file, then the response to each
/// request.
private struct WorkerAnswers: HDF5Backend {
  private var description: [UInt8]
  private let answers: [UInt8]

  /// The description's length is in the first two bytes.
  init(_ bytes: [UInt8]) {
    let length = bytes.count < 2 ? 0 : Int(bytes[0]) | Int(bytes[1]) << 8
    let rest = bytes.dropFirst(2)
    description = Array(rest.prefix(length))
    // A worker of another version would be an installation error.
    let version = FrameFormat.magic.count - 1
    if description.count > version { description[version] = FrameFormat.magic[version] }
    answers = Array(rest.dropFirst(length))
  }

  func describe(_ input: HDF5Input) throws -> [UInt8] { description }

  func read(
    _ requests: [HDF5Request], from input: HDF5Input, byteCount: Int
  ) throws -> (frames: [UInt8], values: Bytes) {
    try require(byteCount <= 1 << 20, .outOfMemory, "\(byteCount) bytes")
    return (answers, Bytes([UInt8](repeating: 1, count: byteCount)))
  }

  func read() throws {
    let file = [0x89] + Array("HDF\r\n".utf8) + [0x1A, 0x0A] + [UInt8](repeating: 0, count: 4088)
    let root = try HDF5File.open(
      Bytes(file), name: "answers", access: HDF5Access(backend: self)
    ).root
    _ = root.attributeStrings("layer_names")
    for dataset in root.allDatasets {
      do { _ = try dataset.values().array().reduce(0, +) } catch is ModelError {}
    }
  }

  static let seed: [UInt8] = {
    var description: [UInt8] = []
    var answers: [UInt8] = []
    do {
      var writer = FrameWriter { description += $0 }
      try writer.frame(.beginGroup) { $0.text("") }
      try writer.frame(.attribute) { frame in
        frame.text("layer_names")
        frame.shape([2])
        frame.byte(FrameFormat.ElementKind.strings.rawValue)
        frame.text("a")
        frame.text("b")
      }
      try writer.frame(.beginGroup) { $0.text("g") }
      for (name, offset, kind) in [("x", UInt64(64), 1), ("y", FrameFormat.noOffset, 2)] {
        try writer.frame(.dataset) { frame in
          frame.text(name)
          frame.byte(UInt8(kind))
          frame.integer(UInt32(4))
          frame.byte(0)
          frame.shape([2, 3])
          frame.integer(offset)
        }
      }
      try writer.frame(.refused) { frame in
        frame.text("z")
        frame.reason(ModelError(.unsupported, "a link"))
      }
      try writer.frame(.endGroup)
      try writer.frame(.endGroup)
      try writer.finish()
      var answer = FrameWriter { answers += $0 }
      try answer.frame(.numbers) { $0.integer(UInt32(0)) }
      try answer.finish()
    } catch {}
    return [UInt8(description.count & 0xFF), UInt8(description.count >> 8)] + description + answers
  }()
}
