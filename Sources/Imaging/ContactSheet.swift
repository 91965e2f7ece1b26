/// Many images in one, in rows, with lines of text below each.
package enum ContactSheet {
  package struct Tile: Sendable {
    package var image: Image
    /// The lines of text; an overlong line loses its start.
    package var lines: [String]

    package init(_ image: Image, lines: [String]) {
      self.image = image
      self.lines = lines
    }
  }

  private static let ground = Color(24, 24, 24)
  private static let ink = Color(240, 240, 240)
  private static let edge = 8
  private static let scale = 2

  /// - Parameters:
  ///   - columns: the maximum number of columns.
  ///   - side: the side of the square into which each image is fitted, keeping its aspect ratio.
  /// - Throws: `.limitExceeded` if the sheet is too large.
  package static func image(of tiles: [Tile], columns: Int = 5, side: Int = 300) throws -> Image {
    let columns = max(1, min(columns, tiles.count))
    let rows = max(1, (tiles.count + columns - 1) / columns)
    let lineHeight = Canvas.textSize("", scale: scale).height
    let textHeight = (tiles.map(\.lines.count).max() ?? 0) * lineHeight
    let (width, height) = (side + edge, side + edge + textHeight)
    var canvas = try Canvas(width: columns * width + edge, height: rows * height + edge, ground)
    for (index, tile) in tiles.enumerated() {
      let x = edge + index % columns * width
      let y = edge + index / columns * height
      let isSmaller = max(tile.image.width, tile.image.height) < side
      let image = try tile.image.rgb().fitted(
        width: side, height: side, .fit, isSmaller ? .nearest : .bilinear)
      try canvas.paste(image, x: x, y: y)
      for (number, line) in tile.lines.enumerated() {
        canvas.text(
          cut(line, width: side), x: x, y: y + side + number * lineHeight, scale: scale, ink: ink,
          ground: ground)
      }
    }
    return canvas.image
  }

  private static func cut(_ line: String, width: Int) -> String {
    var line = line.unicodeScalars[...]
    guard Canvas.textSize(String(line), scale: scale).width > width else { return String(line) }
    while !line.isEmpty, Canvas.textSize("..." + String(line), scale: scale).width > width {
      line.removeFirst()
    }
    return "..." + String(line)
  }
}
