/// The phase, level and stages in which a Caffe network runs; `include` and `exclude` of its layers
/// decide by them which are there.
public struct NetworkState: Sendable {
  public enum Phase: String, Sendable, CaseIterable {
    case test
    case train
  }

  public var phase = Phase.test
  /// Nil: what the file says, or 0.
  public var level: Int?
  public var stages: Set<String> = []

  public init() {}
}
