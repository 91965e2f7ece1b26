/// Decides by measurement whether many predictions are faster one after the other, each on all
/// threads, or at the same time, each on one thread.
///
/// The first predictions are run in one way, the next in the other; then the choice is final. The
/// first of each kind are not counted, because they touch new memory.
struct PredictionPace {
  private let threads: Int
  private var singles: [Double] = []
  private var concurrent: [Double] = []
  private var choice: Bool?

  /// The uncounted and the counted predictions of each kind, per thread.
  private static let warmup = 1
  private static let measured = 2

  init(threads: Int) {
    self.threads = threads
    if threads == 1 { choice = false }
  }

  /// Whether the next predictions should run concurrently.
  var isConcurrent: Bool { choice ?? (singles.count >= Self.warmup + Self.measured) }

  /// Adds the duration of a prediction that used all threads.
  mutating func addSingle(_ seconds: Double) {
    guard choice == nil else { return }
    singles.append(seconds)
    // There are this many only if concurrent predictions fail.
    if singles.count > (Self.warmup + Self.measured) * (threads + 1) { choice = false }
  }

  /// Adds the duration of a prediction on one thread, while the other threads ran others.
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
