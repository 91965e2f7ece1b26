/// Options of the engine.
struct EngineArguments: ParsableArguments {
  @Option(
    help: .advanced(
      "Number of threads, 1 to 1024; default: one per core. Results do not depend on it."))
  var threads: Int?

  @Option(
    help: .advanced(
      "Seed of random inputs, random weights and layers of random numbers; a whole number, at least 0."
    ))
  var seed: UInt64 = 0

  @OptionGroup var program: FunctionArguments

  @OptionGroup var passes: PassArguments

  @OptionGroup var plugins: PluginArguments

  func validate() throws {
    if let threads, !(1...1024).contains(threads) {
      throw ValidationError("--threads must be 1 to 1024")
    }
  }

  /// - Parameter file: the model's file, for warnings about its values.
  func compileOptions(for file: String) throws -> CompileOptions {
    var options = CompileOptions()
    Console.warnOfValues(&options.hooks, file: file)
    options.threads = threads
    options.seed = seed
    options.withoutPasses = Set(passes.without)
    options.customLayers = try plugins.customLayers()
    return options
  }

  /// The options of a prediction.
  func prediction(
    _ compile: CompileOptions, _ layout: ArrayLayout, _ images: ImageOptions?,
    _ compute: ComputePrecisionArguments? = nil
  ) -> Predictor.Options {
    var options = Predictor.Options()
    options.layout = layout
    options.images = images
    options.engine = compile
    if let compute {
      options.precision = compute.precision
      options.keptInFloat32 = Set(compute.kept.layers)
    }
    return options
  }
}

extension ComputePrecision: ExpressibleByArgument {}

/// The precision in which a network computes, as `convert` writes it into a program.
struct ComputePrecisionArguments: ParsableArguments {
  @Option(
    name: .customLong("arithmetic"),
    help: .advanced(
      "Simulate half-precision hardware (float16 rounds weights, inputs and the results of layers, float16-sums every partial sum, too), or multiply 8-bit weights as integers (fast); default: float32.",
      "PRECISION"))
  var precision = ComputePrecision.float32

  @OptionGroup var kept: KeptInFloat32Arguments

  func validate() throws {
    if !precision.isHalf, !kept.layers.isEmpty {
      throw ValidationError("--keep-float32 needs --arithmetic float16")
    }
  }

  /// - Throws: `.mismatch` for a name that no layer has.
  func requireLayers(in model: Model) throws { try kept.requireLayers(in: model) }
}

/// Layers that compute in single precision while others compute in half precision.
struct KeptInFloat32Arguments: ParsableArguments {
  @Option(
    name: .customLong("keep-float32"),
    help: .advanced("With float16, compute this layer in single precision; repeatable.", "LAYER"))
  var layers: [String] = []

  /// - Throws: `.mismatch` for a name that no layer has.
  func requireLayers(in model: Model) throws {
    guard let network = model.neuralNetwork else { return }
    for name in layers where !network.layers.contains(where: { $0.name == name }) {
      throw ModelError(
        .mismatch, "the model has no layer '\(name)' to keep in single precision",
        hint: "list the layers with `assay inspect`")
    }
  }
}

/// The function of an ML Program.
struct FunctionArguments: ParsableArguments {
  @Option(
    help: .advanced(
      "Use this function of an ML Program; default: the program's default function.", "NAME"))
  var function: String?
}

/// Optimization passes to skip.
struct PassArguments: ParsableArguments {
  @Option(
    help: .advanced(
      "Skip an optimization pass, to find out whether it causes an error; repeatable.", "PASS"))
  var without: [String] = []
}

/// A number of bytes: `1000`, `64K`, `500M`, `2G`.
struct ByteCount: ExpressibleByArgument {
  let bytes: Int

  init?(argument: String) {
    let units: [Character: Int] = ["k": 10, "m": 20, "g": 30]
    var digits = argument.lowercased()
    if digits.hasSuffix("b") { digits.removeLast() }
    var shift = 0
    if let unit = digits.last.flatMap({ units[$0] }) {
      shift = unit
      digits.removeLast()
    }
    guard let count = Int(digits), count > 0 else { return nil }
    let (bytes, overflow) = count.multipliedReportingOverflow(by: 1 << shift)
    guard !overflow else { return nil }
    self.bytes = bytes
  }
}

extension ArrayLayout: ExpressibleByArgument {}

extension ForgetBias: ExpressibleByArgument {}
