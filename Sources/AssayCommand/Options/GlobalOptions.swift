import ArgumentParser
import Assay

extension ColorOutput: ExpressibleByArgument {}

/// Options of every command.
struct GlobalOptions: ParsableArguments {
  @Flag(
    name: [.short, .long], help: "Print results and errors only; a result in a file is not printed."
  )
  var quiet = false

  @Option(help: "Color on standard error; NO_COLOR is respected.")
  var colorOutput = ColorOutput.auto

  @Option(
    help: ArgumentHelp(
      "Refuse to use more memory than this, such as 500M or 2G; default: 80 % of what there is, and "
        + "of small inputs 1 MiB for each byte, at least 192 MiB.",
      valueName: "SIZE"))
  var maxMemory: ByteCount?

  func apply() {
    if let maxMemory {
      MemoryBudget.allow(maxMemory.bytes)
    } else {
      MemoryBudget.limitByInputs()
    }
    Console.colorOutput = colorOutput
    Console.isQuiet = quiet
  }
}
