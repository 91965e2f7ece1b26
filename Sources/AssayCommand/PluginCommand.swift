struct PluginCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plugin",
    abstract: "Scaffolds a library of custom layers, or lists the available classes.",
    discussion: """
      EXAMPLES:
        assay plugin list
        assay plugin new MyLayers --for model.mlmodel
        assay run model.mlmodel cat.png --plugin ./libMyLayers.so
      """, subcommands: [New.self, List.self])

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "Lists the available custom layer classes.",
      discussion: """
        EXAMPLES:
          assay plugin list
          assay plugin list --plugin ./libMyLayers.so
          assay run model.mlmodel cat.png --plugin ./libMyLayers.so

        docs/layers.md describes their parameters and weights.
        """)

    @OptionGroup var plugins: PluginArguments

    @Flag(help: "Print JSON.") var json = false

    @OptionGroup var global: GlobalOptions

    func run() throws {
      global.apply()
      let registry = try plugins.customLayers()
      if json { return Console.print(Self.json(registry).text) }
      var table = TextTable(["class", "computes"])
      for type in builtInCustomLayers where registry.plugins[type.className] == nil {
        let formula = Self.plain(type.notes.formula)
        for (index, name) in ([type.className] + type.otherNames).enumerated() {
          table.add([name, index == 0 ? formula : "the same as \(type.className)"])
        }
      }
      for (name, file) in registry.plugins.sorted(by: { $0.key < $1.key }) {
        table.add([name, "from \(file)"])
      }
      Console.write(table.text)
    }

    /// The text without Markdown, which is for the page of layers.
    private static func plain(_ text: String) -> String {
      text.filter { $0 != "`" }.replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.output.1 }
    }

    private static func json(_ registry: CustomLayerRegistry) -> JSONText {
      func entry(
        _ name: String, otherNames: [String] = [], _ notes: CustomLayerNotes? = nil,
        plugin: String? = nil
      ) -> JSONText {
        [
          "class": name, "otherNames": otherNames, "computes": notes.map { plain($0.formula) },
          "parameters": notes?.parameters.map(plain) ?? [],
          "weights": notes.map { plain($0.weights) }, "plugin": plugin,
        ]
      }
      let builtIn = builtInCustomLayers.filter { registry.plugins[$0.className] == nil }
      let plugins = registry.plugins.sorted { $0.key < $1.key }
      return .versioned([
        "classes": builtIn.map { entry($0.className, otherNames: $0.otherNames, $0.notes) }
          + plugins.map { entry($0.key, plugin: $0.value) }
      ])
    }
  }

  struct New: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "new", abstract: "Writes a Swift package with the custom layers of a model.",
      discussion: """
        EXAMPLES:
          assay plugin new MyLayers --for model.mlmodel
          assay plugin new MyLayers --for model.mlmodel -o layers
          swift build -c release --package-path MyLayers

        The package has one class for each custom layer, with its parameters, weights and shapes, and \
        a test. It builds as it is with swift build -c release, without a network connection. run, \
        diff, bench and inspect load the library with --plugin. See docs/plugins.md.
        """)

    @Argument(help: "The name of the package; a valid Swift module name.") var name: String

    @Option(
      name: .customLong("for"), help: .usual("The model with custom layers.", "MODEL"),
      completion: .file())
    var model: String

    @Option(
      name: .output, help: .usual("The folder to write; default: the name.", "DIR"),
      completion: .directory)
    var destination: String?

    @OptionGroup var global: GlobalOptions

    func run() throws {
      global.apply()
      let package = try inFile(model) {
        try PluginPackage(
          name: name,
          classes: ModelSource(contentsOf: model, weights: nil).inspectedModel()
            .customLayerClasses())
      }
      let folder = destination ?? name
      try package.write(to: folder)
      guard !global.quiet else { return }
      for file in package.files where file.path.hasPrefix("Sources/") {
        Console.note("wrote \(folder)/\(file.path)")
      }
      Console.note("build it with: swift build -c release --package-path \(folder.shellWord)")
    }
  }
}
