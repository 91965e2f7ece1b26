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
        1       diff or convert --check found a difference, check found something suspicious
        2       an input is invalid or unsupported, or the options do not fit the model
        64      wrong usage
        66      a file is missing
        70      internal error; please report it
        73, 74  a file cannot be created or written
        75      out of memory
      """,
    version: "assay \(assayVersion)",
    subcommands: [
      ConvertCommand.self, RunCommand.self, DiffCommand.self, InspectCommand.self,
      CheckCommand.self,
      CompressCommand.self, EditCommand.self, BenchCommand.self, PluginCommand.self,
    ])
}

@main
enum Main {
  static func main() {
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      try checkName(arguments)
      var command = try AssayCommand.parseAsRoot(InspectCommand.completed(arguments))
      try command.run()
    } catch let error as ModelError {
      Console.report(error)
      exit(error.code.exitCode)
    } catch let code as ExitCode {
      exit(code.rawValue)
    } catch {
      let message = AssayCommand.fullMessage(for: error)
      switch AssayCommand.exitCode(for: error) {
      case .success:
        if !message.isEmpty { Console.print(message) }
      case .validationFailure, .failure:
        Console.reportUsage(message)
        exit(ModelError.Code.usage.exitCode)
      default: AssayCommand.exit(withError: error)
      }
    }
  }

  /// - Throws: `.usage` with the nearest name, if the first argument is not a command.
  private static func checkName(_ arguments: [String]) throws {
    let names = AssayCommand.configuration.subcommands.compactMap(\.configuration.commandName)
    guard let word = arguments.first, !word.hasPrefix("-"), !(names + ["help"]).contains(word)
    else { return }
    let similar = NameDistance.nearest(to: word, among: names)
    throw ModelError(
      .usage, "unknown command '\(word)'",
      hint: similar.isEmpty
        ? "the commands are " + names.joined(separator: ", ")
        : "did you mean " + similar.map { "'\($0)'" }.joined(separator: " or ") + "?")
  }
}
