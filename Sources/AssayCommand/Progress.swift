#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// One line on standard error that says how far long work has come; only on a terminal, and only
/// after half a second.
final class Progress {
  private let title: String
  private let enabled: Bool
  private let start = ContinuousClock.now
  private var lastUpdate: ContinuousClock.Instant?

  init(_ title: String, enabled: Bool) {
    self.title = title
    self.enabled = enabled && isatty(STDERR_FILENO) == 1
  }

  /// Shows `done` of `total` steps, at most ten times a second.
  func update(_ done: Int, of total: Int) {
    let now = ContinuousClock.now
    guard enabled, total > 0, now - start > .milliseconds(500) else { return }
    if let lastUpdate, now - lastUpdate < .milliseconds(100) { return }
    lastUpdate = now
    let width = 24
    let filled = min(width, done * width / total)
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    Console.overwriteLine("\(title) \(bar) \(done)/\(total)")
  }

  /// Takes the line away.
  func finish() {
    guard lastUpdate != nil else { return }
    Console.overwriteLine("")
  }
}
