import ArgumentParser
import Assay

/// Options of the engine.
struct EngineArguments: ParsableArguments {
  @Option(help: "Number of threads; default: one per core. Results do not depend on it.")
  var threads: Int?

  @Option(
    help: ArgumentHelp(
      "Whether the field forgetBias of an LSTM adds 1 to its bias (add) or not (ignore); coremltools sets the field without intending that."
    ))
  var forgetBias = ForgetBias.ignore

  @Option(
    help: ArgumentHelp(
      "Round weights, inputs and the results of all layers to half precision, like a device that computes in half precision; default: float32.",
      valueName: "float16"))
  var computePrecision = ComputePrecision.float32

  @Option(help: "Seed of random inputs, random weights and layers of random numbers.")
  var seed: UInt64 = 0

  @OptionGroup var program: FunctionArguments

  @OptionGroup var passes: PassArguments

  @OptionGroup var plugins: PluginArguments

  func validate() throws {
    if let threads, !(1...1024).contains(threads) {
      throw ValidationError("--threads must be 1 to 1024")
    }
  }

  func compileOptions() throws -> CompileOptions {
    var options = CompileOptions()
    options.threads = threads
    options.seed = seed
    options.withoutPasses = Set(passes.without)
    options.customLayers = try plugins.customLayers()
    return options
  }

  /// How to predict and compare.
  func comparison(
    _ compile: CompileOptions, _ layout: ArrayLayout, _ images: ImageOptions?
  ) -> Comparison.Options {
    var options = Comparison.Options()
    options.layout = layout
    options.images = images
    options.engine = compile
    options.forgetBias = forgetBias
    options.precision = computePrecision
    return options
  }
}

extension ComputePrecision: ExpressibleByArgument {}

/// The function of an ML Program.
struct FunctionArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Use this function of an ML Program; default: the program's default function.",
      valueName: "NAME"))
  var function: String?
}

/// Optimization passes to leave out.
struct PassArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Skip an optimization pass, to find out whether it causes an error; repeatable.",
      valueName: "PASS"))
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
