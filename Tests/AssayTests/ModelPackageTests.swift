import ByteFormats
import CoreMLModel
import Foundation
import TensorCore
import TestSupport
import Testing

/// Core ML packages of neural networks, laid out as Apple's `ModelPackage.cpp` does.
@Suite struct ModelPackageTests {
  private static let caffe = Fixtures("caffe")

  private static func manifest(_ path: String = "com.apple.CoreML/model.mlmodel") -> String {
    """
    {"fileFormatVersion": "1.0.0", "rootModelIdentifier": "B", "itemInfoEntries": {
      "A": {"author": "com.apple.CoreML", "name": "weights", "path": "com.apple.CoreML/weights"},
      "B": {"author": "com.apple.CoreML", "name": "model.mlmodel", "path": "\(path)"}}}
    """
  }

  /// Passes a folder with a model, and a package of it.
  private func withPackage(_ body: (_ folder: String, _ package: String) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let package = folder + "/net.mlpackage"
      let inside = package + "/Data/com.apple.CoreML"
      try FileManager.default.createDirectory(atPath: inside, withIntermediateDirectories: true)
      try Command.run(
        "convert", Self.caffe.path("v2.prototxt"), Self.caffe.path("single.caffemodel"), "-o",
        inside + "/model.mlmodel")
      try writeFile(Array(Self.manifest().utf8), to: package + "/Manifest.json")
      try body(folder, package)
    }
  }

  private func zip(_ members: [(String, [UInt8])], to path: String, deflated: Bool = true) throws {
    var bytes: [UInt8] = []
    var writer = ZipWriter { bytes += $0 }
    for (name, content) in members {
      try content.withUnsafeBytes { try writer.add(name, [$0], deflated: deflated) }
    }
    try writer.finish()
    try writeFile(bytes, to: path)
  }

  @Test func everyCommandReadsFoldersAndArchives() throws {
    try withPackage { folder, package in
      let model = try fileBytes(package + "/Data/com.apple.CoreML/model.mlmodel")
      let (archive, flat) = (folder + "/net.zip", folder + "/flat.mlpackage")
      let members = [
        ("Manifest.json", Array(Self.manifest().utf8)),
        ("Data/com.apple.CoreML/model.mlmodel", model),
      ]
      // Archives as the Finder makes them, and as made inside the folder.
      try zip(
        members.map { ("net.mlpackage/" + $0.0, $0.1) } + [("__MACOSX/._Manifest.json", [1])],
        to: archive)
      try zip(members, to: flat, deflated: false)
      let input = Self.caffe.path("input.npy")
      for path in [package, package + "/", archive, flat] {
        let out = ["-o", folder + "/out.mlmodel"]
        for command in [
          ["diff", path, input, "--expected", Self.caffe.path("expected.npy")],
          ["run", path, input], ["inspect", path], ["check", path], ["bench", path, "--runs", "1"],
          ["edit", path, "--author", "A"] + out, ["compress", path, "--bits", "8"] + out,
          ["diff", path, package],
        ] {
          let result = try Command.run(command)
          #expect(result.code == 0, "\(command): \(result.errors)")
        }
        let converted = try Command.run(["convert", path] + out)
        #expect(converted.code == 2 && converted.errors.contains("already a Core ML model"))
      }
      // As an input, the package is named in the error.
      let run = try Command.run("run", package, archive)
      #expect(run.code == 2 && run.errors.contains("a Core ML package"), "\(run.errors)")
    }
  }

  @Test func hostilePackagesAreRefused() throws {
    try withPackage { folder, package in
      func refused(_ path: String, _ text: String) throws {
        let result = try Command.run("inspect", path)
        #expect(result.code == 2 && result.output.isEmpty, "\(text): \(result.errors)")
        #expect(result.errors.isError(of: path), "\(text): \(result.errors)")
        #expect(result.errors.contains(text), "\(text): \(result.errors)")
      }
      let inside = package + "/Data/com.apple.CoreML/model.mlmodel"
      let model = try fileBytes(inside)
      let outside = folder + "/outside.mlmodel"
      try writeFile(model, to: outside)
      for (manifest, text) in [
        (Self.manifest("../../outside.mlmodel"), "leads outside the package"),
        (Self.manifest(outside), "leads outside the package"),
        (Self.manifest(""), "leads outside the package"),
        (Self.manifest("nowhere"), "has no"), ("{}", "names no model"),
        (#"{"rootModelIdentifier": "B", "itemInfoEntries": []}"#, "names no model"),
        ("{", "Manifest.json: not JSON"),
      ] {
        try writeFile(Array(manifest.utf8), to: package + "/Manifest.json")
        try refused(package, text)
        try zip(
          [("Manifest.json", Array(manifest.utf8)), ("Data/x", model)], to: folder + "/z.mlpackage")
        try refused(folder + "/z.mlpackage", text)
      }
      try writeFile(Array(Self.manifest().utf8), to: package + "/Manifest.json")
      removeFile(inside)
      try FileManager.default.createSymbolicLink(atPath: inside, withDestinationPath: outside)
      try refused(package, "is or passes a symbolic link")
      // A link to another file of the package is also a link.
      try writeFile(model, to: package + "/Data/other.mlmodel")
      removeFile(inside)
      try FileManager.default.createSymbolicLink(
        atPath: inside, withDestinationPath: "../other.mlmodel")
      try refused(package, "is or passes a symbolic link")
      removeFile(inside)
      try refused(package, "has no file 'Data/com.apple.CoreML/model.mlmodel'")
      try FileManager.default.createDirectory(atPath: inside, withIntermediateDirectories: true)
      try refused(package, "has no file 'Data/com.apple.CoreML/model.mlmodel'")
      removeFile(inside)
      try writeFile(Self.caffe.bytes("single.caffemodel"), to: inside)
      try refused(package, "is a .caffemodel, not a Core ML model")
      // The content is a thousand times as large as its archive.
      try zip(
        [
          ("Manifest.json", Array(Self.manifest().utf8)),
          ("Data/com.apple.CoreML/model.mlmodel", [UInt8](repeating: 0, count: 100 << 20)),
        ], to: folder + "/z.mlpackage")
      try refused(folder + "/z.mlpackage", "expands to")
    }
  }

  /// For a folder without a manifest, the model is named; about an empty one nothing is known.
  @Test func aManifestIsNeeded() throws {
    try withPackage { _, package in
      removeFile(package + "/Manifest.json")
      let result = try Command.run("inspect", package)
      #expect(result.code == 2 && result.errors.contains("without its Manifest.json"))
      #expect(result.errors.contains("Data/com.apple.CoreML/model.mlmodel"), "\(result.errors)")
    }
  }

  /// A model without a network has nothing to compress, and is refused instead of copied.
  @Test func onlyNetworksAndProgramsAreCompressed() throws {
    try withTemporaryFolder { folder in
      let out = folder + "/out.mlmodel"
      let result = try Command.run(
        "compress", Fixtures("feature-models/suppression").path("model.mlmodel"), "--bits", "8",
        "-o",
        out)
      #expect(result.code == 2)
      #expect(result.errors.contains("no neural network to compress"), "\(result.errors)")
      #expect(!fileExists(out))
    }
  }

  /// Every function keeps its interface: `triple` is 3x for six values, `square` x² for four.
  @Test(
    arguments: [
      ("triple", [2, 3], [0, 3, 6, 9, 12, 15]), ("square", [4], [0, 1, 4, 9]),
    ] as [(String, [Int], [Float])])
  func compressedProgramsKeepTheirFunctions(
    _ function: String, _ shape: [Int], _ expected: [Float]
  ) throws {
    try withTemporaryFolder { folder in
      let (package, input, output) = (folder + "/c.mlpackage", folder + "/x.npz", folder + "/y.npz")
      let compressed = try Command.run(
        "compress", Fixtures("programs").path("functions.mlpackage"), "--bits", "8", "-o", package)
      #expect(compressed.code == 0, "\(compressed.errors)")
      let tensor = Tensor(shape: shape, expected.indices.map { Float($0) })
      try ArraySet([NamedArray(tensor, name: "x", type: .float32)]).write(to: input)
      let result = try Command.run("run", package, input, "-o", output, "--function", function)
      #expect(result.code == 0, "\(result.errors)")
      #expect(try ArraySet.read(output).arrays[0].tensor.elements == expected)
    }
  }

  /// Apple's validator accepts suppression with types other than double from version 5 on.
  @Test func typesOfBoxesNeedAVersion() throws {
    try withTemporaryFolder { folder in
      let out = folder + "/out.mlmodel"
      let result = try Command.run(
        "edit", Fixtures("feature-models").path("suppression/model.mlmodel"), "--array-type",
        "float32", "-o", out)
      #expect(result.code == 0, "\(result.errors)")
      #expect(try Model(contentsOf: out).specificationVersion == 5)
    }
  }

  /// A program's weights are in other files, and its operations are not read here.
  @Test(.shared("corpus/programs")) func programsRunAndAreNotChanged() throws {
    let package = Shared.path("corpus/programs/conv_ios15_fp32/model.mlpackage")
    try withTemporaryFolder { folder in
      let out = ["-o", folder + "/out.mlmodel"]
      for command in [
        ["convert", package] + out, ["edit", package, "--author", "A"] + out,
        ["compress", package, "--bits", "8"] + out,
      ] {
        let result = try Command.run(command)
        #expect(result.code == 2, "\(command): \(result.code)")
        #expect(!fileExists(folder + "/out.mlmodel"), "\(command)")
      }
      for command in [
        ["bench", package, "--runs", "1"], ["check", package], ["diff", package, package],
      ] {
        let result = try Command.run(command)
        #expect(result.code == 0, "\(command): \(result.errors)")
      }
    }
  }
}
