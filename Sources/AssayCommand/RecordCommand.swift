import ArgumentParser
import Assay

struct RecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Prints a Python script that saves what Keras or Caffe computes, for diff.",
    discussion: """
      EXAMPLES:
        assay record model.h5 cat.png > record.py
        assay record deploy.prototxt net.caffemodel cat.png -o record.py
        assay record model.keras --framework keras3 > record.py

      Run the script where the framework is installed. It writes inputs.npz, expected.npz (the outputs) \
      and layers.npz (what each layer computes, including those of nested models) for the options \
      --expected and --layers of assay diff. If the inputs are images, complete its function prepare. \
      Without inputs, it uses random values.
      """)

  @Argument(help: "The network.", completion: .file())
  var model: String

  @Argument(
    help: "Its weights, if they are in a separate file; then inputs: images, .npy or .npz.",
    completion: .file())
  var files: [String] = []

  @Option(help: "The framework that runs the script; default: the one that wrote the network.")
  var framework: RecordingFramework?

  @Option(
    name: .customShort("o"),
    help: ArgumentHelp("Write the script to a file.", valueName: "FILE.py"),
    completion: .file(extensions: ["py"]))
  var destination: String?

  @OptionGroup var global: GlobalOptions

  func run() throws {
    global.apply()
    var (model, inputs) = (model, files)
    var weights: String?
    if let first = files.first, try Self.areOneNetwork(model, first) {
      weights = first
      inputs.removeFirst()
    }
    for input in inputs { _ = try FileFormat.read(input) }
    let source = try ModelSource(contentsOf: model, weights: weights)
    if let file = weights, source.weightsFile(model, file) == model {
      (model, weights) = (file, model)
    }
    let own = try inFile(model) { try RecordingFramework(of: source) }
    try require(
      own != .caffe || weights != nil, .mismatch, "pycaffe needs a .prototxt and its weights",
      file: model, hint: "name both files")
    let script = try inFile(model) {
      try RecordingScript(
        source, framework: framework ?? own, model: model, weights: weights, inputs: inputs)
    }
    if let destination {
      try AtomicFile.write(Array(script.text.utf8), to: destination)
    } else {
      Console.write(script.text)
    }
  }

  /// Whether the second file contains the weights or the architecture of the first.
  private static func areOneNetwork(_ first: String, _ second: String) throws -> Bool {
    switch (try FileFormat.read(first).format, try FileFormat.read(second).format) {
    case (.prototxt, .caffeBinary), (.caffeBinary, .prototxt), (.prototxt, .hdf5),
      (.hdf5, .prototxt), (.json, .hdf5), (.prototxt, .unknown):
      true
    // An .npz of inputs is also an archive.
    case (.json, .zip): !second.lowercased().hasSuffix(".npz")
    default: false
    }
  }
}

extension RecordingFramework: ExpressibleByArgument {}
