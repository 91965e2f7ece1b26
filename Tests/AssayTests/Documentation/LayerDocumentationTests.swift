import Foundation
import TestSupport
import Testing

@testable import KerasImport

@Suite struct LayerDocumentationTests {
  private static func markdown(_ name: String) -> String {
    switch name {
    case "keras.md": KerasDocumentation.markdown
    case "caffe.md": CaffeDocumentation.markdown
    case "darknet.md": DarknetDocumentation.markdown
    case "programs.md": ProgramDocumentation.markdown
    default: LayerDocumentation.markdown
    }
  }

  /// With `ASSAY_WRITE_DOCS` set, as in `make docs`, writes the pages instead.
  @Test(arguments: ["layers.md", "keras.md", "caffe.md", "darknet.md", "programs.md"])
  func pageIsCurrent(_ name: String) throws {
    let page = URL(filePath: "\(packageRoot)/docs/\(name)")
    let markdown = Self.markdown(name)
    if ProcessInfo.processInfo.environment["ASSAY_WRITE_DOCS"] != nil {
      try markdown.write(to: page, atomically: true, encoding: .utf8)
    }
    let text = try String(contentsOf: page, encoding: .utf8)
    #expect(text == markdown, "docs/\(name) is old: run make docs")
  }

  @Test func functionsOfKerasTableAreConverted() {
    let version = KerasVersion(text: "3.0.0", backend: nil)
    for name in KerasDocumentation.functions.flatMap({ $0.names }) {
      #expect(KerasActivation(name, version: version) != nil, "\(name)")
    }
  }
}
