// The parts of the standard library that Sources uses and Embedded Swift lacks. Part of every
// module when macos.sh checks types.

enum CommandLine {
  static var arguments: [String] { [] }
}

extension StringProtocol {
  func split(
    separator: String, maxSplits: Int = .max, omittingEmptySubsequences: Bool = true
  ) -> [SubSequence] { fatalError() }

  func contains(_ other: some StringProtocol) -> Bool { fatalError() }

  func replacing(
    _ other: String, with replacement: String, maxReplacements: Int = .max
  ) -> String { fatalError() }

  func firstRange(of other: String) -> Range<Index>? { fatalError() }
}

struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
  init(_ value: consuming sending Value) {}

  borrowing func withLock<Result: ~Copyable, Failure>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result { fatalError() }

  borrowing func withLockIfAvailable<Result: ~Copyable, Failure>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? { fatalError() }
}

/// The module `_Concurrency` has it.
public protocol AsyncSequence { associatedtype Element }

/// The module `_Concurrency` has it.
public struct AsyncThrowingMapSequence<Base: AsyncSequence, Transformed> {}

extension AsyncSequence {
  func map<Result>(
    _ body: (Element) throws -> Result
  ) -> AsyncThrowingMapSequence<Self, Result> { fatalError() }
}
