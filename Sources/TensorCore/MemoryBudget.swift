import CSystem
import LibC
import Synchronization

/// The memory that the process may use.
package enum MemoryBudget {
  /// Bytes; by default 80 % of the smallest of the machine's memory, the control group's limit and
  /// the process's own limit, and at most what the inputs allow if `limitByInputs` was called.
  package static var limit: Int {
    let bytes = allowed.load(ordering: .relaxed)
    return bytes > 0 ? bytes : min(standard, inputLimit ?? .max)
  }

  /// Sets the limit for the whole process, including memory outside buffers.
  package static func allow(_ bytes: Int) {
    allowed.store(bytes, ordering: .relaxed)
    assay_limit_memory(checkedBytes(bytes))
  }

  /// Limits memory in proportion to the inputs by default: a small file that declares large arrays
  /// is rejected, however much memory the machine has.
  package static func limitByInputs() {
    isLimitedByInputs.store(true, ordering: .relaxed)
    assay_limit_memory(checkedBytes(standard))
  }

  /// Counts the bytes of an input.
  package static func addInput(_ byteCount: Int) { inputs.add(byteCount, ordering: .relaxed) }

  /// Bytes held by all buffers.
  static let used = Atomic<Int>(0)
  private static let allowed = Atomic<Int>(0)
  private static let inputs = Atomic<Int>(0)
  private static let isLimitedByInputs = Atomic<Bool>(false)

  /// The limit that the inputs imply; nil if they do not limit memory.
  private static var inputLimit: Int? {
    guard isLimitedByInputs.load(ordering: .relaxed) else { return nil }
    let (bytes, overflow) = inputs.load(ordering: .relaxed).multipliedReportingOverflow(
      by: Limits.memoryPerInputByte)
    return overflow ? nil : max(Limits.uncheckedMemory, bytes)
  }

  private static let standard: Int = {
    let pages = sysconf(Int32(_SC_PHYS_PAGES))
    let (machine, overflow) = pages.multipliedReportingOverflow(by: sysconf(Int32(_SC_PAGESIZE)))
    let known = machine > 0 && !overflow ? machine : Int.max / 2
    return min(known, Int(assay_memory_limit())) / 5 * 4
  }()

  /// Memory that a program needs besides its buffers: code, thread stacks, small allocations.
  private static let base = 64 << 20

  private static func checkedBytes(_ bytes: Int) -> Int {
    let (sum, overflow) = bytes.addingReportingOverflow(base)
    return overflow ? Int.max / 2 : sum
  }

  /// Throws `.outOfMemory` if this many more bytes would exceed the limit, and `TimeIsOver`,
  /// because long computations allocate memory again and again.
  package static func require(_ byteCount: Int, _ what: String = "this") throws {
    try TimeBudget.require()
    let held = used.load(ordering: .relaxed)
    let (sum, overflow) = held.addingReportingOverflow(byteCount)
    guard byteCount < 0 || overflow || sum > limit else { return }
    let beside = byteCount <= limit ? " beside the \(held) in use" : ""
    throw refusal("\(what) needs \(byteCount) bytes\(beside)", limit: limit)
  }

  /// The error for a need that exceeds `limit`.
  package static func refusal(_ need: String, limit: Int) -> ModelError {
    let reason =
      limit == inputLimit ? " for inputs of \(inputs.load(ordering: .relaxed)) bytes" : ""
    return ModelError(
      .outOfMemory, "\(need), but \(limit) are allowed\(reason)",
      hint: "\(setting: "maxMemory") allows more")
  }
}

/// The product of the sizes of an array of floats that is about to be computed.
///
/// The runtime traps if it cannot allocate an array. So there must be memory for three times the
/// array: for the values it is computed from, or for the result in double precision; for the array;
/// and for the weight made from it.
///
/// - Throws: `.limitExceeded` if the product exceeds the limit, `.outOfMemory` if the memory would
///   exceed `MemoryBudget.limit`.
package func computedCount(
  _ sizes: some Sequence<Int>, limit: Int = Limits.tensorElements
) throws -> Int {
  let count = try checkedProduct(sizes, limit: limit)
  let (bytes, overflow) = count.multipliedReportingOverflow(by: 3 * MemoryLayout<Float>.stride)
  try MemoryBudget.require(overflow ? .max : bytes, "computing \(count) numbers")
  return count
}

extension [Float] {
  /// Zeros, to be filled with the values of a weight.
  ///
  /// - Throws: as `computedCount`.
  package init(zeros count: Int) throws {
    self.init(repeating: 0, count: try computedCount([count], limit: .max))
  }
}
