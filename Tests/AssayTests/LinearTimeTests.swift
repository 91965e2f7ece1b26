import TestSupport
import Testing

/// Work is linear in the size of a network: with quadratic work, these took 8 to 44 s of processor
/// time in a debug build.
@Suite(.unsanitized) struct LinearTimeTests {
  private static let seconds = 10

  private func plan(_ text: String, as name: String) throws {
    try withTemporaryFolder { folder in
      try writeFile(Array(text.utf8), to: "\(folder)/\(name)")
      let result = try Program("/bin/sh").run([
        "-c", "ulimit -t \(Self.seconds) && exec \"$0\" \"$@\"", Command.binary, "convert",
        "--dry-run", "\(folder)/\(name)",
      ])
      #expect(result.exited && result.code == 0, "\(result.code) \(result.errors)")
    }
  }

  @Test func caffeLayers() throws {
    var text = "input: 'x0' input_dim: 1 input_dim: 2 input_dim: 3 input_dim: 3\n"
    for index in 1...30_000 {
      text += "layer { name: '\(index)' type: 'ReLU' bottom: 'x\(index - 1)' top: 'x\(index)' }\n"
    }
    try plan(text, as: "deep.prototxt")
  }

  /// Layers that share one input and are all outputs, or layers with an input each.
  @Test(arguments: [false, true]) func kerasFeatures(manyInputs: Bool) throws {
    let count = 6000
    func list(_ element: (Int) -> String) -> String {
      (0..<count).map(element).joined(separator: ", ")
    }
    func input(_ name: String) -> String {
      """
      {"class_name": "InputLayer", "name": "\(name)", "config": {"name": "\(name)",
       "batch_input_shape": [null, 4]}, "inbound_nodes": []}
      """
    }
    func source(_ index: Int) -> String { manyInputs ? "i\(index)" : "i" }
    let layers = list {
      """
      {"class_name": "Activation", "name": "a\($0)", "config": {"name": "a\($0)",
       "activation": "relu"}, "inbound_nodes": [[["\(source($0))", 0, 0, {}]]]}
      """
    }
    try plan(
      """
      {"class_name": "Model", "keras_version": "2.2.4", "config": {"name": "m", "layers": [
       \(manyInputs ? list { input(source($0)) } : input("i")), \(layers)],
       "input_layers": [\(manyInputs ? list { "[\"i\($0)\", 0, 0]" } : "[\"i\", 0, 0]")],
       "output_layers": [\(list { "[\"a\($0)\", 0, 0]" })]}}
      """, as: "wide.json")
  }
}
