struct MergeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge", abstract: "Makes one model of several: a pipeline, or functions.",
    discussion: """
      EXAMPLES:
        assay merge style.mlmodel classifier.mlmodel -o both.mlmodel
        assay merge red.mlpackage green.mlpackage blue.mlpackage -o styles.mlpackage

      An .mlmodel is a pipeline: an input takes the output of an earlier model with its name, or the \
      only output of the models before. An .mlpackage has each ML Program as a function with the \
      name of its file; equal weights are stored once.
      """)

  @Argument(help: "The .mlmodel or .mlpackage files, in order.", completion: .file())
  var models: [String]

  @Option(
    name: .output, help: .usual("The .mlmodel or .mlpackage to write.", "OUT"),
    completion: .file(extensions: ["mlmodel", "mlpackage"]))
  var destination: String

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    try ModelOutput.validate(destination)
    if models.count < 2 { throw ValidationError("name at least two models") }
  }

  func run() throws {
    global.apply()
    let parts = try models.map { (name: Self.name(of: $0), model: try ModelReader.model(at: $0)) }
    var model: Model
    if ModelPackage.isPackage(destination) {
      model = try Model.functions(of: parts)
    } else {
      var notes: [String] = []
      (model, notes) = try Model.pipeline(of: parts)
      for note in notes where !global.quiet { Console.note(Console.escaped(note)) }
    }
    try inFile(destination) {
      try model.requireWritable()
      try model.withoutCopiedInterface.write(to: destination)
    }
    Console.wrote(destination)
  }

  private static func name(of path: String) -> String {
    var trimmed = path[...]
    while trimmed.last == "/" { trimmed.removeLast() }
    let file = trimmed.split(separator: "/").last ?? ""
    return file.lastIndex(of: ".").map { String(file[..<$0]) } ?? String(file)
  }
}
