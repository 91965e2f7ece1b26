/// An object that C holds by a pointer to an incomplete type.
protocol Handle: AnyObject {}

extension Handle {
  /// The pointer, which keeps the object alive until `release`.
  func retained() -> OpaquePointer { OpaquePointer(Unmanaged.passRetained(self).toOpaque()) }

  static func object(_ pointer: OpaquePointer) -> Self {
    Unmanaged<Self>.fromOpaque(UnsafeRawPointer(pointer)).takeUnretainedValue()
  }

  static func release(_ pointer: OpaquePointer?) {
    guard let pointer else { return }
    Unmanaged<Self>.fromOpaque(UnsafeRawPointer(pointer)).release()
  }
}
