/// Memory that C reads, freed as a whole.
final class CMemory: @unchecked Sendable {
  // `@unchecked`: it is filled before another thread can access it.
  private var blocks: [UnsafeMutableRawPointer] = []

  deinit { for block in blocks { block.deallocate() } }

  /// Stores a C string.
  func text(_ text: String) -> UnsafePointer<CChar> { array(Array(text.utf8CString)) }

  /// Stores lines as a C string; nil if there are none.
  func lines(_ lines: [String]) -> UnsafePointer<CChar>? {
    lines.isEmpty ? nil : text(lines.joined(separator: "\n"))
  }

  /// Stores a copy of the elements; an empty copy has an address, too.
  func array<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafePointer<Element> {
    let copy = UnsafeMutablePointer<Element>.allocate(capacity: max(1, elements.count))
    elements.withUnsafeBufferPointer { source in
      if let address = source.baseAddress { copy.initialize(from: address, count: source.count) }
    }
    blocks.append(UnsafeMutableRawPointer(copy))
    return UnsafePointer(copy)
  }
}
