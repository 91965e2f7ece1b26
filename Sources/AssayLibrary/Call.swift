import Assay
import LibC

/// One call from C.
///
/// A fork waits for the calls of other threads: the child process would inherit their locks without
/// the threads that unlock them.
final class Call {
  /// Descriptions of probable mistakes, one line each.
  private(set) var warnings: [String] = []

  func warn(_ text: String) {
    let line = text.escapingControls()
    if !warnings.contains(line) { warnings.append(line) }
  }

  /// The current call of this thread.
  static var current: Call? {
    pthread_getspecific(gate.key).map { Unmanaged<Call>.fromOpaque($0).takeUnretainedValue() }
  }

  static func run<Result>(_ body: (Call) throws -> Result) rethrows -> Result {
    // A plug-in may call the library recursively.
    if let current { return try body(current) }
    spellsSettings
    let call = Call()
    gate.enter()
    pthread_setspecific(gate.key, Unmanaged.passUnretained(call).toOpaque())
    defer {
      pthread_setspecific(gate.key, nil)
      gate.leave()
    }
    return try body(call)
  }
}

private let gate = Gate()

/// Lets either calls or a fork proceed.
private final class Gate: @unchecked Sendable {
  // `@unchecked`: `mutex` guards the counts.
  private var calls = 0
  private var forks = 0
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  /// The key of each thread's current call.
  let key: pthread_key_t

  init() {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    self.key = key
    reset(calls: 0)
    // A fork inside a call does not wait.
    pthread_atfork(
      { if Call.current == nil { gate.close() } }, { if Call.current == nil { gate.open() } },
      { gate.reset(calls: Call.current == nil ? 0 : 1) })
  }

  func enter() {
    pthread_mutex_lock(mutex)
    while forks > 0 { pthread_cond_wait(changed, mutex) }
    calls += 1
    pthread_mutex_unlock(mutex)
  }

  func leave() {
    pthread_mutex_lock(mutex)
    calls -= 1
    if forks > 0 { pthread_cond_broadcast(changed) }
    pthread_mutex_unlock(mutex)
  }

  private func close() {
    pthread_mutex_lock(mutex)
    forks += 1
    while calls > 0 { pthread_cond_wait(changed, mutex) }
  }

  private func open() {
    forks -= 1
    pthread_cond_broadcast(changed)
    pthread_mutex_unlock(mutex)
  }

  /// Resets the gate in a child process, which has only the thread that forked.
  private func reset(calls: Int) {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(changed, nil)
    forks = 0
    self.calls = calls
  }
}
