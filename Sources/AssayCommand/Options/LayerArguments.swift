import ArgumentParser
import Assay

/// What layers of a source network become.
struct LayerArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Convert unknown layers to custom layers: by a JSON file of rules, or all (allow).",
      valueName: "FILE.json|allow"),
    completion: .file(extensions: ["json"]))
  var customLayers: String?

  @Option(
    help:
      "Convert Keras Lambdas whose code can be read to Core ML layers: auto, or off; auto unless --custom-layers is allow. The code is never run."
  )
  var lambda: Lambda?

  enum Lambda: String, ExpressibleByArgument, CaseIterable {
    case auto
    case off
  }

  @Option(
    help: ArgumentHelp(
      "The latest version of the specification that the model may need. Layers of later ones become "
        + "earlier ones where they can; what cannot is named.", valueName: "N"))
  var maxSpec: Int?

  @Flag(help: "Mark trainable layers as updatable.")
  var respectTrainable = false

  func validate() throws {
    if let maxSpec, !(1...SpecificationVersion.newest).contains(maxSpec) {
      throw ValidationError("--max-spec takes a version from 1 to \(SpecificationVersion.newest)")
    }
  }

  var given: [String] {
    [
      ("--custom-layers", customLayers != nil), ("--lambda", lambda != nil),
      ("--max-spec", maxSpec != nil), ("--respect-trainable", respectTrainable),
    ].given
  }
}

extension CustomLayerRules {
  /// The word after `--custom-layers`.
  init(argument: String) throws {
    self = argument == "allow" ? .allow : try CustomLayerRules(contentsOf: argument)
  }
}

/// The precision of a source network's weights.
struct WeightPrecisionArguments: ParsableArguments {
  @Option(
    name: [.long, .customLong("weights-precision")],
    help: "Precision of the weights; default: float32.")
  var precision: PrecisionArguments.Floats?
}
