import CoreMLModel
import ImportSupport
import TensorCore

/// Darknet networks as Core ML models.
public enum DarknetImporter {
  /// Reads a `.cfg`, and a `.weights` where there is one.
  /// - Throws: `ModelError` that names the file and the line.
  public static func load(_ path: String, weights: String? = nil) throws -> DarknetSource {
    try DarknetSource.load(path, weights: weights)
  }

  /// Whether a file's content is a `.cfg`.
  public static func recognizes(_ bytes: Bytes) -> Bool { ConfigurationFile.recognizes(bytes) }

  /// Converts a network. Where sections are not supported, the error names all of them.
  ///
  /// - Parameter isOutline: zeros take the place of weights that are not there.
  public static func convert(
    _ source: DarknetSource, options: ConversionOptions = ConversionOptions(),
    isOutline: Bool = false
  ) throws -> ConversionResult {
    try inFile(source.path) {
      var options = options
      let conversion = try run(source, options, isOutline: isOutline)
      var notes = conversion.network.notes
      addPreprocessing(conversion.imported, to: &options, notes: &notes)
      for (key, value) in conversion.metadata(options) {
        if options.metadata.userDefined[key] == nil { options.metadata.userDefined[key] = value }
      }
      if options.respectTrainable {
        notes.append("--respect-trainable has no effect: a .cfg does not say what trains")
      }
      let model = try InterfaceBuilder.model(conversion.imported, options: options, notes: &notes)
      return ConversionResult(model: model, plan: conversion.network.plan, notes: notes)
    }
  }

  /// Reads the weights in the way in which they fit: some files can be read in two.
  private static func run(
    _ source: DarknetSource, _ options: ConversionOptions, isOutline: Bool
  ) throws -> DarknetConversion {
    var conversion = try DarknetConversion(source, options, isOutline: isOutline)
    do {
      try conversion.run()
      return conversion
    } catch {
      for reading in conversion.otherReadings {
        var other = try DarknetConversion(source, options, reading)
        if (try? other.run()) != nil { return other }
      }
      throw error
    }
  }

  /// Darknet divides a picture's numbers by 255 and has red first.
  private static func addPreprocessing(
    _ network: ImportedNetwork, to options: inout ConversionOptions, notes: inout [String]
  ) {
    let images = options.preprocessing
    let isUnset =
      images.preset == nil && images.scale.isEmpty && images.mean.isEmpty && images.std.isEmpty
      && images.redBias.isEmpty && images.greenBias.isEmpty && images.blueBias.isEmpty
      && images.grayBias.isEmpty
    guard isUnset, !options.imageInputs.isEmpty else { return }
    options.preprocessing.scale.all = 1.0 / 255
    notes.append(
      "'\(options.imageInputs.joined(separator: "', '"))': --image-scale 1/255, as Darknet has it")
  }
}
