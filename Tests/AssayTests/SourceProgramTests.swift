import ByteFormats
import TestSupport
import Testing

/// Programs have the axes and types of their source's arrays, with one batch item: Keras's, as
/// coremltools 9 declares them for the same networks, and Caffe's.
@Suite struct SourceProgramTests {
  private func types(_ model: String) throws -> [String] {
    let result = try Command.run("inspect", model, "--json")
    try #require(result.code == 0, "\(result.errors)")
    let json = try JSONValue(parsing: result.output)
    let features: [JSONValue] = ["inputs", "outputs"].flatMap { json[$0]?.array ?? [] }
    return features.filter {
      $0["optional"]?.bool != true && $0["name"]?.string?.hasSuffix("_out") != true
        && $0["name"]?.string?.hasSuffix("_rev") != true
    }.compactMap { $0["type"]?.string }
  }

  /// The shapes and dtypes declared in the sources.
  @Test(
    arguments: [
      (
        "keras/calls/framework/ner_word_char_tfk.keras",
        ["array 1×5 int32", "array 1×5×4 int32", "array 1×5×4 float32"]
      ),
      (
        "keras/calls/framework/bi_mask_sum_tfk.keras", ["array 1×8 int32", "array 1×8×3 float32"]
      ),
      (
        "networks/keras3-initial_states.keras",
        [
          "array 1×5×3 float32", "array 1×4 float32", "array 1×4 float32", "array 1×4 float32",
          "array 1×4 float32",
        ]
      ),
      ("networks/keras3-cube.keras", ["array 1×3×3×3 float32", "array 1×3 float32"]),
      ("keras/layers/tf2/any_length_lstm_7.h5", []),
      ("keras/layers/tf2/any_length_gru_sequences.h5", []),
      ("keras/layers/tf2/any_length_attention_5.h5", []),
      ("keras/layers/k3/any_length_same_strides.keras", []),
      ("keras/layers/k3/reshaped_outputs.keras", []),
    ])
  func programsOfKeras(_ name: String, _ wanted: [String]) throws {
    try withTemporaryFolder { folder in
      let program = folder + "/m.mlpackage"
      let source = Fixtures("").path(name)
      let made = try Command.run("convert", source, "-o", program)
      try #require(made.code == 0, "\(made.errors)")
      if !wanted.isEmpty { #expect(try types(program) == wanted) }
      let arrays = String(source.prefix { $0 != "." })
      let run = try Command.run(
        "diff", program, arrays + ".inputs.npz", "--expected", arrays + ".expected.npz")
      #expect(run.code == 0, "\(run.output)\(run.errors)")
      let both = try Command.run("diff", source, program)
      #expect(both.code == 0, "\(both.output)\(both.errors)")
    }
  }

  /// Programs for iOS 18 have an operation for a GRU with its reset gate after the product; older
  /// programs have a loop.
  @Test(arguments: ["backwards", "bias_false", "bias_true", "sequences"])
  func resetAfter(_ name: String) throws {
    try withTemporaryFolder { folder in
      let source = Fixtures("keras/layers/tf2").path("gru_reset_after_" + name)
      let operations = [("iOS15", "while_loop"), ("iOS17", "while_loop"), ("iOS18", "gru")]
      for (target, operation) in operations {
        let program = "\(folder)/\(target).mlpackage"
        let made = try Command.run("convert", source + ".h5", "-o", program, "--target", target)
        try #require(made.code == 0, "\(made.errors)")
        let text = try Command.run("inspect", program, "--spec").output
        for other in ["while_loop", "gru"] {
          #expect(text.ranges(of: " = \(other)(").count == (other == operation ? 1 : 0))
        }
        let run = try Command.run(
          "diff", program, source + ".inputs.npz", "--expected", source + ".expected.npz")
        #expect(run.code == 0, "\(run.output)\(run.errors)")
      }
    }
  }

  /// One program for sequences of any length gives Keras's values for two of them: the sources have
  /// the same weights.
  @Test(arguments: ["attention_5 attention_8", "gru_3 gru_7", "lstm_3 lstm_7"])
  func anyLength(_ names: String) throws {
    let names = names.split(separator: " ").map { "any_length_\($0)" }
    let layers = Fixtures("keras/layers/tf2")
    try withTemporaryFolder { folder in
      let program = folder + "/m.mlpackage"
      let made = try Command.run("convert", layers.path(names[0] + ".h5"), "-o", program)
      try #require(made.code == 0, "\(made.errors)")
      for name in names.map(layers.path) {
        let run = try Command.run(
          "diff", program, name + ".inputs.npz", "--expected", name + ".expected.npz")
        #expect(run.code == 0, "\(run.output)\(run.errors)")
      }
    }
  }

  @Test func programsOfCaffe() throws {
    try withTemporaryFolder { folder in
      let program = folder + "/m.mlpackage"
      let layers = Fixtures("caffe/layers")
      let made = try Command.run(
        "convert", layers.path("activations.prototxt"), layers.path("activations.caffemodel"), "-o",
        program)
      try #require(made.code == 0, "\(made.errors)")
      #expect(try types(program).first == "array 1×3×4×5 float32")
      let run = try Command.run(
        "diff", program, layers.path("activations.inputs.npz"), "--expected",
        layers.path("activations.expected.npz"))
      #expect(run.code == 0, "\(run.output)\(run.errors)")
    }
  }

  /// The labels of a program are in its operations, and are not lost.
  @Test func labelsOfPrograms() throws {
    try withTemporaryFolder { folder in
      let (document, program) = (folder + "/m.mlmodel", folder + "/m.mlpackage")
      let demo = Fixtures("demo")
      let made = try Command.run(
        "convert", demo.path("swish.h5"), "-o", document, "--labels", demo.path("labels.txt"))
      try #require(made.code == 0, "\(made.errors)")
      try #require(try Command.run("convert", document, "-o", program).code == 0)
      let both = try Command.run("diff", document, program)
      #expect(both.code == 0 && !both.output.contains("class labels"), "\(both.output)")
    }
  }

  /// A program made from a document has the document's interface.
  @Test func programsOfDocuments() throws {
    try withTemporaryFolder { folder in
      let (document, program) = (folder + "/m.mlmodel", folder + "/m.mlpackage")
      for (from, to) in [(Fixtures("demo").path("swish.h5"), document), (document, program)] {
        let made = try Command.run("convert", from, "-o", to)
        try #require(made.code == 0, "\(made.errors)")
      }
      #expect(try types(program) == ["array 3×64×64 float32", "array 3 float32"])
    }
  }
}
