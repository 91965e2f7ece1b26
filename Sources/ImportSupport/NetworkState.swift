/// The phase, level and stages in which a Caffe network runs; `include` and `exclude` of its layers
/// decide by them which are there.
public struct NetworkState: Sendable {
  /// For what the network runs.
  public enum Phase: String, Sendable, CaseIterable {
    /// For predictions.
    case test
    /// For training.
    case train
  }

  /// For what the network runs.
  public var phase = Phase.test
  /// Nil: what the file says, or 0.
  public var level: Int?
  /// The names of stages that are on.
  public var stages: Set<String> = []

  /// The state for predictions.
  public init() {}
}
