/// The output of `-h`, `--help` and `assay help`: the usual options of a command, or all of them.
struct HelpText {
  let text: String

  /// Nil if the arguments do not request help.
  init?(_ arguments: [String]) {
    let words = arguments.prefix { $0 != "--" }
    let isShort = words.contains("-h")
    let names = words.first == "help" ? Array(words.dropFirst()) : Array(words)
    let isRequested =
      words.isEmpty || words.first == "help"
      || words.contains { ["-h", "--help", "-help", "--help-hidden"].contains($0) }
    guard isRequested else { return nil }
    var command: any ParsableCommand.Type = AssayCommand.self
    for name in names {
      let next = command.configuration.subcommands.first {
        $0.configuration.commandName == name
      }
      guard let next else { break }
      command = next
    }
    if command == AssayCommand.self {
      text = Self.overview + (isShort ? "" : "\n\n" + Self.exitCodes)
    } else {
      // Examples are at most 80 columns wide, so that they can be copied.
      let help = AssayCommand.helpMessage(
        for: command, columns: max(80, Terminal.outputWidth ?? 80))
      text =
        (help.hasSuffix("\n") ? String(help.dropLast()) : help)
        + (isShort ? "\n\n--help lists all options." : "")
    }
  }

  private static var overview: String {
    let commands = AssayCommand.configuration.subcommands.map { $0.configuration }
    let lines = commands.map { "  " + ($0.commandName ?? "").padded(to: 10) + $0.abstract }
    return """
      \(AssayCommand.configuration.abstract)

        assay convert model.h5 --preset keras-tf
        assay run model.mlmodel cat.png --resize squash
        assay diff model.h5 model.mlmodel

      USAGE: assay <command> [<options>]

      SUBCOMMANDS:
      \(lines.joined(separator: "\n"))

      assay <command> -h shows the usual options, --help all; assay --version.
      """
  }

  private static let exitCodes = """
    EXIT CODES:
      0       success
      1       diff or convert found a difference, or check found only warnings
      2       an input is invalid or unsupported, or an option does not fit it
      64      wrong usage
      66      a file is missing
      70      internal error; please report it
      73, 74  a file cannot be created or written
      75      out of memory, or of the time of --timeout
    """
}

extension ArgumentVisibility {
  /// The visibility of options that `-h` omits.
  static let advanced: ArgumentVisibility = ProgramArguments.all.contains("-h") ? .hidden : .default
}
