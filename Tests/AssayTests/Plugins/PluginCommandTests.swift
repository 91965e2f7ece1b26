import CoreMLModel
import Foundation
import LayerTemplates
import TestSupport
import Testing

@testable import Assay

/// `--plugin`, `plugin new` and `--swift-stubs` from the user's perspective.
@Suite struct PluginCommandTests {
  @Test func aPluginTakesThePlaceOfABuiltInClass() throws {
    let library = try PluginFixture.library("AccelerateLayers")
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try DemonstrationTests.converted(to: model)
      let arguments = [
        "diff", model, DemonstrationTests.picture, "--expected", DemonstrationTests.expected,
      ]
      let diff = try Command.run(arguments + ["--plugin", library])
      #expect(diff.code == 0, "\(diff.output)\(diff.errors)")
      let run = try Command.run(
        "run", model, DemonstrationTests.picture, "--plugin", library, "--verbose")
      #expect(run.code == 0 && run.errors.contains("\"engineName\": Swish"), "\(run.errors)")
      let bench = try Command.run("bench", model, "--plugin", library, "--runs", "1", "--steps")
      #expect(bench.code == 0, "\(bench.errors)")
      let missing = try Command.run(arguments + ["--plugin", folder + "/none.so"])
      #expect(missing.code == 66 && missing.errors.hasPrefix("error: \(folder)/none.so: "))
      let other = try Command.run(arguments + ["--plugin", DemonstrationTests.picture])
      #expect(other.code == 2 && other.errors.contains("is not a library"))
    }
  }

  @Test func aPackageForAModel() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try DemonstrationTests.converted(to: model)
      let result = try Command.run("plugin", "new", "Mine", "--for", model, "-o", folder + "/p")
      #expect(result.code == 0, "\(result.errors)")
      let text = try String(contentsOfFile: folder + "/p/Sources/Mine/Swish.swift", encoding: .utf8)
      #expect(text.contains("@objc(Swish)") && text.contains("vDSP_vdiv"))
      #expect(
        FileManager.default.fileExists(atPath: folder + "/p/Support/CoreML/MLMultiArray.swift"))
      let again = try Command.run("plugin", "new", "Mine", "--for", model, "-o", folder + "/p")
      #expect(again.code == 73 && again.errors.contains("exists already"))
      let name = try Command.run("plugin", "new", "a-b", "--for", model)
      #expect(name.code == 64, "\(name.errors)")
      try PluginFixture.typecheck(sourcesIn: folder + "/p/Sources/Mine")

      let stubs = try Command.run("inspect", model, "--swift-stubs", folder + "/app")
      #expect(stubs.code == 0, "\(stubs.errors)")
      let app = try String(contentsOfFile: folder + "/app/Swish.swift", encoding: .utf8)
      #expect(app == text)
      let kernel = try String(contentsOfFile: folder + "/app/Swish.metal", encoding: .utf8)
      #expect(kernel.contains("const float4 x = float4(input.read(uint2(gid.xy), gid.z));"))
      #expect(try Command.run("inspect", model, "--swift-stubs", folder + "/app").code == 73)
    }
  }

  /// Whatever the names in a model, its generated classes are valid Swift.
  @Test func hostileNames() throws {
    let names = [
      "", "class", "Swish", "Swish", "a b", "9lives", "}\nfatalError()\n//", "\"\\(evil())",
      "NSObject",
      "Float", "*/ import X /*", "Käse", "\u{2028}let", "Plugin", "é", "ê",
    ]
    let layers = names.enumerated().map { index, name in
      var custom = Custom()
      custom.className = name
      custom.classDescription = "text\n} \(name) \\(x)"
      custom.parameters = [
        name: .double(0.5), "self": .int(3), "weights": .string(name), "init": .bool(true),
        "a-b": .long(4), "a_b": .double(5), "mixed": index % 2 == 0 ? .int(1) : .string("1"),
        "description": .double(1), "Data": .int(1), "zip": .double(2), "unset": nil,
      ]
      if index % 2 == 0 { custom.blobs = [Weights([1, 2])] }
      if index % 3 == 0 {
        var half = Weights()
        half.float16Value = .init([0x3c00] as [UInt16])
        custom.blobs.append(half)
      }
      return LayerClass.Layer(
        name: name + "\n\(index)", custom: custom,
        inputShapes: Array(repeating: [1, 1, 2, 3, 4], count: index % 3),
        outputShapes: Array(repeating: nil, count: 1 + index % 2))
    }
    let package = try PluginPackage(name: "Mine", classes: LayerClass.classes(of: layers))
    try withTemporaryFolder { folder in
      try package.write(to: folder + "/p")
      try PluginFixture.typecheck(sourcesIn: folder + "/p/Sources/Mine")
    }
  }

  /// An unfinished class is not mistaken for a layer that copies its input.
  @Test func unfinishedClassesThrow() throws {
    var custom = Custom()
    custom.className = "Mystery"
    let layer = LayerClass.Layer(
      name: "m", custom: custom, inputShapes: [[1, 1, 2, 3, 4]], outputShapes: [nil])
    let package = try PluginPackage(name: "Mine", classes: LayerClass.classes(of: [layer]))
    let file = try #require(package.files.first { $0.path.hasSuffix("/Mystery.swift") })
    let text = String(decoding: file.bytes, as: UTF8.self)
    for method in ["outputShapes(forInputShapes:)", "evaluate(inputs:outputs:)"] {
      #expect(text.contains("throw Fault.unfinished(\"\(method)\")"), "\(text)")
    }
    #expect(!text.contains("vDSP_mmov") && !text.contains("Metal"), "\(text)")
  }

  @Test func aModelWithoutCustomLayersNeedsNoPackage() throws {
    try withTemporaryFolder { folder in
      let network = packageRoot + "/Fixtures/networks/keras3-sequential.h5"
      let result = try Command.run("plugin", "new", "Mine", "--for", network, "-o", folder + "/p")
      #expect(result.code == 2 && result.errors.contains("no custom layers"), "\(result.errors)")
    }
  }
}

extension PluginFixture {
  /// Type-checks sources against the modules of the built fixture.
  static func typecheck(sourcesIn folder: String) throws {
    _ = try library("AccelerateLayers")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    try run(
      "swiftc",
      [
        "-typecheck", "-swift-version", "5", "-module-name", "Mine", "-I",
        scratch + "/release/Modules", "-I",
        packageRoot + "/Sources/PluginSupport/Support/CAssayPlugin/include", "-I",
        packageRoot + "/Sources/PluginSupport/Support/Accelerate",
      ] + files.map { folder + "/" + $0 })
  }
}
