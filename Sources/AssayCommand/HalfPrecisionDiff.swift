extension DiffCommand {
  var isHalf: Bool { compute.precision.isHalf }

  func halfPrecisionStudy(
    of document: Model, _ inputs: [String], _ compile: CompileOptions
  ) throws -> HalfPrecisionStudy {
    try HalfPrecisionStudy(
      document, inputs: inputs, options: options(for: document, compile), seed: engine.seed,
      budget: .seconds(budget ?? 60))
  }

  /// Compares a model in half precision with itself in single precision.
  func studyHalfPrecision(
    of files: ModelFiles, _ inputs: [String], _ reader: ModelReader, _ compile: CompileOptions
  ) throws {
    try require(
      destination == nil && !models.structure, .usage, "-o and --structure compare two models")
    var reader = reader
    reader.inputs = inputs
    let document = try reader.read(files).model
    let study = try inFile(files.path) { try halfPrecisionStudy(of: document, inputs, compile) }
    let text = HalfPrecisionText(study: study)
    Console.write(
      text.text(), orJSON: .versioned(["matches": study.agrees, "halfPrecision": text.json()]), json
    )
    try writeReport(files.path, against: "single precision", inputs: inputs) { page in
      page.add(study)
      page.add(document, customLayers: compile.customLayers)
    }
    if !study.agrees { throw ExitCode(1) }
  }
}
