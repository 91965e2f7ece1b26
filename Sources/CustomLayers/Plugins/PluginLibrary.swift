import CAssayPlugin
import CSystem
import Kernels
import LibC
import TensorCore

/// A library with custom layers, which stays loaded while the process runs; see `assay_plugin.h`.
package struct PluginLibrary: Sendable {
  package let path: String
  package let classNames: [String]
  // `unsafe`: the library never changes its table, and is never unloaded.
  nonisolated(unsafe) private let plugin: UnsafePointer<assay_plugin>

  /// Loads the library; on Linux, first in a child process, so that a crash does not affect this
  /// one.
  ///
  /// - Throws: `.missingFile`, and `.unsupported` if it is not a plug-in for this program.
  package init(path: String) throws {
    _ = try InstructionSet.selected()
    do {
      try LibraryFile.check(path)
      #if os(Linux)
        try Self.rehearse(path)
      #endif
      let plugin = try Self.load(path)
      classNames = try Self.classNames(of: plugin.pointee)
      self.plugin = plugin
      self.path = path
    } catch let error as ModelError {
      throw error.inFile(path)
    }
  }

  /// Adds the library's classes, replacing classes with the same names.
  package func register(in registry: inout CustomLayerRegistry) {
    for (index, name) in classNames.enumerated() {
      registry.register(name, plugin: path) { parameters in
        try PluginLayer(plugin, classIndex: index, parameters: parameters)
      }
    }
  }
}

// MARK: - Loading

extension PluginLibrary {
  /// Maximum number of seconds for loading.
  private static let patience: UInt32 = 30

  private static let entryName = "assay_plugin_entry"

  /// A plug-in that contains a Swift runtime uses that one.
  private static var mode: Int32 { RTLD_NOW | RTLD_LOCAL | assay_deep_binding() }

  /// Without a slash the loader would look for the file elsewhere.
  private static func location(_ path: String) -> String { path.contains("/") ? path : "./" + path }

  private static func load(_ path: String) throws -> UnsafePointer<assay_plugin> {
    guard let handle = dlopen(location(path), mode) else {
      let reason = dlerror().map { String(cString: $0) } ?? "for no given reason"
      throw ModelError(
        .unsupported, "the plug-in cannot be loaded: \(reason)",
        hint: "build it on this system, with `swift build -c release` in its package")
    }
    guard let symbol = dlsym(handle, entryName) else {
      throw ModelError(
        .unsupported, "the library is not a plug-in: it lacks the function \(entryName)",
        hint: "write a package with `assay plugin new`")
    }
    typealias Entry =
      @convention(c) (UInt32, UnsafePointer<assay_host>?) -> UnsafePointer<assay_plugin>?
    let entry = unsafeBitCast(symbol, to: Entry.self)
    let version = UInt32(ASSAY_PLUGIN_VERSION)
    guard let plugin = entry(version, HostFunctions.table) else {
      throw ModelError(
        .unsupported, "the plug-in does not work with version \(version) of the interface",
        hint: "write its package again with this program's `assay plugin new`")
    }
    try require(
      plugin.pointee.magic == 0x474c_5059_4153_5341, .unsupported,
      "the library is not a plug-in: its table does not start like one",
      hint: "magic must be ASSAY_PLUGIN_MAGIC")
    try require(
      plugin.pointee.version == version, .unsupported,
      "the plug-in uses version \(plugin.pointee.version) of the interface; this program uses "
        + "version \(version)",
      hint: "write its package again with this program's `assay plugin new`")
    return plugin
  }

  private static func classNames(of plugin: assay_plugin) throws -> [String] {
    guard plugin.create != nil, plugin.output_shapes != nil, plugin.evaluate != nil,
      let names = plugin.class_names, plugin.class_count > 0
    else { throw ModelError(.unsupported, "the plug-in has no classes, or lacks a function") }
    try require(
      plugin.class_count <= Limits.layers, .unsupported,
      "the plug-in declares \(plugin.class_count) classes")
    return try (0..<Int(plugin.class_count)).map { index in
      guard let name = names[index], strnlen(name, Limits.nameBytes) > 0 else {
        throw ModelError(.unsupported, "the plug-in's class \(index) has no name")
      }
      return String(cString: name)
    }
  }

  /// Loads the library in a child process. Failures other than crashes are left to `load`.
  private static func rehearse(_ path: String) throws {
    var output = [CChar](repeating: 0, count: 4096)
    let status = assay_rehearse_loading(
      location(path), mode, entryName, UInt32(ASSAY_PLUGIN_VERSION), HostFunctions.table, patience,
      &output, output.count)
    guard status != 0 else { return }
    let signal = status & 0x7f
    let said =
      String(
        decoding: output.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self
      ).split(separator: "\n").first.map { ": \($0)" } ?? ""
    if status == -1 || signal == 0 {
      throw ModelError(.unsupported, "the plug-in ended the process while it was loaded" + said)
    }
    if signal == SIGALRM {
      throw ModelError(.unsupported, "the plug-in was not loaded after \(patience) seconds" + said)
    }
    throw ModelError(
      .unsupported,
      "the plug-in crashed while it was loaded (\(Self.name(of: signal)))" + said,
      hint: "check what runs when it is loaded: global variables, constructors and "
        + "assay_plugin_entry")
  }

  private static func name(of signal: Int32) -> String {
    switch signal {
    case SIGSEGV: "SIGSEGV"
    case SIGBUS: "SIGBUS"
    case SIGILL: "SIGILL"
    case SIGTRAP: "SIGTRAP"
    case SIGABRT: "SIGABRT"
    case SIGFPE: "SIGFPE"
    default: "signal \(signal)"
    }
  }
}
