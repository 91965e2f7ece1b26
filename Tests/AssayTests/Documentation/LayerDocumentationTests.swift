import Foundation
import TestSupport
import Testing

@Suite struct LayerDocumentationTests {
  private static func markdown(_ name: String) -> String {
    switch name {
    case "keras.md": KerasDocumentation.markdown
    case "caffe.md": CaffeDocumentation.markdown
    case "darknet.md": DarknetDocumentation.markdown
    default: LayerDocumentation.markdown
    }
  }

  /// With `ASSAY_WRITE_DOCS` set, writes the pages instead; `make docs` does so.
  @Test(arguments: ["layers.md", "keras.md", "caffe.md", "darknet.md"])
  func pageIsCurrent(_ name: String) throws {
    let page = URL(filePath: "\(packageRoot)/docs/\(name)")
    let markdown = Self.markdown(name)
    if ProcessInfo.processInfo.environment["ASSAY_WRITE_DOCS"] != nil {
      try markdown.write(to: page, atomically: true, encoding: .utf8)
    }
    let text = try String(contentsOf: page, encoding: .utf8)
    #expect(text == markdown, "docs/\(name) is old: run make docs")
  }
}
