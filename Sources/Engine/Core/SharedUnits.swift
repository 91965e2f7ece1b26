import Synchronization

/// The remaining units of each thread's share of a job.
final class UnitShares: @unchecked Sendable {
  // `@unchecked`: the ends are written before a round starts and only read during it.
  private let next: UnsafeMutablePointer<Atomic<Int>>
  private let ends: UnsafeMutablePointer<Int>
  private let threads: Int
  /// Two cache lines per thread, because lines are fetched in pairs.
  private static let stride = 16

  init(threads: Int) {
    self.threads = threads
    next = .allocate(capacity: threads * Self.stride)
    for thread in 0..<threads { (next + thread * Self.stride).initialize(to: Atomic(0)) }
    ends = .allocate(capacity: threads)
    ends.initialize(repeating: 0, count: threads)
  }

  deinit {
    for thread in 0..<threads { (next + thread * Self.stride).deinitialize(count: 1) }
    next.deallocate()
    ends.deallocate()
  }

  /// Starts a round that shares `count` units.
  func deal(_ count: Int, to threads: Int) {
    for thread in 0..<threads {
      let share = ThreadPool.share(of: count, thread, threads)
      next[thread * Self.stride].store(share.lowerBound, ordering: .relaxed)
      ends[thread] = share.upperBound
    }
  }

  /// The next unit of `thread`'s share, or nil if none is left.
  @inline(__always)
  func take(from thread: Int) -> Int? {
    let counter = next + thread * Self.stride
    // Read first: a thread that looks for work must not write to the cache lines of busy threads.
    if counter.pointee.load(ordering: .relaxed) >= ends[thread] { return nil }
    let unit = counter.pointee.add(1, ordering: .relaxed).oldValue
    return unit < ends[thread] ? unit : nil
  }
}

/// The units of one thread: its share in order, then units that others have not started.
struct SharedUnits: Sequence, IteratorProtocol {
  private let shares: UnitShares?
  private let threads: Int
  private var victim: Int
  private var victimsLeft: Int
  private var range: Range<Int>

  /// Units reserved for this thread.
  init(_ range: Range<Int>) {
    self.range = range
    shares = nil
    threads = 1
    victim = 0
    victimsLeft = 0
  }

  init(_ shares: UnitShares, of thread: Int, _ threads: Int) {
    self.shares = shares
    self.threads = threads
    victim = thread
    victimsLeft = threads
    range = 0..<0
  }

  mutating func next() -> Int? {
    guard let shares else { return range.popFirst() }
    while victimsLeft > 0 {
      if let unit = shares.take(from: victim) { return unit }
      victimsLeft -= 1
      victim = victim + 1 == threads ? 0 : victim + 1
    }
    return nil
  }
}
