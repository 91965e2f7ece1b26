/// The precision of stored weights.
struct PrecisionArguments: ParsableArguments {
  @Option(help: "Precision for all weights that use more bits.") var precision: Floats?

  @Option(help: .usual("Store codes of 1 to 8 bits.", "N")) var bits: Int?

  @Option(
    help: .usual(
      "How codes map to values: linear (the default), linear_symmetric, linear_lut, kmeans_lut, or a "
        + "table of 2, 4, 8 … 256 values in a .npy, .json or .csv.", "MODE"), completion: .file())
  var mode: Mode?

  enum Floats: String, ExpressibleByArgument, CaseIterable { case float32, float16 }

  enum Mode: ExpressibleByArgument {
    case codes(CodeMode)
    case table(String)

    init?(argument: String) {
      switch argument {
      case "linear": self = .codes(.linear)
      case "linear_symmetric": self = .codes(.linearSymmetric)
      case "linear_lut": self = .codes(.linearTable)
      case "kmeans_lut", "kmeans": self = .codes(.kMeansTable)
      case _ where argument.contains("."): self = .table(argument)
      default: return nil
      }
    }
  }

  private var table: String? { if case .table(let file)? = mode { file } else { nil } }
  /// How codes map to values, without a table.
  var codes: CodeMode { if case .codes(let codes)? = mode { codes } else { .linear } }

  var isGiven: Bool { precision != nil || bits != nil || table != nil }

  func validate() throws {
    if let bits, !(1...8).contains(bits) { throw ValidationError("--bits must be 1 to 8") }
    if precision != nil, bits != nil || mode != nil {
      throw ValidationError("--precision cannot be combined with --bits or --mode")
    }
  }

  func weightPrecision() throws -> WeightPrecision {
    if let table {
      let values = try inFile(table) { try Self.values(table) }
      let bits = values.count.trailingZeroBitCount
      if let own = self.bits, own != bits {
        throw ModelError(
          .mismatch, "the table has \(values.count) values; \(own) bits need \(1 << own)",
          file: table)
      }
      return .codes(bits: bits, .table(values))
    }
    if let bits { return .codes(bits: bits, codes) }
    return precision == .float32 ? .float32 : .float16
  }

  private static func values(_ path: String) throws -> [Float] {
    let arrays = try ArraySet.parse(
      MappedFile.read(path), prefersJSON: path.hasSuffix(".json")
    ).arrays
    let values = arrays.first.map { Array($0.tensor.elements) } ?? []
    try require(
      arrays.count == 1 && (2...256).contains(values.count) && values.count.nonzeroBitCount == 1,
      .mismatch,
      "the file has \(arrays.count) arrays with \(arrays.reduce(0) { $0 + $1.tensor.count }) values; "
        + "a table is one array of 2, 4, 8, 16, 32, 64, 128 or 256 values")
    try require(values.allSatisfy(\.isFinite), .mismatch, "a value of the table is not finite")
    return values
  }
}

/// Further storage options for weights of ML Programs.
struct ProgramCompressionArguments: ParsableArguments {
  @Option(
    help: .usual(
      "The number of channels that share a table (of outputs) or the scale of linear codes (of inputs); default: all.",
      "N"))
  var groupSize: Int?

  @Option(
    help: .usual(
      "Set this fraction of each weight's values, the smallest, to 0, and store only the rest.", "P"
    ))
  var sparsity: Double?

  var isGiven: Bool { groupSize != nil || sparsity != nil }

  func validate() throws {
    if let sparsity, !(0..<1).contains(sparsity) {
      throw ValidationError("--sparsity must be at least 0 and less than 1")
    }
  }
}

/// Selection of the weights to compress.
struct SelectionArguments: ParsableArguments {
  @Option(
    name: .customLong("layer"),
    help: .usual(
      "Only layers with this name or type, such as innerProduct; * matches any characters; repeatable.",
      "NAME"))
  var names: [String] = []

  @Option(
    name: .customLong("skip-layer"),
    help: .usual("Skip layers with this name or type; repeatable.", "NAME"))
  var skippedNames: [String] = []

  @Option(help: .usual("Only weights with at least this many values.", "N")) var minCount = 0

  @Option(
    help: """
      How to choose the scales of linear and linear_lut codes: from the range of the values, like \
      coremltools, or for the least squared error.
      """)
  var scales = ScaleChoice.leastSquares

  @Flag(help: "Keep the precision of layers with a value too large for half precision.")
  var keepOverflow = false

  /// - Throws: `.mismatch` for a name or type that no layer has.
  func requireLayers(in model: Model) throws {
    let layers = model.networks.flatMap { $0.model.neuralNetwork?.layers ?? [] }
    for name in names + skippedNames {
      let pattern = NamePattern(name)
      try require(
        layers.contains(where: {
          pattern.matches($0.name) || pattern.matches($0.parameters?.typeName ?? "")
        }), .mismatch, "the model has no layer or type '\(name)'",
        hint: "list the layers with `assay inspect`")
    }
  }

  /// - Throws: `.mismatch` for a name or type that no weight of a program has.
  func requireWeights(_ weights: [CompressedLayer]) throws {
    for name in names + skippedNames {
      let pattern = NamePattern(name)
      try require(
        weights.contains { pattern.matches($0.name) || pattern.matches($0.type) }, .mismatch,
        "the program has no weight '\(name)', or operation of this type with a weight",
        hint: "list the constants with `assay inspect --spec`")
    }
  }

  var rules: CompressionRules {
    var rules = CompressionRules(.float16)
    rules.names = names.map { NamePattern($0) }
    rules.skippedNames = skippedNames.map { NamePattern($0) }
    rules.minimumCount = minCount
    rules.scales = scales
    rules.keepsOverflow = keepOverflow
    return rules
  }
}

/// The goal that a compressed model must meet.
struct SearchArguments: ParsableArguments {
  @Option(
    parsing: .upToNextOption,
    help: .usual("Inputs to measure on and to correct biases with: files or folders.", "FILE|DIR"),
    completion: .file())
  var inputs: [String] = []

  @Option(help: .usual("The largest difference allowed in any element of any output.", "X"))
  var maxError: Double?

  @Option(
    help: .usual("The fraction of inputs that must keep their best class, such as 0.99.", "P"))
  var minAgreement: Double?

  @Option(help: .usual("The largest size allowed for the weights, such as 500K or 2M.", "SIZE"))
  var maxSize: ByteCount?

  @Option(
    help: .usual(
      "Write an HTML page that plots error against size; without a search, of all precisions.",
      "FILE.html"), completion: .file(extensions: ["html"]))
  var report: String?

  @Option(help: "The layout of array inputs.") var layout = ArrayLayout.source

  var goals: [CompressionSearch.Goal] {
    [
      maxError.map { .error($0) }, minAgreement.map { .agreement($0) },
      maxSize.map { .size($0.bytes) },
    ].compactMap { $0 }
  }

  var goalText: String {
    let inputs = "on " + inputs.joined(separator: ", ")
    if let maxError { return "no error above \(numberText(maxError, digits: 9)), \(inputs)" }
    if let minAgreement {
      return "the same best class for \(numberText(100 * minAgreement, digits: 9)) %, \(inputs)"
    }
    return maxSize.map { "at most \(groupedText($0.bytes)) bytes, \(inputs)" }
      ?? "all precisions, \(inputs)"
  }

  func validate() throws {
    if let maxError, !(maxError >= 0) { throw ValidationError("--max-error must be at least 0") }
    if let minAgreement, !(0...1).contains(minAgreement) {
      throw ValidationError("--min-agreement must be 0 to 1")
    }
  }
}

extension ScaleChoice: ExpressibleByArgument {}
