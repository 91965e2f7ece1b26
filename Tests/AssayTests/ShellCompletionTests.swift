import TestSupport
import Testing

/// Completion scripts and the man pages are made of the argument parser's description of the commands.
@Suite struct ShellCompletionTests {
  @Test(arguments: ["bash", "zsh", "fish"])
  func scriptsNameEveryCommand(shell: String) throws {
    let result = try Command.run("--generate-completion-script", shell)
    #expect(result.code == 0, "\(result.errors)")
    for word in ["convert", "compress", "image-input", "dry-run"] {
      #expect(result.output.contains(word), "\(shell): \(word)")
    }
  }

  /// What bash itself offers for the start of a command.
  @Test func bashCompletes() throws {
    let script = """
      source <("$0" --generate-completion-script bash)
      COMP_WORDS=(assay comp) COMP_CWORD=1 COMP_LINE='assay comp' COMP_POINT=10
      _assay assay comp assay
      printf '%s\\n' "${COMPREPLY[@]}" | sort
      """
    let result = try Program("/bin/bash").run(["-c", script, Command.binary])
    #expect(result.output == "compress\n", "\(result.errors)")
  }
}
