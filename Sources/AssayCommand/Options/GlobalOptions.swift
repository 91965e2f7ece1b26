import ArgumentParser

extension ColorOutput: ExpressibleByArgument {}

/// Options of every command.
struct GlobalOptions: ParsableArguments {
  @Flag(
    name: [.short, .long], help: "Print results and errors only; a result in a file is not printed."
  )
  var quiet = false

  @Option(help: "Color on standard error; NO_COLOR is respected.")
  var colorOutput = ColorOutput.auto

  func apply() {
    Console.colorOutput = colorOutput
    Console.isQuiet = quiet
  }
}
