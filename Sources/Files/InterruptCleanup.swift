import CSystem
import LibC
import Synchronization

/// SIGINT, SIGTERM and SIGHUP remove unfinished outputs and then take their usual course, so the
/// exit status is that of the signal.
///
/// The signal handler wakes a thread, which may do what a handler may not. Code that creates an
/// item or moves it into place holds the lock, so it completes first or never starts.
enum InterruptCleanup {
  private static let pending = Mutex<[PendingItem]>([])

  /// Does something that must not be interrupted. A signal removes `items`.
  static func exclusively<Result>(
    _ body: (_ items: inout [PendingItem]) throws -> sending Result
  ) rethrows -> sending Result {
    try pending.withLock { items in try body(&items) }
  }

  /// Signals that the program handles itself are left alone. Without a thread, a signal leaves the
  /// same files as killing the process.
  static let install: Void = {
    var ends: [Int32] = [-1, -1]
    guard assay_pipe(&ends) == 0 else { return }
    let reader = ends[0]
    (writer, owner) = (ends[1], getpid())
    guard startThread({ removeAfterSignal(reader) }) != nil else { return }
    for number in [SIGINT, SIGTERM, SIGHUP] {
      let previous = signal(number) { number in
        let code = errno
        if getpid() == InterruptCleanup.owner {
          var byte = UInt8(truncatingIfNeeded: number)
          _ = write(InterruptCleanup.writer, &byte, 1)
        } else {
          // A forked copy of the process has no such thread and owns no item.
          signal(number, SIG_DFL)
          raise(number)
        }
        errno = code
      }
      if unsafeBitCast(previous, to: Int.self) != unsafeBitCast(SIG_DFL, to: Int.self) {
        signal(number, previous)
      }
    }
  }()

  /// Set before the handler is installed.
  nonisolated(unsafe) private static var writer: Int32 = -1
  nonisolated(unsafe) private static var owner: pid_t = 0

  private static func removeAfterSignal(_ reader: Int32) {
    var number: UInt8 = 0
    while read(reader, &number, 1) != 1 { if errno != EINTR { return } }
    pending.withLock { items in
      for item in items { item.remove() }
      signal(Int32(number), SIG_DFL)
      kill(getpid(), Int32(number))
      while true { pause() }
    }
  }
}
