import ArgumentParser
import Assay

/// How the engine works.
struct EngineArguments: ParsableArguments {
  @Option(help: "Threads; one a core by default. The result does not depend on it.")
  var threads: Int?

  @Option(
    help: ArgumentHelp(
      "Refuse to take more memory than this, such as 500M or 2G.", valueName: "SIZE"))
  var maxMemory: ByteCount?

  @Option(
    help: ArgumentHelp(
      "Whether the field forgetBias of an LSTM adds 1: files of coremltools set it and do not mean it."
    ))
  var forgetBias = ForgetBias.ignore

  @OptionGroup var passes: PassArguments

  @OptionGroup var plugins: PluginArguments

  func validate() throws {
    if let threads, !(1...1024).contains(threads) {
      throw ValidationError("--threads takes a number from 1 to 1024")
    }
  }

  func compileOptions() throws -> CompileOptions {
    var options = CompileOptions()
    options.threads = threads
    options.maxMemory = maxMemory?.bytes
    options.withoutPasses = Set(passes.without)
    options.customLayers = try plugins.customLayers()
    return options
  }
}

/// Which rewrites of the graph are left out.
struct PassArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Leave a pass over the graph out, to find out whether it is at fault; repeatable.",
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
