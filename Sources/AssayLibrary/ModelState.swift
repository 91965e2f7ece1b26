import Assay
import CAssay
import Synchronization

/// The state that a model's predictions pass from one to the next.
final class ModelState: Handle {
  static let kind = "state"
  private let model: OpenModel
  private let features: [String: FeatureDescription]
  private let content: Mutex<Content>

  private struct Content: Sendable {
    var values: [String: FeatureValue] = [:]
    /// The values that have been read, by name.
    var read: [String: StateValue] = [:]
  }

  /// - Throws: `.mismatch` if the model has no states.
  init(of model: OpenModel) throws {
    let states = model.predictor.states
    try require(!states.isEmpty, .mismatch, "the model has no states")
    self.model = model
    content = Mutex(Content(values: try model.predictor.initialStates()))
    features = Dictionary(states.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The values for the next prediction.
  ///
  /// - Throws: `.mismatch` if the state belongs to another model.
  func values(for model: OpenModel) throws -> [String: FeatureValue] {
    try require(model === self.model, .mismatch, "the state belongs to another model")
    return content.withLock { $0.values }
  }

  func set(_ values: [String: FeatureValue]) { content.withLock { $0 = Content(values: values) } }

  func read(_ name: String) throws -> UnsafePointer<assay_value> {
    let feature = try feature(name)
    return try content.withLock { content in
      if let known = content.read[name] { return known.value }
      guard let value = content.values[name] else {
        throw ModelError(.mismatch, "the state is empty before the first prediction", field: name)
      }
      let read = StateValue(value, of: feature)
      content.read[name] = read
      return read.value
    }
  }

  func write(_ value: assay_value) throws {
    var reader = InputReader(model.predictor.model)
    let (name, content) = try reader.read(value)
    _ = try model.predictor.state(content, of: feature(name))
    let owned = reader.borrowed.owned(content)
    self.content.withLock {
      $0.values[name] = owned
      $0.read[name] = nil
    }
  }

  private func feature(_ name: String) throws -> FeatureDescription {
    guard let feature = features[name] else {
      throw ModelError(
        .mismatch, "the model has no state '\(name)'",
        hint: "its states are \(features.keys.sorted().joined(separator: ", "))")
    }
    return feature
  }
}

/// A state's value in C.
private final class StateValue: @unchecked Sendable {
  // `@unchecked`: nothing is written after initialization.
  let value: UnsafePointer<assay_value>
  private let writer = ValueWriter()

  init(_ value: FeatureValue, of feature: FeatureDescription) {
    self.value = writer.memory.array([writer.value(value, of: feature)])
  }
}
