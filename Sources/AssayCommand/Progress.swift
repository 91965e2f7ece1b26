import LibC

/// One line on standard error that says how far long work has come; only on a terminal, and only
/// after half a second.
final class Progress {
  private let title: String
  private let enabled: Bool
  private let start = ContinuousClock.now
  private var lastUpdate: ContinuousClock.Instant?
  private var isShown = false

  init(_ title: String, enabled: Bool) {
    self.title = title
    self.enabled = enabled && isatty(STDERR_FILENO) == 1
  }

  /// Shows `done` of `total` steps; nil if the total is unknown.
  func update(_ done: Int, of total: Int?) {
    guard let total else { return update(0, "\(done)") }
    guard total > 0 else { return }
    update(Double(done) / Double(total), "\(done)/\(total)")
  }

  /// Shows that a share `done` of the work is done, at most ten times a second.
  func update(_ done: Double, _ label: @autoclosure () -> String) {
    guard enabled else { return }
    let now = ContinuousClock.now
    guard now - start > .milliseconds(500) else { return }
    if let lastUpdate, now - lastUpdate < .milliseconds(100) { return }
    lastUpdate = now
    isShown = true
    let width = 24
    let filled = Int(min(max(done, 0), 1) * Double(width))
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    Console.overwriteLine("\(title) \(bar) \(label())")
  }

  /// Takes the line away, until the next update.
  func finish() {
    guard isShown else { return }
    isShown = false
    Console.overwriteLine("")
  }
}
