import ArgumentParser
import Assay

struct DiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Compares predictions with expected ones, or two models.",
    usage: """
      assay diff MODEL.mlmodel INPUT --expected FILE [options]
      assay diff A B [options]
      assay diff A.mlmodel B.mlmodel [INPUT…] [options]
      """,
    discussion: """
      EXAMPLES:
        assay diff model.mlmodel cat.png --expected keras_predictions.npz
        assay diff model.mlmodel cat.png --expected keras_predictions.npz --reference
        assay diff old.mlmodel new.mlmodel

      The first form runs the model; the second compares two files of arrays, where B is expected; \
      the third compares the structure of two models and their predictions on the inputs or on random \
      ones. Exit code 1 means that something differs; for models that run, that an output differs.
      """)

  @Argument(
    help: "A model and its inputs, two files of arrays, or two models and their inputs.",
    completion: .file())
  var files: [String]

  @Option(
    help: ArgumentHelp("The expected outputs: .npz, .npy, .json, .csv or .h5.", valueName: "FILE"),
    completion: .file())
  var expected: String?

  @Option(help: ArgumentHelp("Relative tolerance; default: 1e-4.", valueName: "[NAME=]X"))
  var rtol: [NamedValue<Fraction>] = []

  @Option(
    help: ArgumentHelp(
      "Absolute tolerance; default: 1e-5, times the largest expected value if that exceeds 1.",
      valueName: "[NAME=]X"))
  var atol: [NamedValue<Fraction>] = []

  @Option(help: "Set both tolerances for this precision of the weights.")
  var profile = Tolerance.Profile.fp32

  @Option(help: ArgumentHelp("Also compare the N best classes.", valueName: "N"))
  var top: Int?

  @Option(
    help: ArgumentHelp(
      "Also compare blobs inside the network and name the first that differs.",
      valueName: "FILE.npz"),
    completion: .file())
  var layers: String?

  @Flag(help: "Also run in double precision and say whether a difference is rounding.")
  var reference = false

  @Option(
    help: ArgumentHelp("Write a self-contained HTML page.", valueName: "FILE.html"),
    completion: .file(extensions: ["html"]))
  var report: String?

  @Option(help: "The layout of arrays.")
  var layout = ArrayLayout.source

  @OptionGroup(title: "Two models") var models: ModelDiffArguments

  @OptionGroup(title: "Images") var images: ResizeArguments

  @OptionGroup(title: "Engine") var engine: EngineArguments

  @Flag(help: "Print JSON.")
  var json = false

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    if files.count < 2 {
      throw ValidationError("give a model and its inputs, two models, or two files of arrays")
    }
    if expected == nil {
      if files.count > 2, !files[1].lowercased().hasSuffix(".mlmodel") {
        throw ValidationError("add --expected FILE")
      }
      if layers != nil || reference {
        throw ValidationError("--layers and --reference need a model and --expected FILE")
      }
    }
    if let top, top < 1 { throw ValidationError("--top must be at least 1") }
  }

  func run() throws {
    global.apply()
    if expected == nil, try ModelDiffArguments.areModels(files.prefix(2)) {
      return try compareModels()
    }
    try require(
      files.count == 2 || expected != nil, .usage, "add --expected FILE, or give two models")
    let comparison: Comparison
    if let expected {
      let document = try inFile(files[0]) { try Model(contentsOf: files[0]) }
      comparison = try inFile(files[0]) {
        try Comparison.compare(
          document, inputs: Array(files.dropFirst()), expected: expected,
          options: options(for: document))
      }
    } else {
      comparison = try Comparison.compare(
        arrays: files[0], with: files[1], options: options(for: nil))
    }
    let text = ComparisonText(comparison)
    if json {
      Console.print(text.json().text)
    } else {
      Console.write(text.text())
    }
    if let report {
      try write(comparison.outputs + (comparison.blobs?.blobs ?? []), to: report)
    }
    if !comparison.matches { throw ExitCode(1) }
  }

  private func compareModels() throws {
    let comparison = try models.compare(files, seed: engine.seed) { try options(for: $0) }
    let text = ModelDifferenceText(comparison)
    if json {
      Console.print(text.json().text)
    } else {
      Console.write(text.text())
    }
    if let report {
      try write(
        comparison.runs.flatMap { $0.comparison.outputs + ($0.comparison.blobs?.blobs ?? []) },
        to: report)
    }
    if !comparison.matches { throw ExitCode(1) }
  }

  private func options(for document: Model?) throws -> Comparison.Options {
    var options = Comparison.Options()
    options.tolerances = Tolerances(profile.tolerance)
    for value in rtol {
      if let name = value.name {
        options.tolerances.relative[name] = value.value.value
      } else {
        options.tolerances.standard.relative = value.value.value
      }
    }
    for value in atol {
      if let name = value.name {
        options.tolerances.absolute[name] = value.value.value
      } else {
        options.tolerances.standard.absolute = value.value.value
        options.tolerances.standard.isScaled = false
      }
    }
    options.top = top
    options.layout = layout
    options.layers = layers
    options.reference = reference
    options.engine = try engine.compileOptions()
    options.images = try document.map { try images.options(for: $0) }
    options.forgetBias = engine.forgetBias
    return options
  }

  private func write(_ comparisons: [OutputComparison], to path: String) throws {
    let page = HTMLReport(
      title: files.joined(separator: " "), comparisons: comparisons,
      facts: [
        ("actual", files.joined(separator: " ")), ("expected", expected ?? files[1]),
        ("program", "assay \(assayVersion)"),
      ])
    var html = page.html
    try html.withUTF8 { bytes in
      try AtomicFile.write(to: path) { try $0.write(UnsafeRawBufferPointer(bytes)) }
    }
  }
}

extension Tolerance.Profile: ExpressibleByArgument {}
