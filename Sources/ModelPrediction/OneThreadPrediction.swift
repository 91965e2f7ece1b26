import Engine
import TensorCore

extension Predictor {
  /// The number of threads per prediction.
  package var threadCount: Int { options.engine.threads ?? CompileOptions.availableCores }

  /// Whether `predictOnOneThread` may succeed.
  package var isReadyForOneThread: Bool { networkForOneThread != nil }

  /// Predicts on the caller's thread; other threads may do the same with other values.
  ///
  /// - Returns: nil if `predict` is needed: before the first prediction, for shapes other than the
  ///   last one's, with states, if the order of predictions matters, if each step is reported, or
  ///   for an error or a suspicious value, which `predict` then reports.
  package func predictOnOneThread(_ values: [String: FeatureValue]) -> Prediction? {
    guard let network = networkForOneThread, findings(ofInputs: values).isEmpty,
      let blobs = try? interface.blobs(values), let items = try? interface.batchItems(blobs)
    else { return nil }
    var results: [[String: Tensor]] = []
    for item in items {
      guard let result = try? network.predictOnOneThread(interface.completed(item)),
        findings(result).isEmpty
      else { return nil }
      results.append(result)
    }
    return assembled(results)
  }
}
