import LibC

/// The terminals of the two output streams.
enum Terminal {
  /// Columns of standard output; nil if it is not a terminal.
  static let outputWidth = width(STDOUT_FILENO)
  /// Columns of standard error; nil if it is not a terminal.
  static var errorWidth: Int? { width(STDERR_FILENO) }

  /// Whether it only supports plain text.
  static var isDumb: Bool { getenv("TERM").map { String(cString: $0) == "dumb" } ?? false }

  private static func width(_ descriptor: Int32) -> Int? {
    guard isatty(descriptor) == 1 else { return nil }
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return max(20, Int(size.ws_col))
  }
}

extension String {
  /// At most `width` characters; if truncated, the last one is `…`.
  func cut(to width: Int?) -> String {
    guard let width, count > width else { return self }
    return prefix(max(0, width - 1)) + "…"
  }

  /// Lines of at most `width` characters, wrapped at spaces; the first starts at `column`, the
  /// others are indented by `indent`.
  func wrapped(to width: Int?, indent: Int, column: Int = 0) -> String {
    guard let width else { return self }
    let indent = min(indent, width / 2)
    var lines = [""]
    var used = column
    for word in split(separator: " ", omittingEmptySubsequences: false) {
      var word = word
      if used > indent, used + 1 + word.count > width, used > column || word.count < width - indent
      {
        lines.append(String(repeating: " ", count: indent))
        used = indent
      } else if used > column || lines.count > 1 && used > indent {
        lines[lines.count - 1] += " "
        used += 1
      }
      while used + word.count > width, word.count > 1 {
        let room = max(1, width - used)
        lines[lines.count - 1] += word.prefix(room)
        word = word.dropFirst(room)
        lines.append(String(repeating: " ", count: indent))
        used = indent
      }
      lines[lines.count - 1] += word
      used += word.count
    }
    return lines.joined(separator: "\n")
  }
}
