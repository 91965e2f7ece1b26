import Engine
import KerasImport

/// The table of layers in `docs/layers.md`, made from the lists of the stages.
public enum LayerDocumentation {
  public static var markdown: String {
    let layers = LayerSupport.all.map { layer in
      [
        "`\(layer.typeName)`", String(layer.specificationVersion), mark(layer.hasEngine),
        mark(layer.hasReference),
      ]
    }
    let classes = KerasImporter.supportedClasses.compactMap { names in
      names.first.map { ["`\($0)`", MarkdownTable.code(names.dropFirst())] }
    }
    return """
      # Layers

      `make docs` writes this page.

      ## Core ML

      The types that are read, written and run. Those of specification 4 and later need a network with
      exact array mapping; control flow and the others are carried through a file untouched. The engine
      is the fast one; the reference computes the same in double precision.

      \(MarkdownTable(["type", "specification", "engine", "reference"], layers))

      ## Keras

      The classes that `convert` reads. A `Lambda` and any other class can become a custom layer.

      \(MarkdownTable(["class", "also named"], classes))

      """
  }

  private static func mark(_ value: Bool) -> String { value ? "yes" : "not yet" }
}
