import CoreMLModel
import CustomLayers
import KerasImport

@testable import Engine

/// The table of layers in `docs/layers.md`, generated from the registered types.
enum LayerDocumentation {
  static var markdown: String {
    let layers = layerTypes.map { type in
      [
        "`\(type.typeName)`", String(type.specificationVersion),
        mark(type is any EngineLayer.Type), mark(type is any ReferenceLayer.Type),
      ]
    }
    let classes = KerasImporter.supportedClasses.compactMap { names in
      names.first.map { ["`\($0)`", MarkdownTable.code(names.dropFirst())] }
    }
    let custom = builtInCustomLayers.map { type in
      let notes = type.notes
      return [
        "`\(type.className)`", MarkdownTable.code(type.otherNames), notes.formula,
        notes.parameters.joined(separator: "; "), notes.weights,
      ]
    }
    return """
      # Layers

      `make docs` generates this page.

      ## Core ML

      The layer types of the format, all of which Assay reads, writes and runs. Those of specification 4 and
      later need a network with exact array mapping. The engine is the fast implementation; the reference
      computes the same in double precision.

      \(MarkdownTable(["type", "specification", "engine", "reference"], layers))

      ## Keras

      The classes that `convert` supports. A `Lambda` and any other class can become a custom layer.

      \(MarkdownTable(["class", "also named"], classes))

      ## Built-in custom layers

      Classes that run without a plug-in. A rule for `--custom-layers` selects one by `className`. If a
      parameter has several names, the first one present is used; the default is in parentheses. Weights
      have the given order and may be 32-bit floats or halves. C, H and W are the last three axes of a
      shape; the axes before them count images.

      \(MarkdownTable(["class", "also named", "formula", "parameters", "weights"], custom))

      """
  }

  private static func mark(_ value: Bool) -> String { value ? "yes" : "not yet" }
}
