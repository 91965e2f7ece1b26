import CoreMLModel
import Foundation
import TestSupport
import Testing

/// A quote in a name ends nothing, even if a combining mark makes both one character.
@Suite struct PrintedNameTests {
  /// y = W x with W of 3 × 4, all elements `value`.
  private static func network(_ layer: String, _ value: Float = 1) -> NeuralNetwork {
    var dense = InnerProduct()
    dense.inputChannels = 4
    dense.outputChannels = 3
    dense.matrix = Weights([Float](repeating: value, count: 12))
    var network = NeuralNetwork()
    network.layers = [NeuralNetworkLayer(layer, dense, input: ["x"], output: ["y"])]
    return network
  }

  private static func model(_ network: NeuralNetwork) -> Model {
    var model = Model()
    model.specificationVersion = 1
    model.type = .neuralNetwork(network)
    model.description?.input = [
      FeatureDescription(
        name: "x", kind: .multiArray(ArrayFeatureType(shape: [4], dataType: .double)))
    ]
    model.description?.output = [
      FeatureDescription(
        name: "y", kind: .multiArray(ArrayFeatureType(shape: [3], dataType: .double)))
    ]
    return model
  }

  private func with(_ model: Model, _ body: (String) throws -> Void) throws {
    try withTemporaryFolder { folder in
      try model.write(to: folder + "/m.mlmodel")
      for name in ["a", "b"] {
        try writeFile(Array("[1, 2, 3, 4]".utf8), to: "\(folder)/\(name).json")
      }
      try body(folder)
    }
  }

  /// Cells are quoted as in RFC 4180; text that a spreadsheet would read as a formula gets an
  /// apostrophe, numbers do not.
  @Test func cellsOfATable() throws {
    var classifier = NeuralNetworkClassifier()
    classifier.network = Self.network("d", -0.25)
    classifier.classLabels = .string(["a,\u{301}b", "\"\u{301},x", "=1+1"])
    var model = Self.model(Self.network("d"))
    model.type = .neuralNetworkClassifier(classifier)
    model.description?.output = [FeatureDescription(name: "label", kind: .string)]
    model.description?.predictedFeatureName = "label"
    model.description?.output.append(FeatureDescription(name: "y", kind: .dictionary(.string)))
    model.description?.predictedProbabilitiesName = "y"
    try with(model) { folder in
      let result = try Command.run(
        "run", folder + "/m.mlmodel", folder + "/a.json", folder + "/b.json", "-o",
        folder + "/out.csv")
      #expect(result.code == 0, "\(result.errors)")
      let lines = try String(contentsOfFile: folder + "/out.csv", encoding: .utf8).utf8
        .split(separator: UInt8(ascii: "\n")).map { String($0) ?? "" }
      #expect(
        Array(lines[0].utf8) == Array("input,\"a,\u{301}b\",\"\"\"\u{301},x\",'=1+1".utf8),
        "\(lines)")
      // −0.25 · (1 + 2 + 3 + 4)
      #expect(lines[1] == folder + "/a.json,-2.5,-2.5,-2.5", "\(lines)")
    }
  }

  @Test func aGraphInDOT() throws {
    let name = "q\"\u{301}, URL=\"javascript:alert(1)\", label=\"owned"
    try with(Self.model(Self.network(name))) { folder in
      let result = try Command.run("inspect", folder + "/m.mlmodel", "--graph", folder + "/g.dot")
      #expect(result.code == 0, "\(result.errors)")
      let text = try String(contentsOfFile: folder + "/g.dot", encoding: .utf8)
      let escaped = "q\\\"\u{301}, URL=\\\"javascript:alert(1)\\\", label=\\\"owned"
      #expect(Array(text.utf8).contains(Array(escaped.utf8)), "\(text)")
      #expect(!Array(text.utf8).contains(Array(name.utf8)), "\(text)")
    }
  }

  /// 10⁵ · 10 exceeds half precision, so the layer computes in single precision.
  @Test func aSuggestedCommand() throws {
    let name = "x'\u{301}; touch PWN; '"
    try with(Self.model(Self.network(name, 1e5))) { folder in
      let result = try Command.run(
        "diff", folder + "/m.mlmodel", folder + "/a.json", "--precision", "float16")
      let word = "--keep-float32 'x'\\''\u{301}; touch PWN; '\\'''"
      #expect(Array(result.output.utf8).contains(Array(word.utf8)), "\(result.output)")
    }
  }

  @Test func aProgramAsText() throws {
    var model = try Model(contentsOf: Fixtures("programs").path("binary.mlpackage"))
    guard case .mlProgram(var program)? = model.type else {
      Issue.record("not a program")
      return
    }
    let name = "a\"\u{301}\nreturn (b)"
    for place in program.functions[0].value?.specializations[0].value?.operations.indices ?? 0..<0 {
      var attribute = MILAttribute()
      attribute.key = "note"
      attribute.value = MILValue(name)
      program.functions[0].value?.specializations[0].value?.operations[place].attributes.append(
        attribute)
    }
    model.type = .mlProgram(program)
    try withTemporaryFolder { folder in
      try model.write(to: folder + "/m.mlpackage")
      let result = try Command.run("inspect", folder + "/m.mlpackage", "--spec")
      #expect(result.code == 0, "\(result.errors)")
      let written = "note=\"a\\\"\u{301}\\\\u{a}return (b)\""
      #expect(
        Array(result.output.utf8).contains(Array(written.utf8)), "\(result.output.suffix(600))")
    }
  }

  /// A browser accepts only the style and the script, by their hashes.
  @Test func theReportsPolicy() throws {
    let sha = try #require(Program.find("sha256sum") ?? Program.find("shasum"))
    try with(Self.model(Self.network("d"))) { folder in
      let page = folder + "/page.html"
      let result = try Command.run(
        "run", folder + "/m.mlmodel", folder + "/a.json", "--report", page)
      #expect(result.code == 0, "\(result.errors)")
      let text = try String(contentsOfFile: page, encoding: .utf8)
      #expect(!text.contains("unsafe") && !text.contains(" style=\""))
      for tag in ["style", "script"] {
        let parts = text.components(separatedBy: "<\(tag)>")
        try #require(parts.count == 2)
        let content = parts[1].components(separatedBy: "</\(tag)>")[0]
        try writeFile(Array(content.utf8), to: folder + "/content")
        let arguments = sha.path.hasSuffix("shasum") ? ["-a", "256"] : []
        let digits = try sha.run(arguments + [folder + "/content"]).output.prefix(64)
        let bytes = stride(from: 0, to: 64, by: 2).compactMap { start in
          UInt8(digits.dropFirst(start).prefix(2), radix: 16)
        }
        #expect(
          text.contains("\(tag)-src 'sha256-\(Data(bytes).base64EncodedString())'"), "\(tag)")
      }
    }
  }
}
