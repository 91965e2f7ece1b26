struct RecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Prints a Python script that saves what Core ML, Keras or Caffe computes, for diff.",
    discussion: """
      EXAMPLES:
        assay record model.mlmodel cat.png > record.py
        assay record model.h5 cat.png > record.py
        assay record deploy.prototxt net.caffemodel cat.png -o record.py

      Run the script where the framework is installed; for Core ML, on a Mac with coremltools. It \
      says what to install, and ends with or shows the command that compares: the outputs are for the \
      option --expected of assay diff, what each layer computes (including those of nested models) is \
      for --layers. If the inputs of Keras or Caffe are images, complete the function prepare; without \
      inputs, the script uses random values. A Core ML model needs its inputs.
      """)

  @Argument(help: "The network or Core ML model.", completion: .file()) var model: String

  @Argument(
    help: "Its weights, if they are in a separate file; then inputs: images, .npy or .npz.",
    completion: .file())
  var files: [String] = []

  @Option(help: .private) var framework: String?

  @Option(
    name: .output, help: .usual("Write the script to a file.", "FILE.py"),
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
    let source = try ModelSource(contentsOf: model, weights: weights)
    if let file = weights, source.weightsFile(model, file) == model {
      (model, weights) = (file, model)
    }
    let own = try inFile(model) { try source.recordingFramework() }
    try require(
      own != .caffe || weights != nil, .mismatch, "pycaffe needs a .prototxt and its weights",
      file: model, hint: "name both files")
    if own != .coreML { for input in inputs { _ = try FileFormat.read(input) } }
    if framework != nil, !global.quiet {
      Console.note("--framework has no effect: the script finds out what is installed")
    }
    let script = try inFile(model) {
      try RecordingScript(source, model: model, weights: weights, inputs: inputs)
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
    // An .npz of inputs is also a ZIP archive.
    case (.json, .zip): !second.lowercased().hasSuffix(".npz")
    default: false
    }
  }
}
