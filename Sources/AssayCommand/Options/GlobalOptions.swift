/// Options of every command.
struct GlobalOptions: ParsableArguments {
  @Flag(
    name: [.short, .long],
    help: .advanced(
      "Print only results and errors; a result that is written to a file is not printed."))
  var quiet = false

  @Option(
    help: .advanced(
      "Refuse to use more memory than this, such as 500M or 2G; default: 80% of the available "
        + "memory, but at most 1 MiB per byte of input, or 192 MiB if that is more.", "SIZE"))
  var maxMemory: ByteCount?

  @Option(
    help: .advanced(
      "Stop with exit code 75 if the command takes longer than this; nothing is written then.",
      "SECONDS"))
  var timeout: Double?

  @Flag(
    help: .advanced(
      "Refuse to read HDF5 files if this system cannot confine their reader completely."))
  var requireSandbox = false

  @Option(help: .private) var colorOutput = ColorOutput.auto

  func validate() throws {
    if let timeout, !(timeout > 0 && timeout <= 1e9) {
      throw ValidationError("--timeout takes a number of seconds greater than 0")
    }
  }

  /// - Parameter verbose: whether to report what prevents a sandbox for the reader of HDF5 files.
  func apply(verbose: Bool = false) {
    if let maxMemory { MemoryBudget.allow(maxMemory.bytes) } else { MemoryBudget.limitByInputs() }
    if let timeout { TimeBudget.allow(seconds: timeout) }
    HDF5Sandbox.configure(isRequired: requireSandbox, report: verbose ? Console.note : nil)
    Console.isQuiet = quiet
    Console.colors = colorOutput
  }
}
