/// A rectangle by its edges, which may lie between samples: in samples of a picture, or in parts of one
/// (0 is the left or upper edge, 1 the right or lower one).
public struct Box: Sendable, Equatable {
  public var left: Double
  public var top: Double
  public var right: Double
  public var bottom: Double

  public init(left: Double, top: Double, right: Double, bottom: Double) {
    self.left = left
    self.top = top
    self.right = right
    self.bottom = bottom
  }
}
