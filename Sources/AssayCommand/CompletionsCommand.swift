import ArgumentParser
import Assay

struct CompletionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "completions",
    abstract: "Prints a completion script for bash, zsh or fish.",
    discussion: """
      EXAMPLES:
        assay completions bash > ~/.local/share/bash-completion/completions/assay
        assay completions zsh > ~/.zfunc/_assay
        assay completions fish > ~/.config/fish/completions/assay.fish

      zsh searches the folders in $fpath: add fpath+=~/.zfunc before compinit in ~/.zshrc.
      """)

  enum Shell: String, CaseIterable, ExpressibleByArgument {
    case bash, zsh, fish
  }

  @Argument(help: "The shell.")
  var shell: Shell

  @OptionGroup var global: GlobalOptions

  func run() throws {
    global.apply()
    let syntax: CompletionShell =
      switch shell {
      case .bash: .bash
      case .zsh: .zsh
      case .fish: .fish
      }
    Console.print(AssayCommand.completionScript(for: syntax))
  }
}
