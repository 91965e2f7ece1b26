import CSystem
import LibC
import Synchronization

/// One worker per core besides the caller. Every thread has a share of a job's units; a thread that
/// finishes its share takes units from the others, so none waits for a core that is slower or busy
/// elsewhere. Which thread computes a unit does not change the result.
final class ThreadPool: Sendable {
  let threadCount: Int
  private let shared: SharedState

  /// No machine has more cores than this.
  static let largestCount = 1024

  /// Starts the requested number of threads, or as many as the system allows.
  init(threadCount: Int) {
    let workers = min(max(1, threadCount), Self.largestCount) - 1
    let shared = SharedState(threads: workers + 1)
    var started = 0
    for index in 0..<workers where shared.startWorker(index + 1) { started += 1 }
    self.threadCount = started + 1
    self.shared = shared
  }

  deinit { shared.stop() }

  /// Calls `body(thread, threadCount)` once on every thread and returns when all are done.
  func onEveryThread(_ body: (Int, Int) -> Void) {
    if threadCount == 1 { return body(0, 1) }
    withoutActuallyEscaping(body) { shared.run($0, threads: threadCount) }
  }

  /// Calls `body` once on every thread, with the thread's number and its share of `count` units.
  func share(_ count: Int, _ body: (Int, SharedUnits) -> Void) {
    if threadCount == 1 { return body(0, SharedUnits(0..<count)) }
    shared.shares.deal(count, to: threadCount)
    onEveryThread { thread, threads in
      body(thread, SharedUnits(shared.shares, of: thread, threads))
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

  /// Thread `thread`'s share of `count` units split over `threads`.
  static func share(of count: Int, _ thread: Int, _ threads: Int) -> Range<Int> {
    count * thread / threads..<count * (thread + 1) / threads
  }

  /// The same for units that do not start at 0.
  static func share(of units: Range<Int>, _ thread: Int, _ threads: Int) -> Range<Int> {
    let share = share(of: units.count, thread, threads)
    return units.lowerBound + share.lowerBound..<units.lowerBound + share.upperBound
  }

  /// Number of active cores.
  static var availableCores: Int {
    max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  }
}

/// State shared by callers and workers: the round's number, its job and the count of busy threads.
private final class SharedState: @unchecked Sendable {
  typealias Job = (Int, Int) -> Void

  // `@unchecked`: `job` and `threads` are written before a round's number is released and read
  // after it is acquired.
  private let round = Atomic<Int>(0)
  private let pending = Atomic<Int>(0)
  private let sleepers = Atomic<Int>(0)
  private let isCallerAsleep = Atomic<Bool>(false)
  private var job: Job?
  private var threads = 1
  private var isStopping = false
  private var handles: [pthread_t] = []
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let wakeUp = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let allDone = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  let shares: UnitShares

  /// Times that a waiting thread polls, with a pause each, before it sleeps: some hundred
  /// microseconds. Waking a sleeping thread takes as long as a whole step of a small network. A
  /// thread does not yield its core between polls: on a busy machine it would lose milliseconds per
  /// step.
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
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(wakeUp, nil)
    pthread_cond_init(allDone, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    pthread_cond_destroy(wakeUp)
    pthread_cond_destroy(allDone)
    mutex.deallocate()
    wakeUp.deallocate()
    allDone.deallocate()
  }

  /// Whether the system could start the thread.
  func startWorker(_ thread: Int) -> Bool {
    guard let handle = startThread({ self.work(as: thread) }) else { return false }
    handles.append(handle)
    return true
  }

  func run(_ body: @escaping Job, threads: Int) {
    job = body
    self.threads = threads
    pending.store(threads - 1, ordering: .relaxed)
    beginRound()
    body(0, threads)
    waitForAll()
    job = nil
  }

  func stop() {
    isStopping = true
    beginRound()
    for handle in handles { pthread_join(handle, nil) }
  }

  private func beginRound() {
    round.add(1, ordering: .sequentiallyConsistent)
    if sleepers.load(ordering: .sequentiallyConsistent) > 0 {
      pthread_mutex_lock(mutex)
      pthread_cond_broadcast(wakeUp)
      pthread_mutex_unlock(mutex)
    }
  }

  private func waitForAll() {
    if waitAwake(until: { pending.load(ordering: .acquiring) == 0 }) { return }
    pthread_mutex_lock(mutex)
    isCallerAsleep.store(true, ordering: .sequentiallyConsistent)
    while pending.load(ordering: .sequentiallyConsistent) != 0 { pthread_cond_wait(allDone, mutex) }
    isCallerAsleep.store(false, ordering: .relaxed)
    pthread_mutex_unlock(mutex)
  }

  private func work(as thread: Int) {
    var seen = 0
    while true {
      waitForRound(after: seen)
      seen += 1
      if isStopping { return }
      job?(thread, threads)
      let left = pending.subtract(1, ordering: .sequentiallyConsistent).newValue
      if left == 0, isCallerAsleep.load(ordering: .sequentiallyConsistent) {
        pthread_mutex_lock(mutex)
        pthread_cond_signal(allDone)
        pthread_mutex_unlock(mutex)
      }
    }
  }

  private func waitForRound(after seen: Int) {
    if waitAwake(until: { round.load(ordering: .acquiring) != seen }) { return }
    pthread_mutex_lock(mutex)
    sleepers.add(1, ordering: .sequentiallyConsistent)
    while round.load(ordering: .sequentiallyConsistent) == seen { pthread_cond_wait(wakeUp, mutex) }
    sleepers.subtract(1, ordering: .sequentiallyConsistent)
    pthread_mutex_unlock(mutex)
  }
}
