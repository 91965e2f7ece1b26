import ArgumentParser
import Assay

extension ColorOutput: ExpressibleByArgument {}

/// Options of every command.
struct GlobalOptions: ParsableArguments {
  @Flag(
    name: [.short, .long],
    help: "Print only results and errors; a result that is written to a file is not printed."
  )
  var quiet = false

  @Option(help: "Color on standard error; NO_COLOR is respected.")
  var colorOutput = ColorOutput.auto

  @Option(
    help: ArgumentHelp(
      "Refuse to use more memory than this, such as 500M or 2G; default: 80 % of the available "
        + "memory, but at most 1 MiB per byte of input, or 192 MiB if that is more.",
      valueName: "SIZE"))
  var maxMemory: ByteCount?

  @Option(
    help: ArgumentHelp(
      "Stop with exit code 75 if the command takes longer than this; nothing is written then.",
      valueName: "SECONDS"))
  var timeout: Double?

  @Flag(help: "Refuse to read HDF5 files if this system cannot confine their reader completely.")
  var requireSandbox = false

  func validate() throws {
    if let timeout, !(timeout > 0 && timeout <= 1e9) {
      throw ValidationError("--timeout takes a number of seconds greater than 0")
    }
  }

  /// - Parameter verbose: whether to say what is missing to confine the reader of HDF5 files.
  func apply(verbose: Bool = false) {
    if let maxMemory {
      MemoryBudget.allow(maxMemory.bytes)
    } else {
      MemoryBudget.limitByInputs()
    }
    if let timeout { TimeBudget.allow(seconds: timeout) }
    HDF5Sandbox.configure(isRequired: requireSandbox, report: verbose ? Console.note : nil)
    Console.colorOutput = colorOutput
    Console.isQuiet = quiet
  }
}
