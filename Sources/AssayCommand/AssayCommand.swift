import LibC

struct AssayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "assay",
    abstract: "Converts Keras, Caffe and Darknet networks to Core ML, runs and compares them.",
    subcommands: [
      ConvertCommand.self, RunCommand.self, DiffCommand.self, InspectCommand.self,
      CheckCommand.self, EvalCommand.self, RecordCommand.self, CompressCommand.self,
      EditCommand.self, MergeCommand.self, GenerateCommand.self, BenchCommand.self,
      PluginCommand.self,
    ])
}

@main
enum Main {
  static func main() {
    var arguments: [String] = []
    var files: [OptionsFile] = []
    do {
      StandardStreams.reserveClosed()
      Settings.spelling = { "--" + Settings.words(of: $0, separator: "-") }
      arguments = ProgramArguments.all
      Console.reportFaults(of: arguments)
      OpenedFiles.keepRecord()
      if arguments.first == "upgrade" { Console.warn("`assay upgrade` is now `assay convert`") }
      arguments = EarlierSpellings.replaced(in: arguments)
      files = try OptionsFile.named(in: &arguments)
      try checkNames(arguments)
      if arguments == ["--version"] { return Console.print("assay \(assayVersion)") }
      if let help = HelpText(arguments) { return Console.print(help.text) }
      var command = try parsed(arguments, &files)
      try command.run()
    } catch let error as ModelError {
      Console.report(error)
      exit(error.code.exitCode)
    } catch let end as TimeIsOver {
      Console.report(end.error)
      exit(end.error.code.exitCode)
    } catch let code as ExitCode {
      exit(code.rawValue)
    } catch {
      let message = AssayCommand.fullMessage(for: error)
      switch AssayCommand.exitCode(for: error) {
      case .success:
        if !message.isEmpty { Console.print(CompletionScript.completed(message)) }
      case .validationFailure, .failure:
        let text = unknownOption(in: arguments, message) ?? message
        Console.reportUsage(files.lazy.compactMap { $0.blamed(for: text) }.first ?? text)
        exit(ModelError.Code.usage.exitCode)
      default: AssayCommand.exit(withError: error)
      }
    }
  }

  /// - Parameter files: receives the options file beside the model.
  private static func parsed(
    _ arguments: [String], _ files: inout [OptionsFile]
  ) throws -> any ParsableCommand {
    func parse() throws -> any ParsableCommand {
      let words = arguments.prefix(1) + files.flatMap(\.words) + arguments.dropFirst()
      return try parsed(
        InspectCommand.completed(Folder.marked(joiningNegativeNumbers(Array(words)))))
    }
    let result = Result { try parse() }
    let model: String? =
      switch try? result.get() {
      case let command as ConvertCommand: command.model
      case let command as RunCommand: command.model
      case let command as DiffCommand: command.files.first
      default: arguments.dropFirst().first { !$0.hasPrefix("-") }
      }
    let given = arguments + files.flatMap(\.words)
    guard let file = try OptionsFile.beside(model, for: given) else { return try result.get() }
    files.insert(file, at: 0)
    if !given.contains("-q"), !given.contains("--quiet") { Console.note(file.note) }
    return try parse()
  }

  /// The command that the first argument names, parsed alone, which saves the several milliseconds
  /// of parsing all commands. The parser for all commands reports help and mistakes.
  private static func parsed(_ arguments: [String]) throws -> any ParsableCommand {
    let named = AssayCommand.configuration.subcommands.first {
      $0.configuration.commandName == arguments.first && $0.configuration.subcommands.isEmpty
    }
    if let named, let command = try? named.parseAsRoot(Array(arguments.dropFirst())),
      type(of: command) == named
    {
      return command
    }
    return try AssayCommand.parseAsRoot(arguments)
  }

  /// The arguments with a negative number after an option as `--NAME=-1`, since the parser takes
  /// `-1` for an option and reports a missing value instead of a wrong one.
  private static func joiningNegativeNumbers(_ arguments: [String]) -> [String] {
    let end = arguments.firstIndex(of: "--") ?? arguments.count
    var words: [String] = []
    for word in arguments[..<end] {
      if let last = words.last, last == "-t" || last.hasPrefix("--"), !last.contains("="),
        word.hasPrefix("-"), Double(word) != nil
      {
        words[words.count - 1] = "\(last)=\(word)"
      } else {
        words.append(word)
      }
    }
    return words + arguments[end...]
  }

  /// The message about a misspelled option; the parser reports it only if no argument is missing.
  private static func unknownOption(in arguments: [String], _ message: String) -> String? {
    guard message.hasPrefix("Error: Missing expected argument") else { return nil }
    for count in 1...2 {
      let words = arguments + [String](repeating: "x", count: count)
      do { _ = try AssayCommand.parseAsRoot(words) } catch {
        let other = AssayCommand.fullMessage(for: error)
        if other.hasPrefix("Error: Unknown option") { return other }
      }
    }
    return nil
  }

  /// - Throws: `.usage` with the nearest name if the first argument, or a word after `help`, is not
  ///   a command.
  private static func checkNames(_ arguments: [String]) throws {
    var commands = AssayCommand.configuration.subcommands
    let isHelp = arguments.first == "help"
    for word in isHelp ? Array(arguments.dropFirst()) : Array(arguments.prefix(1))
    where !word.hasPrefix("-") {
      let names = commands.map { $0.configuration.commandName ?? "" }
      guard let index = names.firstIndex(of: word) else {
        let similar = NameDistance.nearest(to: word, among: names)
        throw ModelError(
          .usage, "unknown command '\(word)'",
          hint: similar.isEmpty
            ? names.isEmpty ? nil : "the commands are " + names.joined(separator: ", ")
            : "did you mean " + similar.map { "'\($0)'" }.joined(separator: " or ") + "?")
      }
      commands = commands[index].configuration.subcommands
    }
  }
}
