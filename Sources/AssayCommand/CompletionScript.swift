/// A shell's completion script: the parser's, with additions.
enum CompletionScript {
  static func completed(_ script: String) -> String {
    let names = AssayCommand.configuration.subcommands
      .compactMap { $0.configuration.commandName }.joined(separator: " ")
    let fish = """
      complete -c 'assay' -f
      complete -c 'assay' -n '\(positional) "assay help" -eq 1' -fa '\(names)'

      """
    // The commands after `help`, in bash, zsh and fish; in bash, no options before the commands.
    let text =
      script
      .replacing(
        "_assay_help() {\n    :",
        with: "_assay_help() {\n    COMPREPLY+=($(compgen -W '\(names)' -- \"${cur}\"))"
      )
      .replacing(
        "    # Offer subcommand / ",
        with: "    [[ \"${cur}\" = -* ]] || COMPREPLY=()\n    # Offer subcommand / "
      )
      .replacing("'*:subcommands:'", with: "'*:subcommands:(\(names))'")
      .replacing("complete -c 'assay' -f\n", with: fish)
    // Fish shows the option's description for each value unless a tab and an empty one follow it.
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      guard let start = line.firstRange(of: "-rfka '"), line.hasSuffix("'") else { return line }
      let values = line[start.upperBound...].dropLast().split(separator: " ")
      return line[..<start.upperBound] + values.map { $0 + "\\t" }.joined(separator: " ") + "'"
    }
    return lines.joined(separator: "\n")
  }

  private static let positional = "__assay_should_offer_completions_for_positional"
}
