import Foundation
import Testing

@testable import Assay

@Suite struct LayerDocumentationTests {
  /// With `ASSAY_WRITE_DOCS` set, writes the page instead; `make docs` does so.
  @Test func pageIsCurrent() throws {
    let page = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("docs/layers.md")
    if ProcessInfo.processInfo.environment["ASSAY_WRITE_DOCS"] != nil {
      try LayerDocumentation.markdown.write(to: page, atomically: true, encoding: .utf8)
    }
    let text = try String(contentsOf: page, encoding: .utf8)
    #expect(text == LayerDocumentation.markdown, "docs/layers.md is old: run make docs")
  }
}
