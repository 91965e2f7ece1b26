struct GenerateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate", abstract: "Writes the Swift class that Xcode generates for a model.",
    discussion: """
      EXAMPLES:
        assay generate model.mlmodel -o Model.swift

      The class has the name of the .swift file. In an app, Xcode generates the same interface; write \
      the class for a Swift package, or for a model that the app downloads.
      """)

  @Argument(help: "The .mlmodel or .mlpackage.", completion: .file()) var model: String

  @Option(
    name: .output, help: .usual("The .swift file to write.", "FILE"),
    completion: .file(extensions: ["swift"]))
  var destination: String

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    if !destination.hasSuffix(".swift") { throw ValidationError("-o writes a .swift file") }
  }

  func run() throws {
    global.apply()
    let document = try ModelReader.model(at: model)
    let file = destination.split(separator: "/").last ?? ""
    let text = ModelClass(
      of: document, name: String(file.dropLast(6)), labels: document.classLabels?.strings ?? []
    ).text
    try AtomicFile.write(Array(text.utf8), to: destination)
    Console.wrote(destination)
  }
}
