import KernelsAVX2
import KernelsAVX512
import KernelsBaseline

extension InstructionSet {
  /// Does `rounds` rounds of multiply-adds in registers, for a measurement of what the processor
  /// can do at most. Precondition: `isAvailable`.
  ///
  /// - Returns: how many multiply-adds that were, and a number that depends on all of them.
  package func multiplyAddLoop(rounds: Int) -> (count: Int, sum: Float) {
    precondition(isAvailable)
    return switch self {
    case .baseline:
      (
        rounds * KernelsBaseline.multiplyAddsPerRound,
        KernelsBaseline.multiplyAddLoop(rounds: rounds)
      )
    case .avx2:
      (rounds * KernelsAVX2.multiplyAddsPerRound, KernelsAVX2.multiplyAddLoop(rounds: rounds))
    case .avx512:
      (rounds * KernelsAVX512.multiplyAddsPerRound, KernelsAVX512.multiplyAddLoop(rounds: rounds))
    }
  }
}
