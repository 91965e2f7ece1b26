import FuzzSupport
import FuzzTargets
import TensorCore
import TestSupport
import Testing

/// A few mutants of every format pass through the commands' code, in this process; `make mutants`
/// tries thousands.
@Suite struct MutantTests {
  @Test(arguments: FuzzTarget.all.map(\.name)) func mutantsDoNoHarm(_ name: String) throws {
    let target = try #require(FuzzTarget.named(name))
    let seeds = target.seeds(below: [Fixtures("").folder])
    #expect(!seeds.isEmpty)
    let mutator = target.mutator(seeds)
    var (accepted, different) = (0, Set<[UInt8]>())
    try withTemporaryFolder { folder in
      let path = folder + "/mutant" + target.suffix
      for number in 1...UInt64(24) {
        let mutant = target.mutant(number, of: seeds, mutator)
        #expect(mutant == target.mutant(number, of: seeds, mutator))
        different.insert(mutant)
        try writeFile(mutant, to: path)
        do {
          if try target.outcome(path, mutant) == .accepted { accepted += 1 }
        } catch { Issue.record("\(name) \(number): \(error)") }
      }
    }
    #expect(different.count > 12)
    // Of those that change bytes, few get past a checksum.
    let isTyped = ["model", "package", "keras", "caffe", "darknet", "chunks"].contains(name)
    #expect(!isTyped || accepted > 2, "a mutator whose mutants are all refused finds little")
  }

  /// The seeds themselves cause no findings.
  @Test(arguments: ["model", "package", "keras", "caffe", "darknet", "chunks"])
  func seedsAreAccepted(
    _ name: String
  )
    throws
  {
    let target = try #require(FuzzTarget.named(name))
    let seeds = target.seeds(below: [Fixtures("").folder])
    var accepted = 0
    try withTemporaryFolder { folder in
      let path = folder + "/seed" + target.suffix
      for seed in seeds.prefix(6) {
        try writeFile(seed, to: path)
        if try target.outcome(path, seed) == .accepted { accepted += 1 }
      }
    }
    #expect(accepted > 2)
  }
}
