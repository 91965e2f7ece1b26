// The emulated program: arm64 kernels that perform the calls of another process.

@_cdecl("write_constants")
func writeConstants(_ target: UnsafeMutableRawPointer) -> Int {
  target.storeBytes(of: .own, as: EmulatedConstants.self)
  return MemoryLayout<EmulatedConstants>.size
}

@_cdecl("call_byte_count")
func callByteCount() -> Int { MemoryLayout<KernelCall>.size }

/// - Returns: the number of bytes of the result.
@_cdecl("perform")
func perform(_ call: UnsafeRawPointer, _ target: UnsafeMutableRawPointer) -> Int {
  target.storeBytes(of: call.load(as: KernelCall.self).perform(), as: KernelAnswer.self)
  return MemoryLayout<KernelAnswer>.size
}
