import Assay
import Synchronization

/// An object that C holds through a handle: a number that is never reused and never a valid
/// address, so that any other pointer is an error.
protocol Handle: AnyObject, Sendable {
  /// The kind of object, for error messages.
  static var kind: String { get }
}

/// The objects that C holds.
private struct Handles: Sendable {
  private var last: UInt = 0xA55A << 48
  var objects: [UInt: any Handle] = [:]

  mutating func add(_ object: any Handle) -> UInt {
    last += 1
    objects[last] = object
    return last
  }
}

private let handles = Mutex(Handles())

extension Handle {
  /// The handle of the object, which stays alive until `release`.
  func retained() -> OpaquePointer? { OpaquePointer(bitPattern: handles.withLock { $0.add(self) }) }

  /// - Throws: `.usage` if the pointer is NULL, or not a handle of a living object of this kind.
  static func object(_ pointer: OpaquePointer?) throws -> Self {
    let number = UInt(bitPattern: try argument(pointer, kind))
    let object = handles.withLock { $0.objects[number] }
    if let object = object as? Self { return object }
    throw ModelError(
      .usage,
      object.map { "is a \(type(of: $0).kind)" } ?? "is not a \(kind), or one that has been freed",
      field: "argument '\(kind)'")
  }

  /// Returns 1, or 0 if the pointer is not a handle of a living object of this kind.
  static func release(_ pointer: OpaquePointer?) -> Int32 {
    // The object is released after the lock.
    let object = handles.withLock { handles -> (any Handle)? in
      let number = UInt(bitPattern: pointer)
      return handles.objects[number] is Self ? handles.objects.removeValue(forKey: number) : nil
    }
    return object == nil ? 0 : 1
  }
}
