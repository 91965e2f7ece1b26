/// A rectangle given by its edges, which may be between samples. The unit is the sample, or the
/// whole image, in which 0 is the left or upper edge and 1 the right or lower one.
package struct Box: Sendable, Equatable {
  package var left: Double
  package var top: Double
  package var right: Double
  package var bottom: Double

  package init(left: Double, top: Double, right: Double, bottom: Double) {
    (self.left, self.top, self.right, self.bottom) = (left, top, right, bottom)
  }
}
