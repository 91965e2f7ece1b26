import CSystem
@_exported import KernelInterface
import KernelsAVX2
import KernelsAVX512
import KernelsBaseline
import LibC
import TensorCore

/// The instruction sets with kernels, from narrowest to widest.
package enum InstructionSet: String, CaseIterable, Sendable {
  /// What every processor of the architecture supports: SSE2 or NEON.
  case baseline
  /// AVX2, FMA and F16C.
  case avx2
  /// AVX-512 F, VL, BW and DQ.
  case avx512

  /// Whether this processor and this build of the package can run it.
  package var isAvailable: Bool {
    switch self {
    case .baseline: true
    // In a dependency of another package, all three modules are built for the baseline. A module is
    // queried only if the processor can run it.
    case .avx2: processor_has_avx2() && table.panelBlocks == 2
    case .avx512: processor_has_avx512() && table.channelBlock == 16
    }
  }

  private var table: any KernelTable.Type {
    switch self {
    case .baseline: KernelsBaseline.Table.self
    case .avx2: KernelsAVX2.Table.self
    case .avx512: KernelsAVX512.Table.self
    }
  }

  /// Precondition: `isAvailable`.
  package var kernels: any KernelTable.Type {
    precondition(isAvailable)
    return table
  }

  /// The widest one that this processor supports.
  package static var widest: InstructionSet {
    allCases.last { $0.isAvailable } ?? .baseline
  }

  /// Environment variable with the instruction set to use instead of the widest one.
  package static let environmentVariable = "ASSAY_KERNELS"

  /// The instruction set named by the environment, else the widest one.
  ///
  /// - Throws: `.usage` for an unknown name or a set that the processor does not support.
  package static func selected() throws(ModelError) -> InstructionSet {
    guard let value = getenv(environmentVariable) else { return widest }
    return try named(String(cString: value))
  }

  /// The instruction set with that name; the empty name is the widest one.
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
