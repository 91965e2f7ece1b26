import ArgumentParser
import Assay
import LibC

struct AssayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "assay",
    abstract:
      "Converts Keras, Caffe and Darknet networks to Core ML, runs them, and compares predictions.",
    discussion: """
      EXAMPLES:
        assay convert model.h5 -o model.mlmodel --image-input image
        assay run model.mlmodel cat.png
        assay diff model.mlmodel cat.png --expected keras_predictions.npz

      EXIT CODES:
        0       success
        1       diff or convert --check found a difference, or check found only warnings
        2       an input is invalid or unsupported, or the options do not fit the model
        64      wrong usage
        66      a file is missing
        70      internal error; please report it
        73, 74  a file cannot be created or written
        75      out of memory, or of the time of --timeout
      """,
    version: "assay \(assayVersion)",
    subcommands: [
      ConvertCommand.self, RunCommand.self, DiffCommand.self, InspectCommand.self,
      CheckCommand.self, EvalCommand.self,
      RecordCommand.self,
      CompressCommand.self, EditCommand.self, UpgradeCommand.self, BenchCommand.self,
      PluginCommand.self,
    ])
}

@main
enum Main {
  static func main() {
    do {
      StandardStreams.reserveClosed()
      let arguments = ProgramArguments.all
      Console.reportFaults(of: arguments)
      OpenedFiles.keepRecord()
      try checkNames(arguments)
      var command = try parsed(InspectCommand.completed(Folder.marked(arguments)))
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
        if !message.isEmpty { Console.print(HelpSections.arranged(message)) }
      case .validationFailure, .failure:
        Console.reportUsage(message)
        exit(ModelError.Code.usage.exitCode)
      default: AssayCommand.exit(withError: error)
      }
    }
  }

  /// The command that the first argument names, parsed alone: with all others, that takes several
  /// milliseconds more. Help and mistakes are reported by the parser of all.
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

  /// - Throws: `.usage` with the nearest name, if the first argument, or a word after `help`, is not
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
