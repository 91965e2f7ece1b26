import ArgumentParser
import Assay
import CoreMLModel
import TensorCore

struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect", abstract: "Shows what a model is made of.",
    discussion: "Works on .mlmodel files and on what `convert` reads.")

  @Argument(help: "The model.", completion: .file())
  var model: String

  @Argument(help: "Weights of an architecture .json, a .prototxt or a .cfg.", completion: .file())
  var weights: String?

  @Flag(help: "The description as protobuf text.")
  var spec = false

  @Flag(help: "As JSON.")
  var json = false

  @Option(
    help: ArgumentHelp("Write the weights into this folder instead.", valueName: "DIR"),
    completion: .directory)
  var exportWeights: String?

  @OptionGroup(title: "Files of weights") var weightFiles: WeightArguments

  @OptionGroup var global: GlobalOptions

  func run() throws {
    global.apply()
    if let exportWeights { return try export(to: exportWeights) }
    let document = try inFile(model) {
      try ModelSource(contentsOf: model, weights: weights).inspectedModel()
    }
    if spec {
      Console.write(try document.descriptionText)
      return
    }
    let inspection = Inspection(document)
    if json {
      Console.print(InspectionText(document, inspection).json().text)
    } else {
      Console.write(InspectionText(document, inspection).text())
    }
  }

  private func export(to folder: String) throws {
    let written = try inFile(model) {
      try weightFiles.files.write(
        try ModelSource(contentsOf: model, weights: weights).weightedModel(), to: folder)
    }
    if !global.quiet {
      Console.note(
        "\(groupedText(written.weights)) weights in \(groupedText(written.files)) files")
    }
  }
}
