import CoreMLModel
import CustomLayers
import KerasImport

@testable import Engine

/// The table of layers in `docs/layers.md`, made from the types that the document reads.
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

      `make docs` writes this page.

      ## Core ML

      The types that are read, written and run. Those of specification 4 and later need a network with
      exact array mapping; control flow and the others are carried through a file untouched. The engine
      is the fast one; the reference computes the same in double precision.

      \(MarkdownTable(["type", "specification", "engine", "reference"], layers))

      ## Keras

      The classes that `convert` reads. A `Lambda` and any other class can become a custom layer.

      \(MarkdownTable(["class", "also named"], classes))

      ## Built-in custom layers

      The classes that `run` needs no plug-in for. A rule of `--custom-layers` names one as
      `className`. Of several names of a parameter the first that is there counts; what stands in
      brackets holds where there is none. Weights stand in the given order and may be 32-bit floats
      or halves. C, H and W are the last three axes of a shape, everything before them are images.

      \(MarkdownTable(["class", "also named", "formula", "parameters", "weights"], custom))

      """
  }

  private static func mark(_ value: Bool) -> String { value ? "yes" : "not yet" }
}
