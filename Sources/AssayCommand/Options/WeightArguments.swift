import ArgumentParser
import Assay

/// How weights stand in files.
struct WeightArguments: ParsableArguments {
  @Option(name: .customLong("format"), help: "Format of files of weights.")
  var format = WeightFiles.Format.npy

  @Option(name: .customLong("per"), help: "What one file of weights holds.")
  var grouping = WeightFiles.Grouping.parameter

  @Option(name: .customLong("layout"), help: "Order of the weights' axes.")
  var layout = WeightLayout.coreml

  @Option(
    help: ArgumentHelp(
      "Ends of the names of a layer's files, in place of the weights' names.", valueName: "_W,_b"))
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

extension WeightLayout: ExpressibleByArgument {}
