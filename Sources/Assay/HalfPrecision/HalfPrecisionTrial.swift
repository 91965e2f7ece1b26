import CoreMLModel
import ModelPrediction
import TensorCore
import Verification

/// Runs a network in half precision with some layers in single precision.
struct HalfPrecisionTrial {
  let network: HalfPrecisionNetwork
  let inputs: [[String: FeatureValue]]
  let expected: [Prediction]

  /// The outputs for each input.
  func outputs(keeping kept: Set<String>) throws -> [[OutputComparison]] {
    let options = network.options
    let predictor = try network.predictor(options.precision, keptInFloat32: kept)
    return try zip(inputs, expected).map { values, expected in
      let features = Dictionary(first: expected.features.map { ($0.name, $0.value) })
      return try predictor.predict(values).features.compactMap { output in
        features[output.name].map {
          OutputComparison(
            output.name, actual: output.value, expected: $0,
            tolerance: options.tolerances[output.name], top: options.top)
        }
      }
    }
  }

  private func agrees(keeping kept: some Sequence<String>) throws -> Bool {
    try outputs(keeping: Set(kept)).joined().allSatisfy(\.agrees)
  }

  /// The largest error of an output, relative to its largest value.
  private func error(keeping kept: Set<String>) throws -> Double {
    try outputs(keeping: kept).joined().reduce(0) {
      max($0, $1.metrics?.relativeToLargest ?? .infinity)
    }
  }

  /// The fewest layers in single precision that keep all outputs within their tolerances.
  ///
  /// The error of each layer alone in half precision ranks the layers. The search adds layers in
  /// that order until the outputs agree, and then drops each that turns out to be unnecessary.
  ///
  /// - Parameters:
  ///   - layers: the layers by their separate error, largest first.
  ///   - all: every layer, in the order of the network.
  ///   - hasTime: whether the search may continue.
  /// - Returns: the layers in the order of the network, and whether each was found to be needed.
  func search(
    _ layers: [HalfPrecisionStudy.Layer], all: [String], hasTime: () -> Bool
  ) throws -> (kept: [String], isMinimal: Bool) {
    var seen = Set<String>()
    let names = (layers.map(\.name) + all).filter { seen.insert($0).inserted }
    var errors: [String: Double] = [:]
    for name in names where hasTime() {
      errors[name] = try error(keeping: Set(names).subtracting([name]))
    }
    let ranked = names.enumerated().sorted {
      let (a, b) = (errors[$0.element] ?? 0, errors[$1.element] ?? 0)
      return a != b ? a > b : $0.offset < $1.offset
    }.map(\.element)
    // Bisection for the smallest number of top-ranked layers with which the outputs agree.
    var (few, many) = (0, ranked.count)
    while many - few > 1 {
      let middle = (few + many) / 2
      if try agrees(keeping: ranked.prefix(middle)) { many = middle } else { few = middle }
    }
    var kept = Array(ranked.prefix(many))
    var isMinimal = true
    for name in kept.reversed() {
      guard hasTime() else {
        isMinimal = false
        break
      }
      let others = kept.filter { $0 != name }
      if try agrees(keeping: others) { kept = others }
    }
    let needed = Set(kept)
    var listed = Set<String>()
    return (all.filter { needed.contains($0) && listed.insert($0).inserted }, isMinimal)
  }
}
