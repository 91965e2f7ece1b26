import CoreMLModel
import MILImport
import ModelPrediction
import TensorCore
import Verification

/// Reasons why predictions differ from the expected values: usual causes, each tested by a
/// prediction.
///
/// The error of a trial is the largest of its outputs' root mean square errors, each divided by the
/// standard deviation of the expected values.
public struct Diagnosis: Sendable {
  /// One or two causes and the remaining error.
  public struct Finding: Sendable {
    /// The causes; two causes belong to different parts.
    public let causes: [Cause]
    /// The remaining error; infinite if shapes differ.
    public let error: Double
    /// Whether all outputs are within their tolerances.
    public let agrees: Bool
  }

  /// The original error.
  public let error: Double
  /// The findings that bring all outputs within their tolerances, best first; several may fit
  /// equally well.
  public let explanations: [Finding]
  /// The finding that reduces the error most, to less than half, if nothing explains it.
  public let best: Finding?
  /// Causes that were tried singly and explain nothing.
  public let excluded: [Finding]
  /// Trials that did not fit into the time limit.
  public let untried: Int

  /// The cost limit of a diagnosis that was not requested: about five seconds on two cores.
  package static let usualMultiplyAdds = 200_000_000_000

  /// Tries causes singly, then in pairs, until one explains the difference.
  ///
  /// - Parameters:
  ///   - model: the model that predicts something else.
  ///   - words: inputs as on a command line.
  ///   - path: a file with the expected outputs.
  ///   - options: the options of the comparison that found the difference.
  ///   - budget: no trial starts after this time.
  ///   - multiplyAdds: no trial starts after this many multiply-adds; nil for no limit.
  public init(
    _ model: Model, inputs words: [String], expected path: String, options: Comparison.Options,
    budget: Duration = .seconds(60), multiplyAdds: Int? = nil
  ) throws {
    let source = try InputSource.only(words, for: model, command: "diff")
    let subject = try DiagnosisSubject(
      model, source, ExpectedArrays.read(path), file: path, options: options)
    let clock = ContinuousClock()
    let end = clock.now + budget
    let runner = TrialRunner(options)
    let cost = max(1, Inspection(try model.programNetwork()?.model ?? model).multiplyAdds)
    let limit = multiplyAdds.map { $0 / cost } ?? .max
    var isOver: Bool { clock.now >= end || runner.count > limit }
    let start = try runner.run(subject.trial)
    error = start.error
    var singles: [Finding] = []
    var untried = 0
    for cause in subject.causes {
      if isOver {
        untried += 1
      } else if let finding = try runner.finding([cause], subject.trial) {
        singles.append(finding)
      }
    }
    var explanations = singles.filter(\.agrees)
    var pairs: [Finding] = []
    if explanations.isEmpty {
      for pair in Self.pairs(singles) {
        if isOver {
          untried += 1
        } else if let finding = try runner.finding(pair, subject.trial) {
          pairs.append(finding)
          if finding.agrees { break }
        }
      }
      explanations = pairs.filter(\.agrees)
    }
    self.untried = untried
    self.explanations = Self.equallyGood(explanations)
    let others = (singles + pairs).filter { !$0.agrees }
    best =
      explanations.isEmpty
      ? others.filter { $0.error < start.error / 2 }.min { $0.error < $1.error } : nil
    excluded = singles.filter { !$0.agrees }
  }

  /// The findings with an error near the smallest, in the order of the trials.
  private static func equallyGood(_ findings: [Finding]) -> [Finding] {
    guard let least = findings.map(\.error).min() else { return [] }
    var texts: Set<[String?]> = []
    // Errors below 1e-5 are rounding and do not rank findings.
    return findings.filter {
      $0.error <= max(3 * least, 1e-5)
        && texts.insert($0.causes.flatMap { [$0.summary, $0.remedy] }).inserted
    }
  }

  /// Pairs of the causes that reduce the error most with any other, most promising first.
  private static func pairs(_ singles: [Finding]) -> [[Cause]] {
    let promising = singles.sorted { $0.error < $1.error }.prefix(8)
    var seen = Set<String>()
    return promising.flatMap { first in
      singles.compactMap { second -> [Cause]? in
        let causes = [first.causes[0], second.causes[0]]
        guard causes[0].part != causes[1].part,
          seen.insert(causes.map(\.summary).sorted().joined(separator: "\n")).inserted
        else { return nil }
        return causes
      }
    }
  }
}

/// Runs trials, and keeps the networks of the last few.
private final class TrialRunner {
  private let options: Comparison.Options
  private var predictors: [(changes: [String], predictor: Predictor)] = []
  /// The number of predictions.
  private(set) var count = 0
  /// The last prediction, reused for causes that change only the outputs.
  private var last: (changes: [String], blobs: [String: Tensor], prediction: Prediction)?

  init(_ options: Comparison.Options) { self.options = options }

  /// Nil if a cause has nothing to change, or the network cannot run with it.
  func finding(_ causes: [Cause], _ trial: Trial) throws -> Diagnosis.Finding? {
    var trial = trial
    do {
      for cause in causes { guard try cause.apply(&trial) else { return nil } }
      let result = try run(trial)
      return Diagnosis.Finding(causes: causes, error: result.error, agrees: result.agrees)
    } catch let error as ModelError where error.code != .outOfMemory {
      return nil
    }
  }

  func run(_ trial: Trial) throws -> (error: Double, agrees: Bool) {
    let prediction = try prediction(of: trial)
    var largest = 0.0
    var agrees = true
    for output in prediction.outputs {
      guard let expected = trial.expected[output.name] else { continue }
      let actual = trial.output.reduce(output.value) { $1(output.name, $0) }
      let comparison = OutputComparison(
        output.name, actual: actual, expected: expected, tolerance: options.tolerances[output.name])
      guard let metrics = comparison.metrics, metrics.countNotFinite == 0 else {
        return (.infinity, false)
      }
      largest = max(largest, metrics.rootMeanSquareError / expected.spread)
      agrees = agrees && comparison.agrees
    }
    return (largest, agrees)
  }

  private func prediction(of trial: Trial) throws -> Prediction {
    if let last, last.changes == trial.changes, last.blobs == trial.blobs { return last.prediction }
    count += 1
    let prediction = try predictor(for: trial).prediction(of: trial.blobs)
    last = (trial.changes, trial.blobs, prediction)
    return prediction
  }

  private func predictor(for trial: Trial) throws -> Predictor {
    if let known = predictors.first(where: { $0.changes == trial.changes }) {
      return known.predictor
    }
    let predictor = try Predictor(model: trial.model, options: options.predictor)
    // The unchanged network and the one without preprocessing serve most trials.
    if predictors.count > 2 { predictors.removeLast() }
    predictors.append((trial.changes, predictor))
    return predictor
  }
}

extension Predictor {
  /// The outputs for the blobs of a batch.
  func prediction(of blobs: [String: Tensor]) throws -> Prediction {
    assembled(try interface.batchItems(blobs).map(outputBlobs))
  }
}

extension Tensor {
  /// The standard deviation; for constant elements their magnitude, or 1 if that is 0.
  fileprivate var spread: Double {
    withUnsafeElements { elements in
      let finite = elements.filter(\.isFinite).map(Double.init)
      let count = Double(max(1, finite.count))
      let mean = finite.reduce(0, +) / count
      let variance = finite.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / count
      if variance > 0 { return variance.squareRoot() }
      return mean == 0 ? 1 : abs(mean)
    }
  }
}
