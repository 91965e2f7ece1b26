import LibC
import TensorCore

package struct Color: Sendable, Equatable {
  package var red: UInt8
  package var green: UInt8
  package var blue: UInt8

  package init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
    (self.red, self.green, self.blue) = (red, green, blue)
  }

  /// A color from `hue`, `saturation` and `value`, each in 0…1; a hue of 1 equals a hue of 0.
  package init(hue: Double, saturation: Double, value: Double) {
    let sector = hue * 6
    func channel(_ shift: Double) -> UInt8 {
      let position = (shift + sector).truncatingRemainder(dividingBy: 6)
      let share = max(0, min(position, 4 - position, 1))
      return UInt8(max(0, min(255, (255 * value * (1 - saturation * share)).rounded())))
    }
    self.init(channel(5), channel(3), channel(1))
  }

  /// The color for an index, always the same: hues are the golden ratio apart, so that colors of
  /// nearby indices differ.
  package static func distinct(_ index: Int) -> Color {
    let hue = (0.02 + Double(index) * 0.618_033_988_749_895).truncatingRemainder(dividingBy: 1)
    return Color(hue: hue, saturation: 0.85, value: index % 2 == 0 ? 1 : 0.85)
  }

  /// Black or white, whichever has more contrast: white if WCAG 2's relative luminance is below
  /// 0.179. At that value both contrasts are 4.58.
  package var readableInk: Color {
    func linear(_ sample: UInt8) -> Double {
      let part = Double(sample) / 255
      return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
    }
    let luminance = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    return luminance < 0.179 ? Color(255, 255, 255) : Color(0, 0, 0)
  }
}

/// A color image to draw on. Anything outside it is clipped.
package struct Canvas: Sendable {
  package let width: Int
  package let height: Int
  private var samples: [UInt8]

  package init(_ image: Image) throws {
    let image = try image.rgb()
    width = image.width
    height = image.height
    samples = image.samples.array(of: UInt8.self)
  }

  /// A canvas of one color.
  package init(width: Int, height: Int, _ color: Color) throws {
    _ = try checkedProduct([width, height, 3], limit: Limits.imageSamples)
    (self.width, self.height) = (width, height)
    samples = [UInt8](repeating: 0, count: 3 * width * height)
    fill(x: 0..<width, y: 0..<height, color)
  }

  package var image: Image {
    Image(width: width, height: height, channelCount: 3, samples: Bytes(samples))
  }

  package mutating func fill(x: Range<Int>, y: Range<Int>, _ color: Color) {
    let columns = x.clamped(to: 0..<width)
    for row in y.clamped(to: 0..<height) {
      for column in columns {
        let at = 3 * (row * width + column)
        samples[at] = color.red
        samples[at + 1] = color.green
        samples[at + 2] = color.blue
      }
    }
  }

  /// Draws an image with its upper left corner at (`x`, `y`).
  package mutating func paste(_ image: Image, x: Int, y: Int) throws {
    let image = try image.rgb()
    image.samples.withUnsafeBytes { source in
      for row in 0..<image.height where (0..<height).contains(y + row) {
        for column in 0..<image.width where (0..<width).contains(x + column) {
          let (from, to) = (3 * (row * image.width + column), 3 * ((y + row) * width + x + column))
          for channel in 0..<3 { samples[to + channel] = source[from + channel] }
        }
      }
    }
  }

  /// Draws the outline of a rectangle, `thickness` pixels wide on the inside.
  package mutating func outline(x: Range<Int>, y: Range<Int>, thickness: Int, _ color: Color) {
    let across = min(thickness, x.count)
    let down = min(thickness, y.count)
    fill(x: x, y: y.lowerBound..<y.lowerBound + down, color)
    fill(x: x, y: y.upperBound - down..<y.upperBound, color)
    fill(x: x.lowerBound..<x.lowerBound + across, y: y, color)
    fill(x: x.upperBound - across..<x.upperBound, y: y, color)
  }

  /// The size of a line of text with `scale` pixels per font pixel, including a border of one font
  /// pixel.
  package static func textSize(_ text: String, scale: Int) -> (width: Int, height: Int) {
    let count = text.unicodeScalars.count
    return (scale * (count * BitmapFont.advance + 1), scale * (BitmapFont.height + 2))
  }

  /// Draws a line of text with a background and its upper left corner at (`x`, `y`).
  package mutating func text(
    _ text: String, x: Int, y: Int, scale: Int, ink: Color, ground: Color
  ) {
    let size = Self.textSize(text, scale: scale)
    fill(x: x..<x + size.width, y: y..<y + size.height, ground)
    for (index, scalar) in text.unicodeScalars.enumerated() {
      let left = x + scale * (1 + index * BitmapFont.advance)
      for (row, bits) in zip(0..., BitmapFont.glyph(scalar)) {
        for column in 0..<BitmapFont.width
        where bits >> UInt8(BitmapFont.width - 1 - column) & 1 == 1 {
          let (from, down) = (left + scale * column, y + scale * (row + 1))
          fill(x: from..<from + scale, y: down..<down + scale, ink)
        }
      }
    }
  }
}
