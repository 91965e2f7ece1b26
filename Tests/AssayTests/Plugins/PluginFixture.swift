import CustomLayers
import Foundation
import TestSupport

@testable import Engine

/// The plug-ins in `Fixtures/plugins`, built on first use.
enum PluginFixture {
  static let folder = packageRoot + "/Fixtures/plugins"
  static let scratch = packageRoot + "/.build/plugins/Package"

  struct BuildFailure: Error {
    let output: String
  }

  private static let layers = Result<Void, any Error> {
    try run(
      "swift",
      ["build", "-c", "release", "--package-path", folder + "/Layers", "--scratch-path", scratch])
  }

  /// The path of `AccelerateLayers` or `LoopLayers`.
  static func library(_ name: String) throws -> String {
    try layers.get()
    #if os(Linux)
      return "\(scratch)/release/lib\(name).so"
    #else
      return "\(scratch)/release/lib\(name).dylib"
    #endif
  }

  static func registry(_ path: String) throws -> CustomLayerRegistry {
    var registry = CustomLayerRegistry()
    try PluginLibrary(path: path).register(in: &registry)
    return registry
  }

  /// The plug-in in C, with or without a mistake.
  static func compiled(in folder: String, mistake: String? = nil) throws -> String {
    let path = "\(folder)/\(mistake ?? "sums").so"
    try run(
      "clang",
      ["-shared", "-fPIC", "-I\(packageRoot)/Sources/CAssayPlugin"]
        + (mistake.map { ["-DMISTAKE=\($0)"] } ?? [])
        + ["-o", path, Self.folder + "/c/sums.c", "-lm"])
    return path
  }

  /// Runs a program from `PATH`.
  static func run(_ program: String, _ arguments: [String]) throws {
    let result = try Program("/usr/bin/env").run([program] + arguments)
    guard result.code == 0 else { throw BuildFailure(output: result.output + result.errors) }
  }
}
