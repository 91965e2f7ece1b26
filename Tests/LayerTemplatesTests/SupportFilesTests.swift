import Foundation
import TestSupport
import Testing

@testable import LayerTemplates

/// The files embedded in the program equal those in the sources.
@Suite struct SupportFilesTests {
  @Test func everyFileIsInTheProgram() throws {
    let root = packageRoot + "/Sources/PluginSupport/"
    let found = try FileManager.default.subpathsOfDirectory(atPath: root + "Support")
      .filter { $0.contains(".") }.map { "Support/" + $0 }
    let embedded = PluginPackage.support
    #expect(Set(embedded.map(\.path)) == Set(found))
    for file in embedded {
      #expect(
        FileManager.default.contents(atPath: root + file.path) == Data(file.bytes), "\(file.path)")
    }
  }

  @Test func everyLayerFileIsInTheProgram() throws {
    let folders = ["Sources/PluginSupport/Layers/", "Sources/CustomLayers/Shared/"]
    var found: [String: String] = [:]
    for folder in folders.map({ packageRoot + "/" + $0 }) {
      for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
        found[file] = try String(contentsOfFile: folder + file, encoding: .utf8)
      }
    }
    func files(_ ending: String) -> [String: String] {
      Dictionary(
        uniqueKeysWithValues: found.filter { $0.key.hasSuffix(ending) }.map {
          (String($0.key.dropLast(ending.count)), $0.value)
        })
    }
    #expect(LayerFiles.texts == files(".swift"), "run Sources/PluginSupport/embed.sh")
    #expect(LayerFiles.kernels == files(".metal"), "run Sources/PluginSupport/embed.sh")
  }
}
