import CSystem
import LibC
import Synchronization

/// One worker per core besides the caller. Every thread has a share of a job's units; a thread that
/// finishes its share takes units from others, so nobody waits for a core that is slower or busy
/// elsewhere. The caller does the part of a worker that starts too late. Results do not depend on
/// which thread computes a unit.
final class ThreadPool: Sendable {
  let threadCount: Int
  private let shared: SharedState

  /// The maximum number of threads.
  static let largestCount = 1024

  /// Starts the requested number of threads, or as many as the system allows.
  init(threadCount: Int) {
    shared = SharedState(threads: min(max(1, threadCount), Self.largestCount))
    self.threadCount = shared.workerCount + 1
  }

  deinit { shared.stop() }

  /// Calls `body(thread, threadCount)` once for every thread, on it or on the caller's, and returns
  /// when all calls are done.
  func onEveryThread(_ body: (Int, Int) -> Void) {
    if threadCount == 1 { return body(0, 1) }
    withoutActuallyEscaping(body) { shared.run($0, threads: threadCount) }
  }

  /// Calls `body` once on every thread, with the thread's number and its share of `count` units.
  func share(_ count: Int, _ body: (Int, WorkQueue) -> Void) {
    if threadCount == 1 { return body(0, WorkQueue(count: count)) }
    let shares = shared.shares
    let job = shared.nextJob()
    onEveryThread { thread, threads in
      body(thread, WorkQueue(shares, job: job, count: count, of: thread, threads))
    }
  }

  /// Calls `body` once for each of `count` units.
  func forEach(_ count: Int, _ body: (Int) -> Void) {
    if count == 1 || threadCount == 1 {
      for unit in 0..<count { body(unit) }
      return
    }
    share(count) { _, units in for unit in units { body(unit) } }
  }

  /// The share of `thread` if `count` units are divided among `threads`.
  static func share(of count: Int, _ thread: Int, _ threads: Int) -> Range<Int> {
    count * thread / threads..<count * (thread + 1) / threads
  }

  /// The same for units that do not start at 0.
  static func share(of units: Range<Int>, _ thread: Int, _ threads: Int) -> Range<Int> {
    let share = share(of: units.count, thread, threads)
    return units.lowerBound + share.lowerBound..<units.lowerBound + share.upperBound
  }

  /// Number of cores that this process may use.
  static var availableCores: Int { Int(assay_processor_count()) }
}

/// The number of forks of this process and its ancestors: a child has none of its parent's threads.
private let forks = Atomic<Int>(0)
private let countsForks: Void = { pthread_atfork(nil, nil) { forks.add(1, ordering: .relaxed) } }()

/// A number that threads poll, alone in two cache lines, because lines are fetched in pairs.
private struct PolledNumber {
  private let pointer: UnsafeMutablePointer<Atomic<Int>>

  init() {
    pointer = .allocate(capacity: 16)
    pointer.initialize(to: Atomic(0))
  }

  func deallocate() {
    pointer.deinitialize(count: 1)
    pointer.deallocate()
  }

  var value: Int {
    @inline(__always) get { pointer.pointee.load(ordering: .sequentiallyConsistent) }
    @inline(__always) nonmutating set {
      pointer.pointee.store(newValue, ordering: .sequentiallyConsistent)
    }
  }

  /// Replaces the number if it equals `old`; returns whether it did.
  func exchange(_ old: Int, for new: Int) -> Bool {
    pointer.pointee.compareExchange(
      expected: old, desired: new, ordering: .sequentiallyConsistent
    ).exchanged
  }
}

/// State shared by callers and workers: the number of the current round, its work, and each
/// worker's progress.
private final class SharedState: @unchecked Sendable {
  /// The work of every thread in a round. Workers call it without reference counting.
  private final class Work {
    let body: (Int, Int) -> Void
    init(_ body: @escaping (Int, Int) -> Void) { self.body = body }
  }

  // `@unchecked`: `work` and `threads` are written before a round's number is released and read
  // after it is acquired.
  private let round = PolledNumber()
  /// Twice the number of the last round that a worker has finished or missed, plus one while it
  /// works on the next. Element 0 belongs to the caller and stays 0.
  private let states: [PolledNumber]
  private let sleepers = Atomic<Int>(0)
  private let isCallerAsleep = Atomic<Bool>(false)
  private var work: Unmanaged<Work>?
  private var threads = 1
  private var job = 0
  private var isStopping = false
  private var handles: [pthread_t] = []
  /// The value of `forks` when the workers were started.
  private var generation = 0
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let wakeUp = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let allDone = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  let shares: UnitShares

  /// Number of polls, each with a pause, before a waiting thread sleeps: a few hundred
  /// microseconds. Waking a sleeping thread takes as long as a whole step of a small network. A
  /// thread does not yield its core between polls: on a busy machine, it would lose milliseconds
  /// per step.
  private static let looks = 6_000

  /// Whether `condition` becomes true before the thread should sleep.
  @inline(__always)
  private func waitAwake(until condition: () -> Bool) -> Bool {
    for _ in 0..<Self.looks {
      if condition() { return true }
      processor_pause()
    }
    return condition()
  }

  init(threads: Int) {
    shares = UnitShares(threads: threads)
    states = (0..<threads).map { _ in PolledNumber() }
    _ = countsForks
    start()
  }

  /// Starts a worker for each thread except the caller's, as far as the system allows. In a child
  /// process, the locks may belong to a worker that does not exist.
  private func start() {
    generation = forks.load(ordering: .relaxed)
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(wakeUp, nil)
    pthread_cond_init(allDone, nil)
    sleepers.store(0, ordering: .relaxed)
    isCallerAsleep.store(false, ordering: .relaxed)
    handles = []
    for state in states.dropFirst() { state.value = 2 * round.value }
    for thread in states.indices.dropFirst() {
      guard let handle = startThread({ self.work(as: thread) }) else { return }
      handles.append(handle)
    }
  }

  /// Whether the workers are threads of this process.
  private var hasWorkers: Bool { generation == forks.load(ordering: .relaxed) }
  var workerCount: Int { handles.count }

  deinit {
    shares.deallocate()
    round.deallocate()
    for number in states { number.deallocate() }
    pthread_mutex_destroy(mutex)
    pthread_cond_destroy(wakeUp)
    pthread_cond_destroy(allDone)
    mutex.deallocate()
    wakeUp.deallocate()
    allDone.deallocate()
  }

  /// The number of the next job with shares.
  func nextJob() -> Int {
    job = (job + 1) % UnitShares.jobs
    return job
  }

  func run(_ body: @escaping (Int, Int) -> Void, threads: Int) {
    if !hasWorkers { start() }
    let work = Work(body)
    self.work = Unmanaged.passUnretained(work)
    self.threads = threads
    beginRound()
    body(0, threads)
    // A worker that starts late finds nothing to do. In a child process, the system may allow fewer
    // threads.
    let current = round.value
    for thread in 1..<threads {
      let state = states[thread]
      if state.exchange(2 * (current - 1), for: 2 * current) {
        body(thread, threads)
      } else {
        wait(until: state, is: 2 * current)
      }
    }
    self.work = nil
    withExtendedLifetime(work) {}
  }

  func stop() {
    guard hasWorkers else { return }
    isStopping = true
    beginRound()
    for handle in handles { pthread_join(handle, nil) }
  }

  private func beginRound() {
    round.value += 1
    if sleepers.load(ordering: .sequentiallyConsistent) > 0 {
      pthread_mutex_lock(mutex)
      pthread_cond_broadcast(wakeUp)
      pthread_mutex_unlock(mutex)
    }
  }

  private func wait(until state: PolledNumber, is done: Int) {
    if waitAwake(until: { state.value == done }) { return }
    pthread_mutex_lock(mutex)
    isCallerAsleep.store(true, ordering: .sequentiallyConsistent)
    while state.value != done { pthread_cond_wait(allDone, mutex) }
    isCallerAsleep.store(false, ordering: .relaxed)
    pthread_mutex_unlock(mutex)
  }

  private func work(as thread: Int) {
    let state = states[thread]
    var last = state.value / 2
    while true {
      waitForRound(after: last)
      last = round.value
      // The caller may have done this worker's part, and more rounds may have started.
      if !state.exchange(2 * (last - 1), for: 2 * last - 1) { continue }
      if isStopping { return }
      let threads = threads
      work?._withUnsafeGuaranteedRef { $0.body(thread, threads) }
      state.value = 2 * last
      if isCallerAsleep.load(ordering: .sequentiallyConsistent) {
        pthread_mutex_lock(mutex)
        pthread_cond_signal(allDone)
        pthread_mutex_unlock(mutex)
      }
    }
  }

  private func waitForRound(after number: Int) {
    if waitAwake(until: { round.value != number }) { return }
    pthread_mutex_lock(mutex)
    sleepers.add(1, ordering: .sequentiallyConsistent)
    while round.value == number { pthread_cond_wait(wakeUp, mutex) }
    sleepers.subtract(1, ordering: .sequentiallyConsistent)
    pthread_mutex_unlock(mutex)
  }
}
