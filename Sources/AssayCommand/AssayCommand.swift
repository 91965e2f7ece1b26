import ArgumentParser
import Assay
import LibC

struct AssayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "assay",
    abstract:
      "Converts Keras, Caffe and Darknet networks to Core ML, runs them, and shows that nothing was "
      + "lost.",
    discussion: """
      Exit codes: 0 done; 1 diff or convert --check found a difference, check something suspicious; 2 the input is invalid or not supported, or \
      the options do not fit the model; 64 wrong usage; 66 a file is missing; 70 a fault of assay; \
      73 and 74 cannot create, cannot write; 75 out of memory.
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
      var command = try AssayCommand.parseAsRoot(
        InspectCommand.completed(Array(CommandLine.arguments.dropFirst())))
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
}
