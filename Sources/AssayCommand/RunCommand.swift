import ArgumentParser
import Assay
import ByteFormats
import CoreMLModel
import Engine
import Imaging
import TensorCore

struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Predicts with an .mlmodel on the CPU.",
    discussion: """
      Inputs are pictures (PNG, JPEG) and arrays (.npy, .npz, .json, .csv). Several files, or the \
      files of a folder, run one after the other; NAME=FILE gives each of several inputs its own.
      """)

  @Argument(help: "The model.", completion: .file(extensions: ["mlmodel"]))
  var model: String

  @Argument(help: "FILE, NAME=FILE, a folder, or - for a list of files.", completion: .file())
  var inputs: [String]

  @Option(name: .shortAndLong, help: "How many of the best classes to print.")
  var top = 5

  @Option(
    help: ArgumentHelp(
      "Labels for a model that has none: one a line, or a JSON list.", valueName: "FILE"),
    completion: .file())
  var labels: String?

  @Option(help: "Layout of array inputs and outputs.")
  var layout = ArrayLayout.source

  @Option(
    name: .customLong("output"),
    help: ArgumentHelp("Print this output only; repeatable.", valueName: "NAME"))
  var outputNames: [String] = []

  @Flag(help: "Every output and every blob inside.")
  var allOutputs = false

  @Option(
    name: .customLong("layer"),
    help: ArgumentHelp("A layer or blob inside, too; repeatable.", valueName: "NAME"))
  var layers: [String] = []

  @Option(
    name: .customShort("o"),
    help: ArgumentHelp(
      "Write the outputs: .npy, .npz, .json, .csv, or .png for an image; a folder for several inputs.",
      valueName: "FILE"),
    completion: .file())
  var destination: String?

  @OptionGroup var pictures: PictureArguments

  @OptionGroup var engine: EngineArguments

  @Flag(help: "Each step as it runs.")
  var verbose = false

  @Flag(help: "Time, operations and GFLOP/s of each step.")
  var profile = false

  @Option(help: "The calls that custom layers get.")
  var trace: Trace?

  enum Trace: String, ExpressibleByArgument, CaseIterable {
    case custom
  }

  @Flag(help: "One JSON object a line.")
  var json = false

  @OptionGroup var global: GlobalOptions

  func validate() throws {
    if top < 1 { throw ValidationError("--top takes a number from 1") }
  }

  func run() throws {
    global.apply()
    let document = try inFile(model) { try Model(contentsOf: model) }
    try inFile(model) { try predictAll(document) }
  }

  private func predictAll(_ document: Model) throws {
    let steps = StepLog()
    let predictor = try Predictor(model: document, options: options(for: document, steps: steps))
    let sources = try InputSource.resolve(inputs, for: document) { Self.linesOfInput() }
    guard !sources.isEmpty else { throw ModelError(.mismatch, "there is no input to run") }
    let classLabels = try labelStrings(document)
    let progress = Progress("assay run", enabled: !global.quiet && !json)
    defer { progress.finish() }
    let values = ReadAhead(sources, for: document, pictures: pictures.options)
    for (index, source) in sources.enumerated() {
      progress.update(index, of: sources.count)
      guard let value = try values.next() else { break }
      let prediction = try predictor.predict(value)
      let selected = try select(prediction)
      let shown = PredictionText(selected, labels: classLabels, top: top)
      if json {
        Console.print(try shown.json(input: source.name).text)
      } else if destination == nil || !global.quiet {
        if sources.count > 1 { Console.print(Console.escaped(source.name)) }
        Console.write(try shown.text())
      }
      if let destination {
        let path =
          sources.count > 1
          ? try OutputFiles.path(in: destination, for: source.name, outputs: selected) : destination
        try OutputFiles.write(selected, to: path)
      }
      let executed = steps.take()
      if profile { Console.write(StepTable(records: executed).text) }
    }
  }

  private func options(for document: Model, steps: StepLog) throws -> Predictor.Options {
    var options = Predictor.Options()
    options.layout = layout
    options.pictures = pictures.options
    options.engine = try engine.compileOptions()
    options.forgetBias = engine.forgetBias
    options.keep =
      allOutputs ? .all : .named(Set(try layers.map { try blob(of: $0, in: document) }))
    if verbose || profile {
      let verbose = verbose
      options.engine.hooks.onStep = { record in
        steps.append(record)
        if verbose { Console.note(StepLog.line(record)) }
      }
    }
    if trace == .custom {
      options.engine.hooks.onCustomLayerCall = { Console.note(Console.escaped($0.description)) }
    }
    return options
  }

  private func blob(of name: String, in document: Model) throws -> String {
    if let blob = document.blob(named: name) { return blob }
    throw ModelError(
      .mismatch, "the model has no layer or blob '\(name)'",
      hint: "`assay inspect` lists them")
  }

  private func select(_ prediction: Prediction) throws -> [PredictedOutput] {
    guard !outputNames.isEmpty else { return prediction.outputs }
    return try outputNames.map { name in
      guard let output = prediction.outputs.first(where: { $0.name == name }) else {
        throw ModelError(
          .mismatch, "the model has no output '\(name)'",
          hint: "its outputs are "
            + prediction.outputs.map(\.name).joined(separator: ", "))
      }
      return output
    }
  }

  private func labelStrings(_ document: Model) throws -> [String]? {
    if let labels { return NeuralNetworkClassifier.ClassLabels(try LabelFile.read(labels)).strings }
    return document.classLabels?.strings
  }

  private static func linesOfInput() -> [String] {
    var lines: [String] = []
    while let line = readLine() { if !line.isEmpty { lines.append(line) } }
    return lines
  }
}
