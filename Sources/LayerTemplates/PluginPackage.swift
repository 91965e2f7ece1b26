import CoreMLModel
import PluginSupport
import TensorCore

/// A Swift package with the classes that a model needs. It builds a plug-in with nothing but a
/// Swift compiler, since it includes modules that replace Apple's frameworks on Linux.
package struct PluginPackage: Sendable {
  package struct File: Sendable {
    /// The path in the package.
    package let path: String
    package let bytes: [UInt8]
  }

  package let name: String
  package let classes: [LayerClass]

  /// - Throws: `.usage` if `name` is not a valid name of a Swift module.
  package init(name: String, classes: [LayerClass]) throws {
    try require(
      SwiftNames.isIdentifier(name) && !SwiftNames.types.contains(name) && name.count <= 100,
      .usage, "'\(name)' cannot be the name of a Swift module",
      hint: "use letters, digits and _, as in MyLayers")
    try require(
      !classes.isEmpty, .unsupported, "the model has no custom layers",
      hint: "list a model's custom layers with `assay inspect`")
    self.name = name
    self.classes = classes
  }

  package var files: [File] {
    var files = Self.support
    func add(_ path: String, _ text: String) {
      files.append(File(path: path, bytes: Array(text.utf8)))
    }
    add("Package.swift", manifest)
    add(".gitignore", ".build/\n")
    add("README.md", readme)
    add("Sources/\(name)/Entry.swift", entry)
    for layerClass in classes {
      add("Sources/\(name)/\(layerClass.typeName).swift", ClassText(layerClass).text)
    }
    for file in LayerFiles.used(by: classes.map { ClassText($0).text }) {
      files.append(File(path: "Sources/\(name)/\(file.path)", bytes: file.bytes))
    }
    add("Tests/\(name)Tests/LayerTests.swift", TestText(package: self).text)
    for (file, text) in ExpectedValues.files(for: classes) {
      add("Tests/\(name)Tests/Expected/\(file)", text)
    }
    return files
  }

  /// The embedded files that every package contains.
  static var support: [File] {
    guard let files = plugin_support_files() else { return [] }
    return (0..<plugin_support_count()).map { index in
      let file = files[index]
      return File(
        path: String(cString: file.path),
        bytes: Array(UnsafeBufferPointer(start: file.bytes, count: file.byte_count)))
    }
  }
}

extension PluginPackage {
  private var manifest: String {
    """
    // swift-tools-version: 6.0
    import PackageDescription

    // On Linux, modules with the names of Apple's frameworks provide what custom layers need.
    #if os(Linux)
      let frameworks: [Target] = [
        .target(name: "CoreML", path: "Support/CoreML"),
        .systemLibrary(name: "Accelerate", path: "Support/Accelerate"),
      ]
      let frameworkModules: [Target.Dependency] = ["CoreML", "Accelerate"]
    #else
      let frameworks: [Target] = []
      let frameworkModules: [Target.Dependency] = []
    #endif

    let package = Package(
      name: "\(name)",
      products: [.library(name: "\(name)", type: .dynamic, targets: ["\(name)"])],
      targets: [
        .target(name: "CAssayPlugin", path: "Support/CAssayPlugin"),
        .target(
          name: "AssayPlugin", dependencies: ["CAssayPlugin"] + frameworkModules,
          path: "Support/AssayPlugin"),
        .target(name: "\(name)", dependencies: ["AssayPlugin", "CAssayPlugin"] + frameworkModules),
        .testTarget(
          name: "\(name)Tests", dependencies: ["\(name)"] + frameworkModules,
          exclude: ["Expected"]),
      ] + frameworks,
      swiftLanguageModes: [.v5]
    )

    """
  }

  private var entry: String {
    let classes = classes.map {
      "  (\(SwiftNames.literal($0.name)), \($0.typeName).self),"
    }
    return """
      import AssayPlugin
      import CAssayPlugin

      /// The classes, under the names that models use for them.
      let classes: [Plugin.Class] = [
      \(classes.joined(separator: "\n"))
      ]

      @_cdecl("assay_plugin_entry")
      public func entry(
        _ version: UInt32, _ host: UnsafePointer<assay_host>?
      ) -> UnsafePointer<assay_plugin>? {
        Plugin.table(version, host, classes)
      }

      """
  }

  private var readme: String {
    let open = classes.filter { if case .none = Formula($0) { true } else { false } }
    let task =
      open.isEmpty
      ? "Every class computes what its name says; change it if your layer differs."
      : "To write: "
        + open.map { "`Sources/\(name)/\($0.typeName).swift`" }.joined(separator: ", ") + "."
    return """
      # \(name)

      Custom layers for a Core ML model, as a plug-in of Assay and for an app.

          swift build -c release
          assay run MODEL.mlmodel INPUT --plugin .build/release/lib\(name).so

      On macOS the library ends in `.dylib`. \(task)

      `swift test` compares the classes with the arrays in `Tests/\(name)Tests/Expected`, a JSON file
      per layer: the class, its parameters and weights, inputs and outputs.

      The files in `Sources/\(name)`, without `Entry.swift`, are the ones for the app: on Apple's systems
      they use the real frameworks, elsewhere the modules under `Support`.

      """
  }
}
