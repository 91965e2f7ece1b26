import Foundation
import Imaging
import TensorCore
import Testing

@Suite struct CanvasTests {
  /// An F of 5 × 8 pixels at twice the size, with its border.
  @Test func letters() throws {
    var canvas = try Canvas(
      Image(
        width: 20, height: 24, channelCount: 3, samples: Bytes([UInt8](repeating: 9, count: 1440))))
    canvas.text(
      "F", x: 2, y: 2, scale: 2, ink: Color(255, 255, 255), ground: Color(0, 0, 0))
    let samples = canvas.image.samples.array(of: UInt8.self)
    let shown = (0..<24).map { y in
      String((0..<20).map { x in samples[3 * (y * 20 + x)] > 128 ? "#" : "." })
    }
    let letter = ["#####", "#....", "#....", "####.", "#....", "#....", "#....", "....."]
    for (row, line) in letter.enumerated() {
      for (column, character) in line.enumerated() {
        for (right, down) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
          let text = shown[4 + 2 * row + down]
          let place = text.index(text.startIndex, offsetBy: 4 + 2 * column + right)
          #expect(text[place] == character)
        }
      }
    }
    #expect(Canvas.textSize("F", scale: 2) == (14, 20))
    #expect(samples[3 * (2 * 20 + 2)] == 0 && samples[0] == 9)
  }

  /// Every label is readable on its color: a contrast of at least 4.5 (WCAG 2.1, 1.4.3).
  @Test func contrast() {
    func luminance(_ color: Color) -> Double {
      func linear(_ sample: UInt8) -> Double {
        let part = Double(sample) / 255
        return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
      }
      let (red, green, blue) = (linear(color.red), linear(color.green), linear(color.blue))
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
    for index in 0..<100 {
      let color = Color.distinct(index)
      let (a, b) = (luminance(color), luminance(color.readableInk))
      #expect((max(a, b) + 0.05) / (min(a, b) + 0.05) >= 4.5, "\(index) \(color)")
    }
  }

  @Test func coloursOfHues() {
    #expect(Color(hue: 0, saturation: 1, value: 1) == Color(255, 0, 0))
    #expect(Color(hue: 1.0 / 3, saturation: 1, value: 1) == Color(0, 255, 0))
    #expect(Color(hue: 0.5, saturation: 0.5, value: 1) == Color(128, 255, 255))
    #expect(Set((0..<20).map { "\(Color.distinct($0))" }).count == 20)
  }
}
