import ArgumentParser
import Assay

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
    let text = try inFile(model) {
      guard let document = try ModelSource(contentsOf: model).document(missingWeights: nil) else {
        throw ModelError(
          .mismatch, "is not a Core ML model", hint: "convert it first with `assay convert`")
      }
      let file = destination.split(separator: "/").last ?? ""
      return ModelClass(
        of: document.model, name: String(file.dropLast(6)),
        labels: document.model.classLabels?.strings ?? []
      ).text
    }
    try AtomicFile.write(Array(text.utf8), to: destination)
    Console.wrote(destination)
  }
}
