import Foundation
import Testing

@testable import Assay

@Suite struct LayerDocumentationTests {
  /// With `ASSAY_WRITE_DOCS` set, writes the pages instead; `make docs` does so.
  @Test(arguments: ["layers.md", "keras.md", "caffe.md"])
  func pageIsCurrent(_ name: String) throws {
    let page = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("docs/" + name)
    let markdown =
      switch name {
      case "keras.md": KerasDocumentation.markdown
      case "caffe.md": CaffeDocumentation.markdown
      default: LayerDocumentation.markdown
      }
    if ProcessInfo.processInfo.environment["ASSAY_WRITE_DOCS"] != nil {
      try markdown.write(to: page, atomically: true, encoding: .utf8)
    }
    let text = try String(contentsOf: page, encoding: .utf8)
    #expect(text == markdown, "docs/\(name) is old: run make docs")
  }
}
