import TensorCore
import Testing

@testable import Kernels

@Suite struct InstructionSetTests {
  @Test func baselineIsAlwaysThere() {
    #expect(InstructionSet.baseline.isAvailable)
    #expect(availableSets.last { $0 != .amx } == InstructionSet.widest)
  }

  @Test func namesAreChosen() throws {
    #expect(try InstructionSet.named("baseline") == .baseline)
    #expect(try InstructionSet.named("") == .widest)
    for set in availableSets { #expect(try InstructionSet.named(set.rawValue) == set) }
    let error = #expect(throws: ModelError.self) { try InstructionSet.named("mmx") }
    #expect(error?.code == .usage && error?.message.contains("'mmx'") == true)
    for set in InstructionSet.allCases where !set.isAvailable {
      #expect(throws: ModelError.self) { try InstructionSet.named(set.rawValue) }
    }
  }

  @Test func blocksFitTheSet() {
    for set in availableSets {
      #expect(set.kernels.channelBlock == (set == .avx512 || set == .amx ? 16 : 8))
      #expect(set.kernels.panelBlocks == (set == .baseline ? 1 : 2))
    }
  }
}
