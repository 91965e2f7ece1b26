/// Checks of a conversion's result before it is written.
struct ConversionCheckArguments: ParsableArguments {
  @Option(
    help: .usual("Check the result on this file or folder first.", "INPUT"), completion: .file())
  var inputs: [String] = []

  @Option(help: .usual("The framework's predictions for --inputs.", "FILE"), completion: .file())
  var expected: String?

  @Flag(help: "Check every layer against a second reading first.") var prove = false

  /// Compares a conversion with the interpreter of its source network.
  func prove(
    _ origin: ProofOrigin, _ model: Model, _ comparison: Comparison.Options, file: String
  ) throws {
    var options = Proof.Options()
    options.predictor = comparison.predictor
    let proof = try origin.proof(of: model, inputs: inputs, options: options)
    Console.write(ProofText(proof: proof).text(file))
    guard proof.finding != nil else { return }
    try refuse(
      "the converted network does not compute what the source does", file,
      "omit --prove to write the model anyway")
  }

  /// Compares predictions with the framework's.
  ///
  /// - Returns: the comparison on a single input.
  func compare(
    _ model: Model, with expected: String, _ options: Comparison.Options, file: String, quiet: Bool
  ) throws -> (comparison: Comparison, inputs: [String])? {
    let text: String
    var single: Comparison?
    let matches: Bool
    if let list = try ManyInputs.list(inputs, for: model, expected: expected) {
      let many = try ManyInputs(
        model, list, expected: expected, options: options,
        InputLoop("assay convert", quiet: quiet))
      (matches, text) = (many.matches, many.text)
      if !matches { Console.write(text) }
      try many.loop.conclude()
    } else {
      let comparison = try Comparison.compare(
        model, inputs: inputs, expected: expected, options: options)
      (matches, text, single) = (
        comparison.matches, ComparisonText(comparison: comparison).text(), comparison
      )
      if !matches { Console.write(text) }
    }
    if !matches {
      try refuse(
        "the converted network does not give the predictions in \(expected)", file,
        "omit --inputs to write the model anyway")
    }
    return single.map { ($0, inputs) }
  }

  /// Compares a program with the network from which it was made.
  func compare(
    _ program: Model, with network: Model, _ options: Comparison.Options, isHalf: Bool,
    file: String, quiet: Bool
  ) throws {
    var all = ModelComparison.Options()
    all.comparison = options
    // Every layer rounds its results to 11 bits, and the errors accumulate.
    if isHalf {
      var tolerance = Tolerance(relative: 2e-2, absolute: 2e-2)
      tolerance.isScaled = true
      all.comparison.tolerances = Tolerances(tolerance)
    }
    let (comparison, loop) = try ModelDiffArguments.compare(
      network, program, inputs: inputs, all, InputLoop("assay convert", quiet: quiet))
    if !comparison.matches { Console.write(ModelDifferenceText(comparison: comparison).text()) }
    try loop?.conclude()
    if comparison.matches { return }
    try refuse(
      "the program does not predict what the network does", file,
      isHalf
        ? "--keep-float32 keeps layers in single precision"
        : "omit --inputs to write the program anyway")
  }

  private func refuse(_ message: String, _ file: String, _ remedy: String) throws {
    Console.report(
      ModelError(.mismatch, message, file: file, hint: "nothing was written; " + remedy))
    throw ExitCode(1)
  }
}
