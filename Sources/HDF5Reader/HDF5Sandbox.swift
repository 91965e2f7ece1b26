import Synchronization

/// The program's requirements for the worker's sandbox.
package enum HDF5Sandbox {
  private struct State {
    var isRequired = false
    var report: (@Sendable (String) -> Void)?
  }

  private static let state = Mutex(State())

  static var isRequired: Bool { state.withLock { $0.isRequired } }

  /// - Parameters:
  ///   - isRequired: whether nothing is read if a part of the sandbox is missing.
  ///   - report: receives, once, a sentence that names the missing part.
  package static func configure(isRequired: Bool, report: (@Sendable (String) -> Void)?) {
    state.withLock { $0 = State(isRequired: isRequired, report: report) }
  }

  static func report(_ text: String) { state.withLock { $0.report.take() }?(text) }
}
