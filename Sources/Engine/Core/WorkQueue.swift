import Synchronization
import TensorCore

/// The number of units of each thread's share of a job that have been taken.
///
/// A structure of pointers: if many threads counted references to the same object, they would wait
/// for one another longer than a small step takes.
struct UnitShares: @unchecked Sendable {
  // `@unchecked`: the counters are atomic, and the pointer never changes.
  private let counters: UnsafeMutablePointer<Atomic<Int>>
  private let threads: Int

  /// Two cache lines per thread, because lines are fetched in pairs.
  private static let stride = 16
  /// A counter contains the number of a job and, in the lower bits, the number of units taken. If
  /// the job number differs, it counts as 0, so no thread has to reset the counters of others.
  private static let unitBits = 40
  /// Job numbers are less than this.
  static let jobs = 1 << (Int.bitWidth - 1 - unitBits)

  init(threads: Int) {
    self.threads = threads
    counters = .allocate(capacity: threads * Self.stride)
    for thread in 0..<threads { (counters + thread * Self.stride).initialize(to: Atomic(0)) }
  }

  func deallocate() {
    for thread in 0..<threads { (counters + thread * Self.stride).deinitialize(count: 1) }
    counters.deallocate()
  }

  /// Must be called on each thread before it takes units.
  @inline(__always)
  func begin(_ job: Int, on thread: Int, _ share: Range<Int>) {
    // Nobody takes units of an empty share, which would leave an old job number in its counter
    // until that number is used again.
    if share.isEmpty {
      counters[thread * Self.stride].store(job << Self.unitBits, ordering: .relaxed)
    }
  }

  /// The next unit of `thread`'s share, or nil if none is left.
  @inline(__always)
  func take(from thread: Int, _ share: Range<Int>, of job: Int) -> Int? {
    let counter = counters + thread * Self.stride
    var value = counter.pointee.load(ordering: .relaxed)
    while true {
      let taken = value >> Self.unitBits == job ? value & (1 << Self.unitBits - 1) : 0
      // A thread in search of work must not write to the cache lines of busy threads.
      if taken >= share.count { return nil }
      let result = counter.pointee.weakCompareExchange(
        expected: value, desired: job << Self.unitBits | (taken + 1), ordering: .relaxed)
      if result.exchanged { return share.lowerBound + taken }
      value = result.original
    }
  }
}

/// The units of one thread: its own share in order, then units left in other shares.
struct WorkQueue: Sequence, IteratorProtocol {
  private let shares: UnitShares?
  private let job: Int
  private let count: Int
  private let threads: Int
  private var victim: Int
  private var victimsLeft: Int
  private var share: Range<Int>

  /// All units, for the only thread.
  init(count: Int) {
    self.count = count
    share = 0..<count
    shares = nil
    job = 0
    threads = 1
    victim = 0
    victimsLeft = 0
  }

  /// - Parameter count: the number of units of all threads.
  init(_ shares: UnitShares, job: Int, count: Int, of thread: Int, _ threads: Int) {
    (self.shares, self.job, self.count, self.threads) = (shares, job, count, threads)
    victim = thread
    victimsLeft = threads
    share = ThreadPool.share(of: count, thread, threads)
    shares.begin(job, on: thread, share)
  }

  /// Nil after the last unit, or after the deadline.
  mutating func next() -> Int? {
    if TimeBudget.isOver { return nil }
    guard let shares else { return share.popFirst() }
    while victimsLeft > 0 {
      if let unit = shares.take(from: victim, share, of: job) { return unit }
      victimsLeft -= 1
      victim = victim + 1 == threads ? 0 : victim + 1
      share = ThreadPool.share(of: count, victim, threads)
    }
    return nil
  }
}
