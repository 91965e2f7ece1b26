import ArgumentParser
import Assay

/// Options for comparing two models.
struct ModelDiffArguments: ParsableArguments {
  @Flag(
    help: "Compare the structure only, and exit with 1 if anything differs.")
  var structure = false

  @Option(help: "The seed of random inputs.")
  var seed: UInt64 = 0

  /// - Parameter options: those for the first model.
  func compare(
    _ first: Model, _ second: Model, inputs: [String], _ options: Comparison.Options
  ) throws -> ModelComparison {
    var all = ModelComparison.Options()
    all.comparison = options
    all.structureOnly = structure
    all.seed = seed
    return try ModelComparison(first, second, inputs: inputs, options: all)
  }
}
