import ArgumentParser

extension ColorOutput: ExpressibleByArgument {}

/// Options that every command has.
struct GlobalOptions: ParsableArguments {
  @Flag(name: [.short, .long], help: "Print results and errors only.")
  var quiet = false

  @Option(help: "Colour on standard error; NO_COLOR is obeyed.")
  var colorOutput = ColorOutput.auto

  func apply() { Console.colorOutput = colorOutput }
}
