import ArgumentParser
import Assay

struct DiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Compares predictions with what was expected.",
    usage: """
      assay diff MODEL.mlmodel INPUT --expected FILE [options]
      assay diff A B [options]
      assay diff A.mlmodel B.mlmodel [INPUT…] [options]
      """,
    discussion: """
      The first form runs the model; the second compares two files of arrays, of which B is what \
      was expected; the third compares what two models are made of, and what they answer to the \
      inputs or to random ones. Exit code 1 says that something differs: with models that run, an \
      output.
      """)

  @Argument(
    help: "A model and its inputs, two files of arrays, or two models and inputs.",
    completion: .file())
  var files: [String]

  @Option(
    help: ArgumentHelp("What was expected: .npz, .npy, .json, .csv or .h5.", valueName: "FILE"),
    completion: .file())
  var expected: String?

  @Option(help: ArgumentHelp("Relative tolerance, 1e-4 by default.", valueName: "[NAME=]X"))
  var rtol: [NamedValue<Fraction>] = []

  @Option(
    help: ArgumentHelp(
      "Absolute tolerance; 1e-5 by default, times the largest expected value where that exceeds 1.",
      valueName: "[NAME=]X"))
  var atol: [NamedValue<Fraction>] = []

  @Option(help: "Sets both tolerances by the precision of the weights.")
  var profile = Tolerance.Profile.fp32

  @Option(help: ArgumentHelp("Also the agreement of the N best classes.", valueName: "N"))
  var top: Int?

  @Option(
    help: ArgumentHelp(
      "Also compare blobs inside, and name the first that differs.", valueName: "FILE.npz"),
    completion: .file())
  var layers: String?

  @Flag(help: "Also run in double precision, and say whether a difference is rounding.")
  var reference = false

  @Option(
    help: ArgumentHelp("Write a self-contained page.", valueName: "FILE.html"),
    completion: .file(extensions: ["html"]))
  var report: String?

  @Option(help: "Layout of arrays.")
  var layout = ArrayLayout.source

  @OptionGroup var models: ModelDiffArguments

  @OptionGroup var pictures: PictureArguments

  @OptionGroup var engine: EngineArguments

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    if files.count < 2 { throw ValidationError("give a model and its inputs, or two arrays") }
    if expected == nil {
      if files.count > 2, !files[1].lowercased().hasSuffix(".mlmodel") {
        throw ValidationError("give --expected FILE")
      }
      if layers != nil || reference {
        throw ValidationError("--layers and --reference need a model and --expected FILE")
      }
    }
    if let top, top < 1 { throw ValidationError("--top takes a number from 1") }
  }

  func run() throws {
    global.apply()
    if expected == nil, try ModelDiffArguments.areModels(files.prefix(2)) {
      return try compareModels()
    }
    try require(files.count == 2 || expected != nil, .usage, "give --expected FILE, or two models")
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
    } else if !global.quiet {
      Console.write(text.text())
    }
    if let report {
      try write(comparison.outputs + (comparison.blobs?.blobs ?? []), to: report)
    }
    if !comparison.matches { throw ExitCode(1) }
  }

  private func compareModels() throws {
    let comparison = try models.compare(files) { try options(for: $0) }
    let text = ModelDifferenceText(comparison)
    if json {
      Console.print(text.json().text)
    } else if !global.quiet {
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
    options.pictures = try document.map { try pictures.options(for: $0) }
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
