import CSystem
import LibC
import Synchronization
import TestSupport
import Testing

@testable import Engine

/// The state of a signal handler: 1 once it runs, 2 when it may return.
private let handlerState = Atomic<Int>(0)

@Suite struct ThreadPoolTests {
  @Test(arguments: [1, 2, 3, 4])
  func everyUnitRunsOnceInEveryRound(threads: Int) {
    let pool = ThreadPool(threadCount: threads)
    #expect(pool.threadCount == threads)
    for count in [0, 1, 2, 3, 7, 100] {
      let runs = (0..<count).map { _ in Counter() }
      for _ in 0..<50 { pool.forEach(count) { runs[$0].value.add(1, ordering: .relaxed) } }
      #expect(runs.allSatisfy { $0.value.load(ordering: .relaxed) == 50 })
    }
  }

  @Test func unitsOfJobsOfDifferentLengthsRunOnce() {
    let pool = ThreadPool(threadCount: 4)
    let runs = (0..<9).map { _ in Counter() }
    for round in 0..<3_000 {
      // Fewer units than threads, so that some shares are empty.
      pool.share(round * 5 % 9 + 1) { _, units in
        for unit in units { runs[unit].value.add(1, ordering: .relaxed) }
      }
      if round % 7 == 0 { pool.onEveryThread { _, _ in } }
    }
    let lengths = (0..<3_000).map { $0 * 5 % 9 + 1 }
    for (unit, counter) in runs.enumerated() {
      #expect(counter.value.load(ordering: .relaxed) == lengths.count { $0 > unit })
    }
  }

  @Test func aCounterOfAnotherJobCountsAsUnused() {
    let shares = UnitShares(threads: 2)
    defer { shares.deallocate() }
    for job in [1, 2, UnitShares.jobs - 1, 0, 1] {
      let taken = (0..<5).map { _ in shares.take(from: 1, 10..<13, of: job) }
      #expect(taken == [10, 11, 12, nil, nil])
    }
    // A job in which the thread has no units does not keep the previous job's number.
    shares.begin(2, on: 1, 4..<4)
    #expect(shares.take(from: 1, 10..<13, of: 1) == 10)
  }

  @Test func sharesAreAdjacentAndComplete() {
    for count in 0..<40 {
      for threads in 1...7 {
        var next = 0
        for thread in 0..<threads {
          let share = ThreadPool.share(of: count, thread, threads)
          #expect(share.lowerBound == next)
          #expect(share.count - count / threads <= 1)
          next = share.upperBound
        }
        #expect(next == count)
      }
    }
  }

  /// The thread with the first unit, whether its owner or a faster one, waits until all other units
  /// are done, so other threads must take the rest of its share.
  @Test(arguments: [2, 3, 4])
  func othersTakeWhatASlowThreadHasNotBegun(threads: Int) {
    let pool = ThreadPool(threadCount: threads)
    let count = 24
    let done = Counter()
    let threadOfUnit = (0..<count).map { _ in Counter() }
    pool.share(count) { thread, units in
      for unit in units {
        threadOfUnit[unit].value.store(thread, ordering: .relaxed)
        if unit == 0 {
          let clock = ContinuousClock()
          let end = clock.now + .seconds(20)
          while done.value.load(ordering: .relaxed) < count - 1, clock.now < end {}
        }
        done.value.add(1, ordering: .relaxed)
      }
    }
    #expect(done.value.load(ordering: .relaxed) == count)
    let slow = threadOfUnit[0].value.load(ordering: .relaxed)
    for unit in threadOfUnit[1..<count / threads] {
      #expect(unit.value.load(ordering: .relaxed) != slow)
    }
  }

  @Test func workersSleepAndWakeAgain() throws {
    let pool = ThreadPool(threadCount: 3)
    let runs = Counter()
    for _ in 0..<3 {
      pool.onEveryThread { _, _ in runs.value.add(1, ordering: .relaxed) }
      // Longer than a worker spins.
      let clock = ContinuousClock()
      let end = clock.now + .milliseconds(30)
      while clock.now < end {}
    }
    #expect(runs.value.load(ordering: .relaxed) == 9)
  }

  /// A signal handler holds a worker, as a busy machine holds a thread without a core.
  @Test func theCallerDoesNotWaitForAWorkerThatHasNotBegun() throws {
    let pool = ThreadPool(threadCount: 2)
    let caller = pthread_self()
    let worker = Mutex<pthread_t?>(nil)
    // The caller does the worker's part if the worker is late.
    for _ in 0..<1000 where worker.withLock({ $0 }) == nil {
      pool.onEveryThread { thread, _ in
        if thread == 0 {
          usleep(1000)
        } else if pthread_equal(pthread_self(), caller) == 0 {
          // Threads of a test may have blocked signals, which other threads inherit.
          var signals = sigset_t()
          sigemptyset(&signals)
          sigaddset(&signals, SIGUSR2)
          pthread_sigmask(SIG_UNBLOCK, &signals, nil)
          worker.withLock { $0 = pthread_self() }
        }
      }
    }
    let held = try #require(worker.withLock { $0 })
    handlerState.store(0, ordering: .relaxed)
    signal(SIGUSR2) { _ in
      handlerState.store(1, ordering: .relaxed)
      for _ in 0..<5_000 where handlerState.load(ordering: .relaxed) == 1 { usleep(1000) }
      handlerState.store(3, ordering: .relaxed)
    }
    defer { signal(SIGUSR2, SIG_DFL) }
    try #require(pthread_kill(held, SIGUSR2) == 0)
    for _ in 0..<5_000 where handlerState.load(ordering: .relaxed) == 0 { usleep(1000) }
    let runs = (0..<10).map { _ in Counter() }
    for _ in 0..<3 { pool.forEach(10) { runs[$0].value.add(1, ordering: .relaxed) } }
    #expect(handlerState.load(ordering: .relaxed) == 1, "the caller waited for the worker")
    #expect(runs.allSatisfy { $0.value.load(ordering: .relaxed) == 3 })
    handlerState.store(2, ordering: .relaxed)
    for _ in 0..<5_000 where handlerState.load(ordering: .relaxed) == 2 { usleep(1000) }
  }

  #if os(Linux)
    @Test func threadsAreAsManyAsTheAffinityAllows() throws {
      // The headers hide these functions from Swift.
      typealias Function = @convention(c) (pid_t, Int, UnsafeMutablePointer<UInt64>) -> CInt
      func function(_ name: String) throws -> Function {
        unsafeBitCast(try #require(dlsym(nil, name)), to: Function.self)
      }
      let (get, set) = (try function("sched_getaffinity"), try function("sched_setaffinity"))
      var before = [UInt64](repeating: 0, count: 128)
      try #require(get(0, 8 * before.count, &before) > -1)
      let first = try #require(before.firstIndex { $0 != 0 })
      var one = [UInt64](repeating: 0, count: 128)
      one[first] = before[first] & (0 &- before[first])
      // Applies only to this thread.
      try #require(set(0, 8 * one.count, &one) == 0)
      defer { _ = set(0, 8 * before.count, &before) }
      #expect(ThreadPool.availableCores == 1)
    }
  #endif

  #if os(Linux)
    /// Version 2 has quota and period in one file, version 1 in two, where -1 means unlimited.
    @Test func theLeastQuotaOfAControlGroupCounts() throws {
      try withTemporaryFolder { folder in
        func write(_ text: String, to path: String) throws {
          let file = try #require(fopen("\(folder)/\(path)", "w"))
          fputs(text, file)
          fclose(file)
        }
        func quota(_ groups: String) throws -> Int {
          try write(groups, to: "groups")
          return assay_processor_quota("\(folder)/groups", folder)
        }
        for name in ["two", "two/inner", "cpu", "cpu/one"] { mkdir("\(folder)/\(name)", 0o700) }
        try write("250000 100000\n", to: "two/cpu.max")
        try write("max 100000\n", to: "two/inner/cpu.max")
        try write("-1\n", to: "cpu/cpu.cfs_quota_us")
        try write("100000\n", to: "cpu/cpu.cfs_period_us")
        #expect(try quota("0::/two/inner\n") == 3)
        #expect(try quota("3:cpu,cpuacct:/one\n") == 1000)
        try write("50000\n", to: "cpu/one/cpu.cfs_quota_us")
        try write("100000\n", to: "cpu/one/cpu.cfs_period_us")
        #expect(try quota("3:cpu,cpuacct:/one\n0::/two\n") == 1)
        #expect(try quota("0::/\n") == 1000)
      }
    }
  #endif

  private final class Counter: Sendable {
    let value = Atomic<Int>(0)
  }
}
