import Foundation
import Testing

@testable import Kernels

@Suite struct MultiplyAddLoopTests {
  /// `x ← 0.999 x + 0.001` multiplies the distance from 1 by 0.999. On arm64, which has 24 chains,
  /// `x ← x + 0.999 · 0.001`.
  @Test(arguments: availableSets) func everyChainIsSummed(_ set: InstructionSet) {
    let lanes = set.kernels.panelBlocks * set.kernels.channelBlock / 2
    let rounds = 700
    let (count, sum) = set.kernels.multiplyAddLoop(rounds: rounds, start: 0.25)
    #expect(count % (rounds * lanes) == 0)
    let chains = count / (rounds * lanes)
    let decay = pow(0.999, Double(rounds))
    var expected = 0.0
    for chain in 0..<chains {
      let start = 0.25 + 0.1 * Double(chain)
      let end = chains == 24 ? start + Double(rounds) * 0.000999 : 1 + decay * (start - 1)
      expected += Double(lanes) * end
    }
    #expect(abs(Double(sum) - expected) < 1e-3 * expected)
  }
}
