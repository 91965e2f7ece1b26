import ByteFormats
import ImportSupport
import PythonSource
import Synchronization
import TensorCore

/// Classes of other packages, reimplemented in Python and interpreted like a layer's source. A file
/// is parsed when a network contains one of its classes.
enum Recipes {
  struct Entry {
    let name: String
    var becomes = ""
    var options = ""
    var refused = ""
    let file: Int
  }

  private static let texts = [
    PackageResources.collections_py, PackageResources.kecam_py, PackageResources.keras_hub_py,
    PackageResources.patches_py, PackageResources.retinanet_py, PackageResources.sequences_py,
    PackageResources.ssd_py,
  ]

  /// The entries from the lines `class NAME(BASE):` and the fields of their docstrings. A helper
  /// class has a comment on its `class` line, so it is not listed.
  static let entries: [Entry] = {
    var entries: [Entry] = []
    for (file, text) in texts.enumerated() {
      for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
        if line.hasPrefix("class "), line.hasSuffix("):") {
          let names = line.dropFirst(6).dropLast(2).split(separator: "(").map(String.init)
          let base = entries.first { $0.name == names[1] } ?? Entry(name: "", file: file)
          entries.append(
            Entry(
              name: names[0], becomes: base.becomes, options: base.options, refused: base.refused,
              file: file))
        }
        let field = line.replacing("\"\"\"", with: "").split(separator: ": ", maxSplits: 1)
        guard field.count == 2, !entries.isEmpty else { continue }
        switch field[0] {
        case "    Becomes": entries[entries.count - 1].becomes = String(field[1])
        case "    Options": entries[entries.count - 1].options = String(field[1])
        case "    Refused": entries[entries.count - 1].refused = String(field[1])
        default: break
        }
      }
    }
    return entries
  }()

  private static let parsed = Mutex<[Int: PythonFiles]>([:])

  /// Functions and layers of libraries that are written in terms of others, by names with `_` for dots.
  static let functions = Result { try PythonModule(parsing: PackageResources.functions_py) }

  static func files(defining name: String) throws -> PythonFiles {
    let file = try entries.first { $0.name == name }.orThrow(PythonMachine.malformed).file
    return try parsed.withLock { parsed in
      let files = try parsed[file] ?? PythonFiles([("recipe", PythonModule(parsing: texts[file]))])
      parsed[file] = files
      return files
    }
  }
}

/// A layer that a recipe defines.
enum RecipeLayer: KerasLayer {
  static let classes = Recipes.entries.map {
    SourceLayer($0.name, becomes: $0.becomes, options: $0.options, refused: $0.refused)
  }
  static let maskPolicy = MaskPolicy.decides
  static let hasKnownWeights = false

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    func source(_ fields: JSONObject) throws -> LayerSource {
      LayerSource(
        files: try Recipes.files(defining: configuration.kind), path: "recipe",
        className: configuration.kind,
        layer: ModelDefinition.Layer(
          name: configuration.name, className: configuration.kind, fields: fields, calls: []),
        isRecipe: true)
    }
    do {
      var fields = JSONObject()
      fields["trainable"] = configuration.fields["trainable"]
      for (name, isRequired) in try source(fields).parameters() {
        fields[name] = configuration.field(name)?.value
        if isRequired, fields[name] == nil { throw configuration.missing([name]) }
      }
      let recipe = try source(fields)
      var layer = conversion { try convert(recipe, $0, &$1) }
      layer.leadingAxes = try recipe.make() ? .keeps : .refuses
      return layer
    } catch let error as ModelError where error.layer == nil {
      throw configuration.unsupported(
        nil, raised(error) ?? error.message,
        hint: UnsupportedLayers.sourceHint
          + "; or make it a custom layer with \(setting: "customLayers")")
    }
  }

  private static func convert(
    _ recipe: LayerSource, _ call: LayerCall, _ network: inout KerasWriter
  ) throws -> [KerasTensor] {
    do {
      let result = try recipe.convert(call, into: network)
      network = result.tensors.network
      return result.outputs
    } catch let error as ModelError {
      let open = call.inputs.first { $0.isShapeAssumed || $0.shape.dropFirst().contains(nil) }
      if let open, raised(error) == nil { throw call.unknownSize(of: open) }
      throw ModelError(error.code, raised(error) ?? error.message, hint: error.hint)
    }
  }

  /// The message of an error that the recipe raises.
  private static func raised(_ error: ModelError) -> String? {
    error.message.firstRange(of: PythonMachine.raised + ": ").map {
      String(error.message[$0.upperBound...])
    }
  }
}
