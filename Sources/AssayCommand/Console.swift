import Assay
import LibC

/// The two output streams. Results go to standard output, everything else to standard error.
enum Console {
  /// Bytes of a result, as they are.
  static func write(_ text: String) { write(text, to: STDOUT_FILENO) }

  /// A line of a result.
  static func print(_ line: String) { write(line + "\n") }

  /// A line beside the result.
  static func note(_ line: String) { write(line + "\n", to: STDERR_FILENO) }

  /// Replaces the terminal's current line.
  static func overwriteLine(_ text: String) { write("\r\u{1B}[K" + text, to: STDERR_FILENO) }

  /// Whether `--quiet` was given.
  nonisolated(unsafe) static var isQuiet = false

  /// Whether somebody reads along who wants to know what was done.
  static var hasReader: Bool { !isQuiet && Terminal.errorWidth != nil }

  /// Names a file that was written, if somebody reads along.
  static func wrote(_ path: String) {
    guard hasReader, path != "-" else { return }
    var info = stat()
    let size = stat(path, &info) == 0 ? ", \(counted(Int(info.st_size), "byte"))" : ""
    note("wrote \(escaped(path))\(size)")
  }

  static func report(_ error: ModelError) {
    for error in error.all { reportOne(error) }
  }

  private static func reportOne(_ error: ModelError) {
    write(styled("error:", .red) + " " + escaped(error.description) + "\n", to: STDERR_FILENO)
    if let hint = error.hint {
      for line in hint.split(separator: "\n", omittingEmptySubsequences: false) {
        write(styled("hint:", .cyan) + " " + escaped(String(line)) + "\n", to: STDERR_FILENO)
      }
    }
  }

  static func warn(_ message: String) {
    write(styled("warning:", .yellow) + " " + escaped(message) + "\n", to: STDERR_FILENO)
  }

  /// Warns where values are NaN or infinite.
  static func warnOfWeights(_ model: Model, file: String) {
    if let note = model.nonFiniteNote(file: file) { warn(note) }
  }

  /// The argument parser's message, with our own first word.
  static func reportUsage(_ message: String) {
    var text = message
    if text.hasPrefix("Error: ") { text = "error: " + text.dropFirst("Error: ".count) }
    write(text + (text.hasSuffix("\n") ? "" : "\n"), to: STDERR_FILENO)
  }

  /// Text from a file with its control characters made visible, so that it cannot control a terminal.
  static func escaped(_ text: String) -> String { text.escapingControls(keepingLines: true) }

  enum Style: String {
    case red = "31"
    case yellow = "33"
    case cyan = "36"
    case bold = "1"
    case dim = "2"
  }

  nonisolated(unsafe) static var colorOutput = ColorOutput.auto

  static func styled(_ text: String, _ style: Style) -> String {
    guard colorOutput.applies(to: STDERR_FILENO) else { return text }
    return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
  }

  /// If a result cannot be written, the process ends with an error; if its reader is gone,
  /// with the signal for that.
  private static func write(_ text: String, to descriptor: Int32) {
    do {
      try OutputHandle.write(text, to: descriptor)
    } catch let error as ModelError where descriptor == STDOUT_FILENO {
      report(error.inFile("standard output"))
      exit(error.code.exitCode)
    } catch {}
  }
}

/// `--color-output`; `NO_COLOR` and a dumb terminal turn colors off.
enum ColorOutput: String, CaseIterable {
  case auto
  case always
  case never

  func applies(to descriptor: Int32) -> Bool {
    switch self {
    case .always: return true
    case .never: return false
    case .auto:
      if let value = getenv("NO_COLOR"), value.pointee != 0 { return false }
      if let terminal = getenv("TERM"), String(cString: terminal) == "dumb" { return false }
      return isatty(descriptor) == 1
    }
  }
}
