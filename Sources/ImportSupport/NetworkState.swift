/// The phase, level and stages in which a Caffe network runs; a layer's `include` and `exclude`
/// rules decide whether it is included.
public struct NetworkState: Sendable {
  /// The purpose for which the network runs.
  public enum Phase: String, Sendable, CaseIterable {
    /// For predictions.
    case test
    /// For training.
    case train
  }

  /// The purpose for which the network runs.
  public var phase = Phase.test
  /// The level; nil means the file's, or 0.
  public var level: Int?
  /// The names of active stages.
  public var stages: Set<String> = []

  /// Creates the state for predictions.
  public init() {}
}
