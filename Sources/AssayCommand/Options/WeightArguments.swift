import ArgumentParser
import Assay

/// How weights are stored in files.
struct WeightArguments: ParsableArguments {
  @Option(name: .customLong("weight-format"), help: "The format of weights files.")
  var format = WeightFiles.Format.npy

  @Option(name: .customLong("per"), help: "What one weights file contains.")
  var grouping = WeightFiles.Grouping.parameter

  @Option(name: .customLong("weight-layout"), help: "The order of the weights' axes.")
  var layout = ExportLayout.coreml

  @Option(
    help: ArgumentHelp(
      "Endings of the names of a layer's files, instead of the weights' names.", valueName: "_W,_b")
  )
  var suffix: String?

  var files: WeightFiles {
    var files = WeightFiles()
    files.format = format
    files.grouping = grouping
    files.layout = layout
    files.suffixes = suffix.map { $0.split(separator: ",").map(String.init) } ?? []
    return files
  }
}

extension WeightFiles.Format: ExpressibleByArgument {}

extension WeightFiles.Grouping: ExpressibleByArgument {}

extension ExportLayout: ExpressibleByArgument {}
