import ByteFormats
import Imaging

extension Report {
  /// Adds images side by side, embedded as PNG.
  package mutating func add(_ heading: String, images: [(caption: String, image: Image)]) throws {
    let figures = try images.map { caption, image -> HTML in
      let data = Base64.encode(try image.pngData())
      return """
        <figure><img alt="\(caption)" width="\(image.width)" height="\(image.height)" \
        src="data:image/png;base64,\(data)"><figcaption>\(caption), \(image.width) × \
        \(image.height)</figcaption></figure>
        """
    }
    if !figures.isEmpty { add(heading, figures.lines()) }
  }
}
