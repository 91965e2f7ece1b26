import CoreMLModel
import ModelTransforms

/// The order in which layers lose precision: the next step is always the one that adds the least
/// squared error per byte saved.
struct CompressionSteps {
  /// An item with its own precision.
  enum Part {
    /// A layer of a network, and its index.
    case layer(NeuralNetworkLayer, Int)
    /// A weight of an ML Program.
    case weight(String, WeightPrecision)
  }

  /// A layer in one of its precisions.
  struct Rung {
    var part: Part
    var entry: CompressedLayer
    /// The relative error of the outputs with only this layer compressed.
    var squaredError: Double
  }

  /// A layer and its precisions, from the largest to the smallest.
  struct Candidate { var rungs: [Rung] }

  let candidates: [Candidate]
  /// The precision step of each candidate, from all uncompressed to all in their smallest
  /// precision.
  let path: [[Int]]

  init(_ candidates: [Candidate]) {
    self.candidates = candidates
    var state = [Int](repeating: 0, count: candidates.count)
    var path = [state]
    while let (candidate, rung) = Self.cheapest(candidates, state) {
      state[candidate] = rung
      path.append(state)
    }
    self.path = path
  }

  private static func cheapest(
    _ candidates: [Candidate], _ state: [Int]
  ) -> (candidate: Int, rung: Int)? {
    var best: (candidate: Int, rung: Int, cost: Double)?
    for (index, candidate) in candidates.enumerated() {
      let now = candidate.rungs[state[index]]
      for rung in candidate.rungs.indices.dropFirst(state[index] + 1) {
        let next = candidate.rungs[rung]
        let saved = now.entry.bytesAfter - next.entry.bytesAfter
        guard saved > 0 else { continue }
        let cost = max(0, next.squaredError - now.squaredError) / Double(saved)
        if best.map({ cost < $0.cost }) ?? true { best = (index, rung, cost) }
      }
    }
    return best.map { ($0.candidate, $0.rung) }
  }
}
