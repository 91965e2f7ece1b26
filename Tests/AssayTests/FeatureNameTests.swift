import ByteFormats
import TensorCore
import TestSupport
import Testing

/// Features have the names of the source, and can also be given by their position.
@Suite struct FeatureNameTests {
  private static let swish = Fixtures("demo").path("swish.h5")
  private static let picture = Fixtures("demo").path("picture.png")

  /// The names of inputs and outputs.
  private func names(_ model: String) throws -> [[String]] {
    let result = try Command.run("inspect", model, "--json")
    #expect(result.code == 0, "\(result.errors)")
    let json = try JSONValue(parsing: result.output)
    return ["inputs", "outputs"].map { key in
      (json[key]?.array ?? []).compactMap { $0["name"]?.string }
    }
  }

  /// A network with inputs `b` and `a`: `difference` is b − a, and the other outputs are two calls
  /// of one layer.
  private static let network = """
    {"class_name": "Model", "keras_version": "2.2.4", "backend": "tensorflow", "config": {"name": "m",
     "layers": [
      {"name": "b", "class_name": "InputLayer", "config": {"name": "b", "batch_input_shape": [null, 2]}, "inbound_nodes": []},
      {"name": "a", "class_name": "InputLayer", "config": {"name": "a", "batch_input_shape": [null, 2]}, "inbound_nodes": []},
      {"name": "difference", "class_name": "Subtract", "config": {"name": "difference"}, "inbound_nodes": [[["b", 0, 0, {}], ["a", 0, 0, {}]]]},
      {"name": "part/relu", "class_name": "ReLU", "config": {"name": "part/relu"},
       "inbound_nodes": [[["a", 0, 0, {}]], [["b", 0, 0, {}]]]}],
     "input_layers": [["b", 0, 0], ["a", 0, 0]],
     "output_layers": [["part/relu", 1, 0], ["difference", 0, 0], ["part/relu", 0, 0]]}}
    """

  /// A weights file without weights.
  private static let weights = Fixtures("keras/layers/tf2").path("merge_subtract.h5")

  private func withNetwork(
    _ text: String = network, _ body: (_ folder: String, _ model: String) throws -> Void
  ) throws {
    try withTemporaryFolder { folder in
      let (source, model) = (folder + "/m.json", folder + "/m.mlmodel")
      try writeFile(Array(text.utf8), to: source)
      let made = try Command.run("convert", source, Self.weights, "-o", model)
      try #require(made.code == 0, "\(made.errors)")
      try body(folder, model)
    }
  }

  @Test func theNameThatTheUserSeesIsTheModels() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      let converted = try Command.run(
        "convert", Self.swish, "-o", model, "--image-input", "image")
      #expect(converted.code == 0 && converted.errors.isEmpty, "\(converted.errors)")
      #expect(try names(model) == [["image"], ["dense"]])
    }
  }

  @Test func theReferencesNamesAreAnOption() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      let converted = try Command.run(
        "convert", Self.swish, "-o", model, "--image-input", "image", "--reference-names")
      #expect(converted.code == 2 && converted.errors.contains("it has 'input1'"))
      let named = try Command.run(
        "convert", Self.swish, "-o", model, "--image-input", "input1", "--reference-names")
      #expect(named.code == 0, "\(named.errors)")
      #expect(try names(model) == [["input1"], ["output1"]])
      let other = try Command.run("run", model, Self.picture, "--reference-names")
      #expect(other.code == 64 && other.errors.contains("--reference-names"), "\(other.errors)")
    }
  }

  /// In NAME=FILE, the name is the longest that the model has.
  @Test func namesMayContainEqualsSignsAndStartWithADash() throws {
    let text = Self.network.replacing("\"b\"", with: "\"b=1\"").replacing("\"a\"", with: "\"-a\"")
    try withNetwork(text) { folder, model in
      for (name, values) in [("p", [5, 7]), ("1=q", [2, 3] as [Float])] {
        try ArraySet([NamedArray(Tensor(shape: [1, 2], values))]).write(to: "\(folder)/\(name).npy")
      }
      for a in [["-a=\(folder)/1=q.npy"], ["--", "-a=\(folder)/1=q.npy"]] {
        let run = try Command.run(
          ["run", model, "--feature", "difference", "--json", "b=1=\(folder)/p.npy"] + a)
        #expect(run.code == 0, "\(run.errors)")
        let outputs = try JSONValue(parsing: run.output)["outputs"]
        #expect(outputs?["difference"]?.text == "[3, 4]", "\(run.output)")
      }
      let unknown = try Command.run("run", model, "b=\(folder)/p.npy", "-a=\(folder)/1=q.npy")
      #expect(unknown.code == 2 && unknown.errors.contains("no input 'b'"), "\(unknown.errors)")
    }
  }

  /// The error shows the names that would be replaced.
  @Test func tooManyNamesShowTheSources() throws {
    for (option, own) in [("--input-name", "image"), ("--output-name", "dense")] {
      let made = try Command.run(
        "convert", Self.swish, "-o", "/dev/null/m.mlmodel", option, "a", option, "b")
      #expect(made.code == 2 && made.errors.contains("s are '\(own)'\n"), "\(made.errors)")
    }
  }

  @Test func featuresAreKnownByTheirPlaces() throws {
    try withTemporaryFolder { folder in
      let (model, edited) = (folder + "/m.mlmodel", folder + "/e.mlmodel")
      let converted = try Command.run(
        "convert", Self.swish, "-o", model, "--image-input", "input1", "--color", "input1=bgr",
        "--red-bias", "input1=1", "--output-description", "output1=Scores", "--class-labels",
        Fixtures("demo").path("labels.txt"), "--predicted-probabilities-output", "output1")
      #expect(converted.code == 0, "\(converted.errors)")
      #expect(try names(model) == [["image"], ["dense", "classLabel"]])
      let shown = try Command.run("inspect", model).output
      #expect(shown.contains("BGR") && shown.contains("pixel + (1, 0, 0) for red"), "\(shown)")
      for input in ["input1=", "image=", ""] {
        let run = try Command.run(
          "run", model, input + Self.picture, "--feature", "output1", "--layer", "input1")
        #expect(run.code == 0, "\(run.errors)")
      }
      let none = try Command.run("run", model, "input2=" + Self.picture)
      #expect(none.code == 2 && none.errors.contains("no input 'input2'"), "\(none.errors)")
      let edit = try Command.run(
        "edit", model, "-o", edited, "--rename", "input1=picture", "--array", "input1",
        "--input-description", "input1=A picture", "--add-output", "pool")
      #expect(edit.code == 0, "\(edit.errors)")
      #expect(try names(edited).first == ["picture"])
    }
  }

  /// Keras names the outputs of one layer `part/relu` and `part/relu_1`.
  @Test func outputsOfOneNameAreNumbered() throws {
    try withNetwork { folder, model in
      #expect(
        try names(model) == [["b", "a"], ["part/relu", "difference", "part/relu_1"]])
      let made = try Command.run(
        "convert", folder + "/m.json", Self.weights, "-o", folder + "/n.mlmodel", "--output-name",
        "difference", "--array-type", "output3=float32")
      #expect(try Command.run("inspect", folder + "/n.mlmodel").output.contains("2 float32"))
      #expect(made.errors.contains("output2 is 'difference_1'"), "\(made.errors)")
      #expect(try names(folder + "/n.mlmodel")[1] == ["difference", "difference_1", "part/relu"])
    }
  }

  @Test func namesOfAnMLProgramAreIdentifiers() throws {
    try withNetwork { folder, model in
      let program = folder + "/m.mlpackage"
      let upgraded = try Command.run("upgrade", model, "-o", program)
      #expect(upgraded.code == 0, "\(upgraded.errors)")
      #expect(upgraded.errors.contains("'part/relu' is 'part_relu'"), "\(upgraded.errors)")
      #expect(try names(program)[1] == ["part_relu", "difference", "part_relu_1"])
      // The names in the source remain valid.
      let inputs = folder + "/inputs.npz"
      try ArraySet([
        NamedArray(Tensor(shape: [1, 2], [1, -4]), name: "a"),
        NamedArray(Tensor(shape: [1, 2], [-8, 2]), name: "b"),
      ]).write(to: inputs)
      let run = try Command.run("run", program, inputs, "--json", "--feature", "part/relu")
      let json = try JSONValue(parsing: run.output)
      let relu = json["outputs"]?["part_relu"]?.array?.compactMap(\.double)
      #expect(relu == [0, 2], "\(run.output)")
    }
  }

  /// Three names of the source map to one identifier.
  @Test func namesThatAreOneIdentifierAreNumbered() throws {
    let text = Self.network
      .replacing(#""a""#, with: #""x/1""#).replacing(#""b""#, with: #""x.1""#)
      .replacing(#""difference""#, with: #""x_1""#)
    try withNetwork(text) { folder, model in
      let (program, inputs) = (folder + "/m.mlpackage", folder + "/inputs.npz")
      let upgraded = try Command.run("upgrade", model, "-o", program)
      #expect(upgraded.code == 0, "\(upgraded.errors)")
      #expect(try Command.run("check", program).code == 0)
      #expect(try Set(names(program).joined()).count == 5)
      try ArraySet([
        NamedArray(Tensor(shape: [1, 2], [-8, 2]), name: "input1"),
        NamedArray(Tensor(shape: [1, 2], [1, -4]), name: "input2"),
      ]).write(to: inputs)
      let run = try Command.run("run", program, inputs, "--json", "--feature", "x_1")
      let difference = try JSONValue(parsing: run.output)["outputs"]?["x_1"]?.array
      #expect(difference?.compactMap(\.double) == [-9, 6], "\(run.output)\(run.errors)")
    }
  }

  /// a = [1, −4], b = [−8, 2]: b − a = [−9, 6]; the ReLU of b is [0, 2], that of a [1, 0]. The
  /// arrays of a file are matched by name, in any order.
  @Test(arguments: [
    (["a", "b"], ["difference", "part/relu", "part/relu_1"]),
    (["input2", "input1"], ["output2", "output1", "output3"]),
    (["input2", "b"], ["output2", "part/relu", "output3"]),
  ])
  func arraysAreMatchedByNames(_ inputs: [String], _ outputs: [String]) throws {
    try withNetwork { folder, model in
      func array(_ name: String, _ values: [Float]) -> NamedArray {
        NamedArray(Tensor(shape: [1, 2], values), name: name)
      }
      let (given, expected) = (folder + "/inputs.npz", folder + "/expected.npz")
      try ArraySet([array(inputs[0], [1, -4]), array(inputs[1], [-8, 2])]).write(to: given)
      try ArraySet([
        array(outputs[0], [-9, 6]), array(outputs[1], [0, 2]), array(outputs[2], [1, 0]),
      ]).write(to: expected)
      let program = folder + "/m.mlpackage"
      try Command.run("upgrade", model, "-o", program)
      for path in [model, program] {
        let diff = try Command.run("diff", path, given, "--expected", expected)
        #expect(diff.code == 0 && !diff.errors.contains("is used"), "\(diff.output)\(diff.errors)")
      }
      let off = folder + "/off.npz"
      try ArraySet([
        array(outputs[0], [-9, 7]), array(outputs[1], [0, 2]), array(outputs[2], [1, 0]),
      ]).write(to: off)
      for (name, code) in [("output2", 0), ("difference", 0), ("output1", 1)] {
        let diff = try Command.run(
          "diff", model, given, "--expected", off, "--atol", name + "=1", "--rtol", name + "=0")
        #expect(Int(diff.code) == code, "\(name): \(diff.output)")
      }
    }
  }

  /// Keras returns a dictionary in the order in which its author wrote it, and flattens it by key.
  @Test func aDictionaryOfOutputsKeepsItsOrder() throws {
    let text = Self.network.replacing(
      #""output_layers": [["part/relu", 1, 0], ["difference", 0, 0], ["part/relu", 0, 0]]"#,
      with: #""output_layers": {"zeta": ["difference", 0, 0], "alpha": ["part/relu", 0, 0]}"#)
    try withNetwork(text) { folder, model in
      #expect(try names(model) == [["b", "a"], ["zeta", "alpha"]])
      let inputs = folder + "/inputs.npz"
      try ArraySet([
        NamedArray(Tensor(shape: [1, 2], [-8, 2]), name: "b"),
        NamedArray(Tensor(shape: [1, 2], [1, -4]), name: "a"),
      ]).write(to: inputs)
      let run = try Command.run("run", model, inputs, "--json")
      let outputs = try JSONValue(parsing: run.output)["outputs"]
      #expect(outputs?["zeta"]?.array?.compactMap(\.double) == [-9, 6], "\(run.output)")
      #expect(outputs?["alpha"]?.array?.compactMap(\.double) == [1, 0], "\(run.output)")
    }
  }
}
