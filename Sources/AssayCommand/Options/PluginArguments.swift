/// Libraries with custom layers.
struct PluginArguments: ParsableArguments {
  @Option(
    name: .customLong("plugin"),
    help: .advanced(
      "Load custom layers from a library made with assay plugin new; repeatable. Its classes "
        + "replace built-in ones of the same name.", "FILE"),
    completion: .file(extensions: ["so", "dylib"]))
  var files: [String] = []

  /// The built-in layers and those of the libraries.
  func customLayers() throws -> CustomLayerRegistry {
    var registry = CustomLayerRegistry()
    for file in files { try PluginLibrary(path: file).register(in: &registry) }
    return registry
  }
}
