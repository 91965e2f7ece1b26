import TensorCore
import TestSupport
import Testing

@testable import KerasImport

struct KerasGraphTests {
  private func graph(_ json: String) throws -> KerasGraph {
    try KerasGraph(source(json).definition)
  }

  private func node(_ name: String, _ inbound: String, className: String = "Activation") -> String {
    #"{"name": "\#(name)", "class_name": "\#(className)", "config": {"name": "\#(name)", "activation": "relu"}, "inbound_nodes": \#(inbound)}"#
  }

  private func input(_ name: String) -> String {
    #"{"name": "\#(name)", "class_name": "InputLayer", "config": {"name": "\#(name)", "batch_input_shape": [null, 3]}, "inbound_nodes": []}"#
  }

  private func model(_ layers: [String], outputs: String, inputs: String = #"[["i", 0, 0]]"#)
    -> String
  {
    #"{"class_name": "Model", "config": {"name": "m", "layers": [\#(layers.joined(separator: ", "))], "input_layers": \#(inputs), "output_layers": \#(outputs)}}"#
  }

  @Test func layersFollowTheirInputs() throws {
    let graph = try graph(
      model(
        [node("b", #"[[["a", 0, 0, {}]]]"#), input("i"), node("a", #"[[["i", 0, 0, {}]]]"#)],
        outputs: #"[["b", 0, 0]]"#))
    #expect(graph.nodes.map(\.name) == ["i", "a", "b"])
    #expect(graph.nodes[2].inputs == [KerasGraph.Reference(node: 1, tensor: 0)])
    #expect(graph.outputs == [KerasGraph.Reference(node: 2, tensor: 0)])
  }

  @Test func layersThatAreNeverCalledAreLeftOut() throws {
    let graph = try graph(
      model(
        [input("i"), node("a", #"[[["i", 0, 0, {}]]]"#), node("b", "[]")],
        outputs: #"[["a", 0, 0]]"#))
    #expect(graph.nodes.map(\.name) == ["i", "a"])
  }

  @Test func sharedLayersAreDuplicated() throws {
    let graph = try graph(
      model(
        [
          input("i"), node("a", #"[[["i", 0, 0, {}]], [["a", 0, 0, {}]]]"#),
          node("b", #"[[["a", 1, 0, {}]]]"#),
        ], outputs: #"[["b", 0, 0]]"#))
    #expect(graph.nodes.map(\.name) == ["i", "a_0", "a_1", "b"])
    #expect(graph.nodes[1].layerIndex == graph.nodes[2].layerIndex)
    #expect(graph.nodes[3].inputs == [KerasGraph.Reference(node: 2, tensor: 0)])
  }

  @Test func theSameCallTwiceIsOne() throws {
    let graph = try graph(
      model(
        [
          input("i"), node("a", #"[[["i", 0, 0, {}]], [["i", 0, 0, {}]]]"#),
          node("b", #"[[["a", 0, 0, {}], ["a", 1, 0, {}]]]"#),
        ], outputs: #"[["b", 0, 0]]"#))
    #expect(graph.nodes.map(\.name) == ["i", "a", "b"])
    #expect(graph.nodes[2].inputs.map(\.node) == [1, 1])
  }

  @Test func nestedModelsAreUnfolded() throws {
    let inner =
      #"{"name": "n", "class_name": "Model", "config": {"name": "n", "layers": [\#(input("x")), \#(node("a", #"[[["x", 0, 0, {}]]]"#))], "input_layers": [["x", 0, 0]], "output_layers": [["a", 0, 0]]}, "inbound_nodes": [[["i", 0, 0, {}]], [["n", 1, 0, {}]]]}"#
    let graph = try graph(
      model([input("i"), inner, node("b", #"[[["n", 2, 0, {}]]]"#)], outputs: #"[["b", 0, 0]]"#))
    #expect(graph.nodes.map(\.name) == ["i", "n_0_a", "n_1_a", "b"])
    #expect(graph.nodes.map { $0.inputs.map(\.node) } == [[], [0], [1], [2]])
  }

  @Test func cyclesAreRefused() throws {
    let error = modelError {
      try graph(
        model(
          [input("i"), node("a", #"[[["b", 0, 0, {}]]]"#), node("b", #"[[["a", 0, 0, {}]]]"#)],
          outputs: #"[["b", 0, 0]]"#))
    }
    #expect(error?.code == .malformed)
    #expect(error?.message == "it depends on itself")
  }

  @Test(arguments: [
    #"[[["nowhere", 0, 0, {}]]]"#, #"[[["i", 5, 0, {}]]]"#, #"[[["i", -1, 0, {}]]]"#,
    #"[[[3, 0, 0]]]"#,
    #"[[["i"]]]"#, #"[["i", "i"]]"#,
  ])
  func danglingReferencesAreRefused(_ inbound: String) throws {
    let text = model([input("i"), node("a", inbound)], outputs: #"[["a", 0, 0]]"#)
    #expect(throws: ModelError.self) {
      try convert(text)
    }
  }

  @Test func longChainsNeedNoStack() throws {
    let count = 20_000
    var layers = [input("i")]
    for index in (0..<count).reversed() {
      layers.append(
        node("l\(index)", #"[[["\#(index == 0 ? "i" : "l\(index - 1)")", 0, 0, {}]]]"#))
    }
    let graph = try graph(model(layers, outputs: #"[["l\#(count - 1)", 0, 0]]"#))
    #expect(graph.nodes.count == count + 1)
    #expect(graph.nodes.last?.name == "l\(count - 1)")
  }

  @Test func repeatedNestingIsBounded() throws {
    // Every level calls the next one twice: 2^30 layers in a few kilobytes.
    var inner = model(
      [input("i"), node("a", #"[[["i", 0, 0]]]"#)], outputs: #"[["a", 0, 0]]"#)
    for _ in 0..<30 {
      let body = String(inner.dropFirst(1).dropLast(1))
      let nested = #"{\#(body), "name": "n", "inbound_nodes": [[["i", 0, 0]], [["n", 1, 0]]]}"#
      inner = model([input("i"), nested], outputs: #"[["n", 2, 0]]"#)
    }
    #expect(modelError { try graph(inner) }?.code == .limitExceeded)
  }

  @Test func sequentialsBecomeChains() throws {
    let graph = try graph(
      #"""
      {"class_name": "Sequential", "config": [
        {"class_name": "Dense", "config": {"name": "d", "batch_input_shape": [null, 3], "units": 2}},
        {"class_name": "Sequential", "config": {"name": "s", "layers": [
          {"class_name": "Activation", "config": {"name": "a", "activation": "relu", "batch_input_shape": [null, 2]}}]}}]}
      """#)
    #expect(graph.nodes.map(\.name) == ["d_input", "d", "s_a"])
    #expect(graph.nodes[0].layer.declaredShape == [nil, 3])
  }
}
