import CoreMLModel
import Imaging
import TensorCore

/// Image options in a model's user-defined metadata: `assay.image.resize`, `.interpolation` and
/// `.exif` have the values of the command line; `.first-size` is present if the center of a square
/// is used; `.recipe` names the recipe that these options come from.
extension ImageOptions {
  package static let metadataPrefix = "assay.image."

  private enum Key: String, CaseIterable {
    case recipe, resize, interpolation, exif
    case firstSize = "first-size"

    var name: String { metadataPrefix + rawValue }
  }

  /// Whether `model` records any of these options.
  package static func isRecorded(in model: Model) -> Bool {
    let entries = model.description?.metadata?.userDefined ?? [:]
    return Key.allCases.contains { entries[$0.name] != nil }
  }

  /// The options that `model` records, with defaults for the rest.
  ///
  /// - Throws: `.malformed` with the name of an entry whose value is invalid.
  package init(recordedIn model: Model) throws {
    let entries = model.description?.metadata?.userDefined ?? [:]
    func value<Value>(_ key: Key, _ parse: (String) -> Value?) throws -> Value? {
      guard let text = entries[key.name] else { return nil }
      return try parse(text).orThrow(
        ModelError(
          .malformed, "the value '\(text)' is invalid", field: "metadata \(key.name)",
          hint: "the help of `assay run` lists the valid values"))
    }
    self = try value(.recipe, ImageRecipe.init)?.options ?? ImageOptions()
    if let fitting = try value(.resize, Fitting.init) { bring(into: fitting) }
    if let filter = try value(.interpolation, Interpolation.init) { interpolation = filter }
    if let applies = try value(.exif, { ["ignore": false, "apply": true][$0] }) {
      appliesOrientation = applies
    }
    if let side = try value(.firstSize, Self.side) { firstSide = side }
  }

  private static func side(_ text: String) -> Int? {
    Int(text).flatMap { (1...Limits.imageSide).contains($0) ? $0 : nil }
  }

  /// The metadata entries for `recipe`.
  package static func metadata(for recipe: ImageRecipe) -> [String: String] {
    let options = recipe.options
    var entries: [Key: String] = [
      .recipe: recipe.rawValue, .resize: options.fitting.rawValue,
      .interpolation: options.interpolation.rawValue,
      .exif: options.appliesOrientation ? "apply" : "ignore",
    ]
    if let side = options.firstSide { entries[.firstSize] = String(side) }
    return Dictionary(uniqueKeysWithValues: entries.map { ($0.key.name, $0.value) })
  }
}
