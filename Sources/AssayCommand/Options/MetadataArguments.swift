import ArgumentParser
import Assay

/// What the model says of itself.
struct MetadataArguments: ParsableArguments {
  @Option(help: "The author of the model.") var author: String?
  @Option(help: "The license of the model.") var license: String?
  @Option(help: "What the model does.") var shortDescription: String?
  @Option(help: "The version of the model.") var versionString: String?

  @Option(
    name: .customLong("metadata"),
    help: ArgumentHelp("Add an entry to the user-defined metadata; repeatable.", valueName: "K=V"))
  var entries: [KeyValue] = []

  @Option(
    name: .customLong("input-description"),
    help: ArgumentHelp("Describe an input; repeatable.", valueName: "NAME=TEXT"))
  var inputDescriptions: [KeyValue] = []

  @Option(
    name: .customLong("output-description"),
    help: ArgumentHelp("Describe an output; repeatable.", valueName: "NAME=TEXT"))
  var outputDescriptions: [KeyValue] = []

  var given: [String] {
    [
      ("--author", author != nil), ("--license", license != nil),
      ("--short-description", shortDescription != nil), ("--version-string", versionString != nil),
      ("--metadata", !entries.isEmpty), ("--input-description", !inputDescriptions.isEmpty),
      ("--output-description", !outputDescriptions.isEmpty),
    ].given
  }

  var options: MetadataOptions {
    var options = MetadataOptions()
    options.author = author ?? ""
    options.license = license ?? ""
    options.shortDescription = shortDescription ?? ""
    options.versionString = versionString ?? ""
    for entry in entries { options.userDefined[entry.key] = entry.value }
    for entry in inputDescriptions { options.inputDescriptions[entry.key] = entry.value }
    for entry in outputDescriptions { options.outputDescriptions[entry.key] = entry.value }
    return options
  }
}
