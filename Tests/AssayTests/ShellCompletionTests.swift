import Foundation
import TestSupport
import Testing

/// Completion scripts and man pages are generated from the argument parser's description.
@Suite struct ShellCompletionTests {
  @Test(arguments: ["bash", "zsh", "fish"])
  func scriptsNameEveryCommand(shell: String) throws {
    let result = try Command.run("--generate-completion-script", shell)
    #expect(result.code == 0, "\(result.errors)")
    for word in ["convert", "compress", "input-shape", "max-memory"] {
      #expect(result.output.contains(word), "\(shell): \(word)")
    }
  }

  /// Including options that `-h` omits, but not those of the previous version.
  @Test func scriptsAndManualsHaveEveryOption() throws {
    let script = try Command.run("--generate-completion-script", "zsh").output
    let description = try Command.run("--experimental-dump-help").output
    let root = try #require(
      try JSONSerialization.jsonObject(with: Data(description.utf8)) as? [String: Any])
    var shown: Set<String> = []
    func visit(_ command: [String: Any]) {
      for argument in command["arguments"] as? [[String: Any]] ?? []
      where argument["shouldDisplay"] as? Bool == true {
        for name in argument["names"] as? [[String: String]] ?? [] where name["kind"] == "long" {
          shown.insert("--" + (name["name"] ?? ""))
        }
      }
      for each in command["subcommands"] as? [[String: Any]] ?? [] { visit(each) }
    }
    visit(root["command"] as? [String: Any] ?? [:])
    let listed = try Help.commands.flatMap {
      try Help.text($0).matches(of: #/(?m)^  (?:-[a-z], )?(--[a-z0-9-]+)/#).map { $0.output.1 }
    }
    #expect(Set(listed).count > 100)
    for option in Set(listed) {
      #expect(shown.contains(String(option)), "\(option)")
      #expect(script.contains(option), "\(option)")
    }
    for option in ["--class-labels", "--red-bias", "--color-output"] {
      #expect(!shown.contains(option) && !script.contains(option), "\(option)")
    }
  }

  /// The completions that bash itself offers.
  @Test(arguments: ["assay comp", "assay help comp"])
  func bashCompletes(_ line: String) throws {
    let script = """
      source <("$0" --generate-completion-script bash)
      COMP_WORDS=($1) COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$1 COMP_POINT=${#1}
      _assay assay comp "${COMP_WORDS[COMP_CWORD - 1]}"
      printf '%s\\n' "${COMPREPLY[@]}" | sort
      """
    let result = try Program("/bin/bash").run(["-c", script, Command.binary, line])
    #expect(result.output == "compress\n", "\(result.errors)")
  }

  /// Commands are offered first, not `-h`.
  @Test func bashOffersCommandsFirst() throws {
    let script = """
      source <("$0" --generate-completion-script bash)
      COMP_WORDS=(assay '') COMP_CWORD=1 COMP_LINE='assay ' COMP_POINT=6
      _assay assay '' assay
      echo "${COMPREPLY[@]}"
      """
    let result = try Program("/bin/bash").run(["-c", script, Command.binary])
    #expect(result.output.hasPrefix("convert run diff "), "\(result.output)\(result.errors)")
  }

  /// In fish, each value of an option would show the option's description, were it not for the
  /// empty description after a tab.
  @Test func valuesInFishHaveNoDescription() throws {
    let script = try Command.run("--generate-completion-script", "fish").output
    #expect(script.contains(#"-rfka 'keras-tf\t keras-caffe\t"#))
    #expect(script.contains(#""assay help" -eq 1' -fa 'convert run"#))
    #expect(
      try Command.run("--generate-completion-script", "zsh").output
        .contains("'*:subcommands:(convert run"))
  }
}
