import LibC
import Synchronization

/// Files to remove when the program is interrupted. SIGINT, SIGTERM and SIGHUP remove them and then
/// take their usual course, so the exit status is that of the signal.
enum InterruptCleanup {
  private static let slotCount = 16
  /// Read by the signal handler: each slot is nil or a C string that stays allocated while it is
  /// there.
  nonisolated(unsafe) private static let slots: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> =
    {
      let slots = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: slotCount)
      slots.initialize(repeating: nil, count: slotCount)
      return slots
    }()
  private static let lock = Mutex<Bool>(false)

  /// Registers `path` and returns a token for `remove`. Signals that the program handles itself are
  /// left alone.
  static func add(_ path: String) -> Int? {
    lock.withLock { isInstalled in
      guard let slot = (0..<slotCount).first(where: { slots[$0] == nil }) else { return nil }
      slots[slot] = strdup(path)
      if !isInstalled {
        isInstalled = true
        for number in [SIGINT, SIGTERM, SIGHUP] { install(number) }
      }
      return slot
    }
  }

  static func remove(_ token: Int?) {
    guard let token else { return }
    lock.withLock { _ in
      let path = slots[token]
      slots[token] = nil
      free(path)
    }
  }

  private static func install(_ number: Int32) {
    let previous = signal(number) { number in
      for slot in 0..<InterruptCleanup.slotCount {
        if let path = InterruptCleanup.slots[slot] { unlink(path) }
      }
      signal(number, SIG_DFL)
      raise(number)
    }
    if unsafeBitCast(previous, to: Int.self) != unsafeBitCast(SIG_DFL, to: Int.self) {
      signal(number, previous)
    }
  }
}
