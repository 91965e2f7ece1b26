import Imaging

extension Canvas {
  /// Draws the outline of each box, in pixels, with `label` above it; the best object is on top.
  ///
  /// Lines are 1/200 of the image's shorter side thick, font pixels 1/250 of it, both at least one
  /// pixel. A label without room above its box is drawn inside.
  package mutating func draw(_ objects: [DetectedObject], label: (DetectedObject) -> String) {
    let side = min(width, height)
    let thickness = max(1, (side + 100) / 200)
    let scale = max(1, (side + 125) / 250)
    for object in objects.sorted(by: { $0.score < $1.score }) {
      guard let box = object.box.clipped(width: Double(width), height: Double(height)) else {
        continue
      }
      let color = Color.distinct(object.classIndex)
      let left = min(Int(box.left.rounded()), width - 1)
      let top = min(Int(box.top.rounded()), height - 1)
      let right = max(left + 1, Int(box.right.rounded()))
      let bottom = max(top + 1, Int(box.bottom.rounded()))
      outline(x: left..<right, y: top..<bottom, thickness: thickness, color)
      let text = label(object)
      let size = Canvas.textSize(text, scale: scale)
      self.text(
        text, x: max(0, min(left, width - size.width)),
        y: top >= size.height ? top - size.height : top, scale: scale, ink: color.readableInk,
        ground: color)
    }
  }
}
