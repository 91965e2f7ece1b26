import Assay
import ByteFormats
import CoreMLModel
import Foundation
import FuzzSupport
import TensorCore

extension FuzzTarget {
  /// Names with combining marks, quotes, and characters that control terminals or the direction of
  /// text, in everything that prints names: no name ends its quotes.
  static let names = FuzzTarget(
    "names", suffix: ".txt", from: [], examples: seeds.map { Array($0.utf8) },
    mutator: { _ in
      { bytes, random in
        var scalars = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars.prefix(200))
        for _ in 0...random.below(6) {
          scalars.insert(random.pick(special), at: random.below(scalars.count + 1))
        }
        return Array(String(String.UnicodeScalarView(scalars)).utf8)
      }
    }, attempt: { try PrintedName(String(decoding: $1, as: UTF8.self)).requireContained(at: $0) })

  /// Names that once printed more than a name, and special characters of formats.
  private static let seeds = [
    "-q\"\u{301}, URL=\"javascript:alert(1)\", label=\"owned", "x'\u{301}; touch PWN; '", "=1+1",
    "\"\u{301},x", "a,\u{301}b", "\r\n=cmd|' /C calc'!A0", "</script\u{338}><script>",
    "\\\u{20DD}\"",
    "\u{202E}gpj.exe", "$(reboot)`id`", "\u{1B}]0;title\u{7}", "#comment", "name",
  ]

  private static let special: [Unicode.Scalar] = [
    "\"", "'", "\\", "\n", "\r", "\t", "\0", ",", ";", "=", "+", "-", "@", "<", ">", "&", "`", "$",
    "#", "]", "\u{1B}", "\u{7F}", "\u{85}", "\u{9B}", "\u{301}", "\u{338}", "\u{20DD}", "\u{FE0F}",
    "\u{200D}", "\u{200B}", "\u{202E}", "\u{2066}", "\u{2028}", "\u{FEFF}", "\u{1F1E9}",
    "\u{E0001}",
  ]
}

/// A name, and the texts that contain it.
private struct PrintedName {
  let name: String
  /// The texts with a harmless name must have the same structure.
  private static let plain = PrintedName("plain")

  init(_ name: String) { self.name = name }

  /// - Throws: `Finding` if the name is more than a name somewhere.
  func requireContained(at path: String) throws {
    try requireCell()
    try require(
      JSONValue(parsing: JSONValue.quoted(name)).string.map { Array($0.utf8) }
        == Array(name.utf8), "JSON")
    try require(Self.words(name.shellWord) == 1, "shell: \(name.shellWord)")
    try require(graph.dot, Self.plain.graph.dot, "DOT", "\"\n") { Self.withoutEscapes($0) }
    try require(
      graph.markdown(title: name), Self.plain.graph.markdown(title: "plain"), "Mermaid", "\"\n")
    try require(page, Self.plain.page, "HTML", "<>\"'")
    try require(
      program.programText ?? "", Self.plain.program.programText ?? "", "MIL text", "\"\n"
    ) {
      Self.withoutEscapes($0)
    }
    let error = ModelError(.malformed, "is bad", file: name, layer: name, field: name)
    for line in error.lines {
      try require(!line.text.unicodeScalars.contains(where: \.isControl), "message")
    }
    // The texts that commands print for a model with the name.
    let model = model
    _ = ModelCheck(model)
    _ = Inspection(model)
    try model.write(to: path)
    _ = try? Model(contentsOf: path)
  }

  /// A table has one row of two cells, neither of which is a formula.
  private func requireCell() throws {
    let rows = try TextTableFile.parse(Array(TextTableFile.line([name, "b"]).utf8))
    // An empty row and one that starts with # do not count.
    try require(rows.isEmpty || rows.count == 1 && rows[0].count == 2, "CSV: \(rows)")
    let start = rows.first?[0].unicodeScalars.first
    let isFormula = (["=", "+", "-", "@", "\t", "\r"] as [Unicode.Scalar]).contains { $0 == start }
    try require(!isFormula || Double(rows[0][0]) != nil, "CSV: \(rows)")
  }

  private func node(_ name: String, _ type: String, _ layer: Int) -> NetworkGraph.Node {
    var node = NetworkGraph.Node(name: name, kind: .layer, type: type)
    node.layer = layer
    return node
  }

  private var graph: GraphText {
    GraphText(
      NetworkGraph([
        NetworkGraph.Part(node("n" + name, "t" + name, 0), inputs: [], outputs: ["b" + name]),
        NetworkGraph.Part(node("end", "end", 1), inputs: ["b" + name], outputs: []),
      ]))
  }

  private var page: String {
    var report = Report(name)
    report.add(.facts([(name, name)]))
    return report.html
  }

  private var model: Model {
    var network = NeuralNetwork()
    network.layers = [NeuralNetworkLayer(name, Softmax(), input: ["x" + name], output: [name])]
    var classifier = NeuralNetworkClassifier()
    classifier.network = network
    classifier.classLabels = .string([name, "b"])
    var model = Model()
    model.specificationVersion = 1
    model.type = .neuralNetworkClassifier(classifier)
    let array = ArrayFeatureType(shape: [2], dataType: .float32)
    model.description?.input = [FeatureDescription(name: "x" + name, kind: .multiArray(array))]
    model.description?.output = [FeatureDescription(name: name, kind: .string)]
    model.description?.predictedFeatureName = name
    return model
  }

  private var program: Model {
    var operation = MILOperation()
    operation.type = "relu"
    var output = MILNamedType()
    // A name with a space is always in quotes.
    output.name = "v " + name
    operation.outputs = [output]
    var attribute = MILAttribute()
    attribute.key = "k " + name
    attribute.value = MILValue(name)
    operation.attributes = [attribute]
    var block = MILBlockEntry()
    (block.key, block.value) = ("CoreML5", MILBlock())
    block.value?.operations = [operation]
    block.value?.outputs = ["v " + name]
    var function = MILFunctionEntry()
    (function.key, function.value) = ("main", MILFunction())
    function.value?.opset = "CoreML5"
    function.value?.specializations = [block]
    var program = MILProgram()
    program.functions = [function]
    var model = Model()
    model.type = .mlProgram(program)
    return model
  }

  /// The number of shell words, or −1 if a character outside quotes has a special meaning.
  private static func words(_ text: String) -> Int {
    var (isQuoted, isEscaped) = (false, false)
    for byte in text.utf8 {
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "'") {
        isQuoted.toggle()
      } else if !isQuoted {
        let isName =
          byte < 0x80 && Character(Unicode.Scalar(byte)).isLetter
          || (0x2D...0x3A).contains(byte) || byte == UInt8(ascii: "_")
        isEscaped = byte == UInt8(ascii: "\\")
        if !isName && !isEscaped { return -1 }
      }
    }
    return isQuoted || isEscaped || text.isEmpty ? -1 : 1
  }

  private static func withoutEscapes(_ text: String) -> [UInt8] {
    var result: [UInt8] = []
    var isEscaped = false
    for byte in text.utf8 {
      if !isEscaped { result.append(byte) }
      isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
    }
    return result
  }

  /// Compares the counts of some bytes.
  private func require(
    _ text: String, _ plain: String, _ format: String, _ bytes: String,
    _ stripped: (String) -> [UInt8] = { Array($0.utf8) }
  ) throws {
    let (text, plain) = (stripped(text), stripped(plain))
    for byte in bytes.utf8 {
      let counts = [text, plain].map { $0.count { $0 == byte } }
      try require(
        counts[0] == counts[1],
        "\(format): \(counts[0]) of \(Unicode.Scalar(byte)) instead of \(counts[1])")
    }
  }

  private func require(_ condition: Bool, _ text: String) throws {
    if !condition { throw Finding("\(text), for the name \(name.debugDescription)") }
  }
}
