import Imaging
import TensorCore
import Testing

@testable import Detection

@Suite struct BoxDrawingTests {
  private func blank(_ width: Int, _ height: Int) throws -> Canvas {
    try Canvas(
      Image(
        width: width, height: height, channelCount: 1,
        samples: Bytes([UInt8](repeating: 50, count: width * height))))
  }

  private func pixel(_ image: Image, _ x: Int, _ y: Int) -> Color {
    let at = 3 * (y * image.width + x)
    let samples = image.samples.array(of: UInt8.self)
    return Color(samples[at], samples[at + 1], samples[at + 2])
  }

  @Test func edgesAndLabel() throws {
    var canvas = try blank(100, 80)
    let object = DetectedObject(
      box: Box(left: 20, top: 30, right: 60, bottom: 70), classIndex: 3, score: 0.9)
    canvas.draw([object]) { _ in "I" }
    let image = canvas.image
    let color = Color.distinct(3)
    for (x, y) in [(20, 30), (59, 30), (20, 69), (59, 69), (40, 30), (59, 50)] {
      #expect(pixel(image, x, y) == color)
    }
    for (x, y) in [(21, 31), (60, 50), (40, 50), (19, 69)] {
      #expect(pixel(image, x, y) == Color(50, 50, 50))
    }
    // The letter's box of 7 × 10 pixels is above the upper edge; the stem of the I is in its
    // middle.
    #expect(pixel(image, 20, 20) == color)
    #expect(pixel(image, 23, 25) == color.readableInk)
  }

  /// Boxes and labels that extend past the image, or are outside.
  @Test func atTheEdges() throws {
    var canvas = try blank(9, 7)
    let boxes = [
      Box(left: -5, top: -5, right: 50, bottom: 50), Box(left: 8.7, top: 6.6, right: 9, bottom: 7),
      Box(left: 20, top: 20, right: 30, bottom: 30), Box(left: 3, top: 3, right: 3, bottom: 3),
    ]
    canvas.draw(boxes.map { DetectedObject(box: $0, classIndex: 0, score: 1) }) { _ in
      "a label that is longer than the picture, ä and \u{1F600}"
    }
    #expect(canvas.image.width == 9 && canvas.image.height == 7)
  }

  @Test func theBestLiesOnTop() throws {
    let box = Box(left: 10, top: 30, right: 50, bottom: 70)
    let objects = [(1, 0.9), (2, 0.5)].map {
      DetectedObject(box: box, classIndex: $0.0, score: $0.1)
    }
    for order in [objects, objects.reversed()] {
      var canvas = try blank(100, 80)
      canvas.draw(order) { _ in "" }
      #expect(pixel(canvas.image, 30, 30) == Color.distinct(1))
    }
  }
}
