import Foundation
import FuzzSupport
import TensorCore

/// An entry point of the program: a file format, the mutations of its files, and the actions of the
/// commands on them.
package struct FuzzTarget: Sendable {
  /// Makes one file from another. A mutator belongs to the seeds for which it was made.
  package typealias Mutator = @Sendable ([UInt8], inout SplitMix64) -> [UInt8]

  package let name: String
  /// The suffix of the files' names, with the period.
  package let suffix: String
  /// The suffixes of files that contain seeds.
  private let sources: [String]
  /// Seeds that are not in files.
  private let examples: [[UInt8]]
  /// The seeds in such a file.
  private let seeds: @Sendable (_ path: String, _ bytes: [UInt8]) -> [[UInt8]]
  package let mutator: @Sendable (_ seeds: [[UInt8]]) -> Mutator
  /// Does what the commands do with the file.
  ///
  /// - Throws: `ModelError` for a file that is refused. Any other error, or one with the code
  ///   `.internal`, is a finding, as are a trap, a hang and excessive memory.
  package let attempt: @Sendable (_ path: String, _ bytes: [UInt8]) throws -> Void

  /// Larger seeds take too long.
  private static let largestSeed = 12 << 10

  init(
    _ name: String, suffix: String, from sources: [String]? = nil, examples: [[UInt8]] = [],
    seeds: @escaping @Sendable (String, [UInt8]) -> [[UInt8]] = { [$1] },
    mutator: @escaping @Sendable ([[UInt8]]) -> Mutator = { _ in
      { $1.flag() ? $0.damaged(&$1) : $0.withBytesReplaced(&$1) }
    },
    attempt: @escaping @Sendable (String, [UInt8]) throws -> Void
  ) {
    self.name = name
    self.suffix = suffix
    self.sources = sources ?? [suffix]
    self.examples = examples
    self.seeds = seeds
    self.mutator = mutator
    self.attempt = attempt
  }

  package static let all: [FuzzTarget] =
    [model, package, keras, caffe, darknet, chunks, folder, names, library] + formats

  package static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }

  /// The seeds in these folders, in the order of their files' names.
  package func seeds(below folders: [String]) -> [[UInt8]] {
    var result = examples
    var seen: Set<[UInt8]> = []
    for folder in sources.isEmpty ? [] : folders {
      let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
      for file in files.sorted() {
        let path = "\(folder)/\(file)"
        let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
        guard sources.contains(where: path.hasSuffix), size > 0, size < 1 << 20,
          !file.contains("hostile"),
          let data = FileManager.default.contents(atPath: path)
        else { continue }
        for seed in seeds(path, [UInt8](data)) where seed.count <= Self.largestSeed {
          if seen.insert(seed).inserted { result.append(seed) }
        }
      }
    }
    return result
  }

  /// The mutant with this number, always the same for the same seeds.
  package func mutant(
    _ number: UInt64, of seeds: [[UInt8]], _ mutator: Mutator
  ) -> [UInt8] {
    var random = SplitMix64(seed: number)
    return mutator(seeds.isEmpty ? [] : random.pick(seeds), &random)
  }
}

/// The outcome of a mutant that did no harm.
package enum Outcome: Sendable {
  case accepted, refused
}

/// A violation of the program's contract.
package struct Finding: Error, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

extension FuzzTarget {
  /// - Throws: `Finding`.
  package func outcome(_ path: String, _ bytes: [UInt8]) throws -> Outcome {
    do {
      try attempt(path, bytes)
      return .accepted
    } catch let error as ModelError {
      for error in error.all where error.code == .internal { throw Finding("\(error)") }
      return .refused
    } catch let finding as Finding {
      throw finding
    } catch {
      throw Finding("an error that is not of this program: \(error)")
    }
  }
}
