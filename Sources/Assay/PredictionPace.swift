/// Decides by measurement whether many predictions are faster one after the other, each on all
/// threads, or at the same time, each on one thread.
///
/// Some of the first predictions are made one way, some the other way; then the choice stands.
/// The first of each kind are not counted, because they touch new memory.
struct PredictionPace {
  private let threads: Int
  private var singles: [Double] = []
  private var concurrent: [Double] = []
  private var choice: Bool?

  /// Predictions of each kind per thread that are not counted, and that are.
  private static let warmup = 1
  private static let measured = 2

  init(threads: Int) {
    self.threads = threads
    if threads == 1 { choice = false }
  }

  /// Whether the next predictions should run at the same time.
  var isConcurrent: Bool { choice ?? (singles.count >= Self.warmup + Self.measured) }

  /// A prediction on all threads took so long.
  mutating func addSingle(_ seconds: Double) {
    guard choice == nil else { return }
    singles.append(seconds)
    // So many only if predictions at the same time fail.
    if singles.count > (Self.warmup + Self.measured) * (threads + 1) { choice = false }
  }

  /// A prediction on one thread, beside those on the others, took so long.
  mutating func addConcurrent(_ seconds: Double) {
    guard choice == nil else { return }
    concurrent.append(seconds)
    guard concurrent.count >= (Self.warmup + Self.measured) * threads else { return }
    let counted = concurrent.dropFirst(Self.warmup * threads)
    let mean = counted.reduce(0, +) / Double(counted.count)
    let fastest = singles.dropFirst(Self.warmup).min() ?? .infinity
    choice = mean / Double(threads) < fastest
  }
}
