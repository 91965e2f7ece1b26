/// The result of a kernel, as bytes with the same layout on both architectures.
package struct KernelAnswer: Sendable {
  private var bytes: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  package init() {}

  package mutating func store<Value>(_ value: Value) {
    precondition(MemoryLayout<Value>.size <= MemoryLayout<Self>.size)
    withUnsafeMutableBytes(of: &bytes) { $0.storeBytes(of: value, as: Value.self) }
  }

  package func load<Value>(as type: Value.Type) -> Value {
    withUnsafeBytes(of: bytes) { $0.load(as: type) }
  }
}
