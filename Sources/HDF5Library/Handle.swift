import CHDF5
import TensorCore

/// An identifier of the C library, closed at the end of its lifetime.
struct Handle: ~Copyable {
  let id: hid_t
  private let close: (hid_t) -> herr_t

  /// Throws the library's message if `id` is invalid.
  init(_ id: hid_t, _ close: @escaping (hid_t) -> herr_t, _ what: @autoclosure () -> String) throws
  {
    guard id >= 0 else { throw LibraryError.current(what()) }
    self.id = id
    self.close = close
  }

  deinit { _ = close(id) }
}

enum LibraryError {
  /// H5E_DEFAULT, a macro that not every version exposes to Swift.
  static let stack: hid_t = 0

  /// The library's innermost error message for the call that just failed.
  static func current(_ what: String) -> ModelError {
    var innermost = ""
    withUnsafeMutablePointer(to: &innermost) { target in
      _ = H5Ewalk2(
        LibraryError.stack, H5E_WALK_UPWARD,
        { position, error, context in
          guard position == 0, let error, let text = error.pointee.desc else { return 0 }
          context?.assumingMemoryBound(to: String.self).pointee = String(cString: text)
          return 0
        }, target)
    }
    H5Eclear2(LibraryError.stack)
    return ModelError(.malformed, innermost.isEmpty ? what : "\(what) (\(innermost))")
  }

  static func check(_ status: herr_t, _ what: @autoclosure () -> String) throws {
    guard status >= 0 else { throw current(what()) }
  }
}
