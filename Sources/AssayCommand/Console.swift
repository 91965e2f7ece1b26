import LibC
import Synchronization

/// The two output streams. Results go to standard output, everything else to standard error.
enum Console {
  /// Writes text of a result, one or more lines.
  static func write(_ text: String) {
    write(text.escapingControls(keepingLines: true), to: STDOUT_FILENO)
  }

  /// Writes one line of a result.
  static func print(_ line: String) { write(line + "\n") }

  /// Writes a result in one of its two forms.
  static func write(
    _ text: @autoclosure () -> String, orJSON json: @autoclosure () -> JSONText, _ isJSON: Bool
  ) {
    if isJSON { print(json().text) } else { write(text()) }
  }

  /// Writes a line in addition to the result, to standard error.
  static func note(_ line: String) {
    write(line.escapingControls(keepingLines: true) + "\n", to: STDERR_FILENO)
  }

  /// Replaces the terminal's current line.
  static func overwriteLine(_ text: String) { write("\r\u{1B}[K" + text, to: STDERR_FILENO) }

  /// Whether `--quiet` was given.
  nonisolated(unsafe) static var isQuiet = false

  /// Whether a person reads the output and wants to know what was done.
  static var hasReader: Bool { !isQuiet && Terminal.errorWidth != nil }

  /// Names a file that was written, if a person reads the output.
  ///
  /// - Parameter always: whether to name it in a pipe, too.
  static func wrote(_ path: String, always: Bool = false) {
    guard hasReader || always && !isQuiet, path != "-" else { return }
    let size = Folder.byteCount(path).map { ", \(counted($0, "byte"))" } ?? ""
    note("wrote \(escaped(path))\(size)")
  }

  static func report(_ error: ModelError) {
    for line in error.lines {
      let label = styled(line.label + ":", line.label == "error" ? .red : .cyan)
      write("\(label) \(line.text)\n", to: STDERR_FILENO)
    }
  }

  static func warn(_ message: String) {
    write(styled("warning:", .yellow) + " " + escaped(message) + "\n", to: STDERR_FILENO)
  }

  /// Warns of the first findings of a model's `check`.
  static func warn(of findings: [ModelError], file: String) {
    let shown = 5
    for finding in findings.prefix(shown) { warn(finding.inFile(file).description) }
    if findings.count > shown {
      warn("\(file): \(findings.count - shown) more, which `assay check` lists")
    }
  }

  /// Reports a crash of this program as one line; the exit code is that of an internal error.
  static func reportFaults(of arguments: [String]) {
    let command = (["assay"] + arguments).joined(separator: " ").escapingControls()
    let fault = ModelError(
      .internal,
      "internal error in assay \(assayVersion); please report it with these files and this command: "
        + command.prefix(2000))
    FaultReport.install("error: \(fault)\n")
  }

  /// Warns about values that are NaN or infinite.
  static func warnOfWeights(_ model: Model, file: String) {
    if let note = model.nonFiniteNote(file: file) { warn(note) }
  }

  /// Warns once about each kind of suspicious value of an input or output, and about each damaged
  /// file.
  static func warnOfValues(_ hooks: inout EngineHooks, file: String) {
    guard !isQuiet else { return }
    let known = FindingKeys()
    hooks.onFinding = { finding in
      guard known.insert("\(finding.kind) \(finding.error.field ?? finding.error.file ?? "")")
      else { return }
      warn(finding.error.inFile(file).description)
    }
  }

  /// The argument parser's message, with this program's prefix.
  static func reportUsage(_ message: String) {
    var text = message
    if text.hasPrefix("Error: ") { text = "error: " + text.dropFirst("Error: ".count) }
    write(text + (text.hasSuffix("\n") ? "" : "\n"), to: STDERR_FILENO)
  }

  /// Text from a file on one line, with escaped control characters and line breaks.
  static func escaped(_ text: String) -> String { text.escapingControls() }

  enum Style: String {
    case red = "31"
    case yellow = "33"
    case cyan = "36"
    case bold = "1"
    case dim = "2"
  }

  nonisolated(unsafe) static var colors = ColorOutput.auto

  /// The styled text; unstyled on a dumb terminal, in a pipe or with `NO_COLOR`.
  static func styled(_ text: String, _ style: Style) -> String {
    let isRefused = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
    let isTerminal = isatty(STDERR_FILENO) == 1 && !Terminal.isDumb && !isRefused
    guard colors == .always || colors == .auto && isTerminal else { return text }
    return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
  }

  /// Writes all text. If a result cannot be written, the process exits with an error; if the reader
  /// has closed the pipe, it ends by the corresponding signal.
  private static func write(_ text: String, to descriptor: Int32) {
    do {
      try OutputHandle.write(text, to: descriptor)
    } catch let error as ModelError where descriptor == STDOUT_FILENO {
      report(error.inFile("standard output"))
      exit(error.code.exitCode)
    } catch {}
  }
}

/// Findings that have been printed.
private final class FindingKeys: Sendable {
  private let keys = Mutex<Set<String>>([])

  func insert(_ key: String) -> Bool { keys.withLock { $0.insert(key).inserted } }
}
