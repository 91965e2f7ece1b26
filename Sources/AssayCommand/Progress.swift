/// One line on standard error with the progress, rate and remaining time of long work; only on a
/// terminal, and only after half a second. A dumb terminal, where a line cannot be replaced, gets a
/// new line every ten seconds.
final class Progress {
  private let title: String
  private let width: Int?
  private let isDumb: Bool
  private let clock: () -> ContinuousClock.Instant
  private let show: (String) -> Void
  private let start: ContinuousClock.Instant
  private var lastUpdate: ContinuousClock.Instant?
  private var isShown = false
  private var steps = 0

  convenience init(_ title: String, enabled: Bool) {
    let isDumb = Terminal.isDumb
    self.init(
      title, width: enabled ? Terminal.errorWidth : nil, isDumb: isDumb,
      clock: { ContinuousClock.now },
      show: { isDumb ? Console.note($0) : Console.overwriteLine($0) })
  }

  /// - Parameter width: columns of the terminal; nil if nothing is shown.
  init(
    _ title: String, width: Int?, isDumb: Bool, clock: @escaping () -> ContinuousClock.Instant,
    show: @escaping (String) -> Void
  ) {
    (self.title, self.width, self.isDumb, self.clock) = (title, width, isDumb, clock)
    self.show = show
    start = clock()
  }

  /// Whether result lines go to the same terminal and would interfere with the progress line.
  static func isDisturbed(by json: Bool) -> Bool { json && Terminal.outputWidth != nil }

  /// Shows `done` of `total` steps; `total` is nil if unknown.
  ///
  /// - Parameter unit: the text after the numbers, such as ` MB`.
  func update(_ done: Int, of total: Int?, unit: String = "") {
    let rate = rateText(done, unit)
    guard let total else {
      let own = done == 1 && unit.hasSuffix("s") ? String(unit.dropLast()) : unit
      return update(nil, "\(done)\(own)\(rate)")
    }
    guard total > 0 else { return }
    update(Double(done) / Double(total), "\(done)/\(total)\(unit)\(rate)")
  }

  /// Counts one step of an unknown total.
  func step(_ unit: String) {
    steps += 1
    update(steps, of: nil, unit: unit)
  }

  /// Shows the fraction `done`, at most ten times a second.
  func update(_ done: Double, _ label: @autoclosure () -> String) {
    update(.some(done), label())
  }

  private func update(_ done: Double?, _ label: @autoclosure () -> String) {
    guard let width else { return }
    let now = clock()
    guard now - start > .milliseconds(500) else { return }
    if let lastUpdate, now - lastUpdate < .milliseconds(isDumb ? 10_000 : 100) { return }
    lastUpdate = now
    isShown = true
    var text = label()
    if let done, done > 0, done < 1 {
      let seconds = (now - start).milliseconds * 1e-3
      text += ", " + Self.timeText(seconds * (1 - done) / done) + " left"
    }
    // The last column stays free: some terminals wrap after it.
    show(Self.line(title, done, text, width: width - 1))
  }

  /// Removes the line until the next update.
  func finish() {
    guard isShown, !isDumb else { return }
    isShown = false
    show("")
  }

  /// The title, a bar that fills the remaining width, and the text; an overlong line loses its
  /// title, and then its end.
  static func line(_ title: String, _ done: Double?, _ text: String, width: Int) -> String {
    let whole = "\(title) \(text)"
    if whole.count > width { return text.cut(to: width) }
    let room = min(24, width - whole.count - 1)
    guard let done, room >= 4 else { return whole }
    let filled = Int(min(max(done, 0), 1) * Double(room))
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: room - filled)
    return "\(title) \(bar) \(text)"
  }

  /// A duration such as `0:05`, `12:34` or `1:02:03`; at most a thousand hours.
  static func timeText(_ seconds: Double) -> String {
    guard seconds.isFinite else { return "?" }
    let whole = Int(min(max(seconds, 0), 3_600_000).rounded(.up))
    func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
    return whole < 3600
      ? "\(whole / 60):\(two(whole % 60))"
      : "\(whole / 3600):\(two(whole / 60 % 60)):\(two(whole % 60))"
  }

  /// Steps per second, or the time per step if that is longer than a second.
  private func rateText(_ done: Int, _ unit: String) -> String {
    let seconds = (clock() - start).milliseconds * 1e-3
    guard done > 0, seconds > 0 else { return "" }
    let rate = Double(done) / seconds
    return rate >= 1
      ? ", \(numberText(rate, digits: rate < 1000 ? 3 : 6))\(unit)/s"
      : ", \(numberText(1 / rate, digits: 3)) s each"
  }
}
