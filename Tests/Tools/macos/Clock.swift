// The parts of the standard library's clock that the command uses and Embedded Swift lacks.
// swift-format-ignore-file
struct ContinuousClock {
  struct Instant: Comparable, Sendable {
    static func < (a: Self, b: Self) -> Bool { fatalError() }
    static func - (a: Self, b: Self) -> Duration { fatalError() }
  }

  static var now: Instant { fatalError() }
  var now: Instant { fatalError() }
  func measure(_ body: () throws -> Void) rethrows -> Duration { fatalError() }
}
