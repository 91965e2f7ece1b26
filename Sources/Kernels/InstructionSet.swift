import CSystem
@_exported import KernelInterface
import KernelsBaseline
import LibC
import TensorCore

#if HAS_VECTOR_KERNELS
  import KernelsAVX2
  import KernelsAVX512
#endif

/// The instruction sets with kernels, from narrowest to widest.
package enum InstructionSet: String, CaseIterable, Sendable {
  /// What every processor of the architecture supports: SSE2; on arm64, NEON with fused
  /// multiply-adds and half precision.
  case baseline
  /// AVX2, FMA and F16C.
  case avx2
  /// AVX-512 F, VL, BW and DQ.
  case avx512
  /// AVX-512, and AMX's tiles of bf16 numbers for large matrix products. Only on request: on a
  /// shared host, times ranged from a sixth less to half as much again (docs/performance.md).
  case amx

  /// How to compute large matrix products with this instruction set.
  package var tiles: Tiles { self == .amx ? .processor : .none }

  /// Whether this processor and this build of the package can run it.
  package var isAvailable: Bool {
    #if HAS_VECTOR_KERNELS
      switch self {
      case .baseline: true
      case .avx2: processor_has_avx2()
      case .avx512: processor_has_avx512()
      case .amx: processor_has_amx()
      }
    #else
      self == .baseline
    #endif
  }

  /// Whether this processor has the instructions with which the set's kernels compute `ByteSums`.
  package var multipliesBytes: Bool {
    switch self {
    case .baseline: true
    case .avx2: processor_has_vnni(false)
    case .avx512, .amx: processor_has_vnni(true)
    }
  }

  private var table: any KernelTable.Type {
    #if HAS_VECTOR_KERNELS
      switch self {
      case .baseline: KernelsBaseline.Table.self
      case .avx2: KernelsAVX2.Table.self
      case .avx512, .amx: KernelsAVX512.Table.self
      }
    #else
      KernelsBaseline.Table.self
    #endif
  }

  /// Precondition: `isAvailable`.
  package var kernels: any KernelTable.Type {
    precondition(isAvailable)
    return table
  }

  /// The widest available instruction set, without AMX.
  package static var widest: InstructionSet {
    allCases.last { $0.isAvailable && $0 != .amx } ?? .baseline
  }

  /// Environment variable with the instruction set to use instead of the widest one.
  package static let environmentVariable = "ASSAY_KERNELS"

  /// The instruction set named by the environment variable, or the widest one.
  ///
  /// - Throws: `.usage` for an unknown name or a set that the processor does not support.
  package static func selected() throws(ModelError) -> InstructionSet {
    guard let value = getenv(environmentVariable) else { return widest }
    return try named(String(cString: value))
  }

  /// The instruction set with that name; an empty name means the widest one.
  static func named(_ name: String) throws(ModelError) -> InstructionSet {
    if name.isEmpty { return widest }
    let available = allCases.filter(\.isAvailable).map(\.rawValue).joined(separator: ", ")
    guard let set = InstructionSet(rawValue: name) else {
      throw ModelError(
        .usage, "\(environmentVariable): unknown instruction set '\(name)'",
        hint: "this machine supports \(available)")
    }
    guard set.isAvailable else {
      throw ModelError(
        .usage, "\(environmentVariable): this processor does not support '\(name)'",
        hint: "this machine supports \(available)")
    }
    return set
  }
}
