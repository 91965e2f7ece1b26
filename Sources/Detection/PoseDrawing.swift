import Imaging

extension Canvas {
  /// Draws a person's limbs, each in a color of its own, and parts, all in pixels.
  ///
  /// Limbs are a 100th of the image's shorter side thick, at least two pixels, parts one and a half
  /// times that.
  package mutating func draw(_ points: [KeyPoint?], of body: BodyModel) {
    let thickness = max(2, (min(width, height) + 50) / 100)
    for (index, limb) in body.limbs.enumerated() where !limb.isRedundant {
      guard let from = points[limb.from], let to = points[limb.to] else { continue }
      let length = max(abs(to.x - from.x), abs(to.y - from.y))
      guard length < 1e6 else { continue }
      let steps = max(1, Int(length))
      for step in 0...steps {
        let share = Double(step) / Double(steps)
        dot(
          from.x + share * (to.x - from.x), from.y + share * (to.y - from.y), thickness,
          .distinct(index))
      }
    }
    for (index, point) in points.enumerated() {
      guard let point else { continue }
      dot(point.x, point.y, thickness + thickness / 2 + 1, .distinct(index))
    }
  }

  /// A square around a point.
  private mutating func dot(_ x: Double, _ y: Double, _ size: Int, _ color: Color) {
    guard abs(x) < 1e6, abs(y) < 1e6 else { return }
    let (left, top) = (Int(x.rounded()) - size / 2, Int(y.rounded()) - size / 2)
    fill(x: left..<left + size, y: top..<top + size, color)
  }
}
