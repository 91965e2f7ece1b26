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

  @OptionGroup var global: GlobalOptions

  func run() throws {
    global.apply()
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
}
