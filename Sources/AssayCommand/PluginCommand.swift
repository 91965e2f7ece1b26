import ArgumentParser
import Assay

struct PluginCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plugin",
    abstract: "Begins a library with custom layers, and lists their classes.",
    subcommands: [New.self, List.self])

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "Lists the classes of custom layers that run here.",
      discussion: "docs/layers.md has their parameters and weights.")

    @OptionGroup var plugins: PluginArguments

    @OptionGroup var global: GlobalOptions

    func run() throws {
      global.apply()
      let registry = try plugins.customLayers()
      var table = TextTable([("class", .left), ("what it gives", .left)])
      for type in builtInCustomLayers where registry.plugins[type.className] == nil {
        // What the page of layers links to stands there by its name.
        let formula = type.notes.formula.filter { $0 != "`" }
          .replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.output.1 }
        for (index, name) in ([type.className] + type.otherNames).enumerated() {
          table.add([name, index == 0 ? formula : "the same as \(type.className)"])
        }
      }
      for (name, file) in registry.plugins.sorted(by: { $0.key < $1.key }) {
        table.add([Console.escaped(name), Console.escaped("from \(file)")])
      }
      Console.write(table.text)
    }
  }

  struct New: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "new", abstract: "Writes a Swift package with the custom layers of a model.",
      discussion: """
        One class for each custom layer, with its parameters, weights and shapes, and a test. The \
        package builds at once with `swift build -c release`, without a network; run, diff, bench \
        and inspect load the library with --plugin. docs/plugins.md tells the whole way.
        """)

    @Argument(help: "The package's name, that of a Swift module.")
    var name: String

    @Option(
      name: .customLong("for"), help: ArgumentHelp("The model.", valueName: "MODEL"),
      completion: .file())
    var model: String

    @Option(
      name: .customShort("o"),
      help: ArgumentHelp("The folder to write; by default the name.", valueName: "DIR"),
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
      Console.note("build it: swift build -c release --package-path \(Console.escaped(folder))")
    }
  }
}
