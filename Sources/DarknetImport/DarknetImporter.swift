@_exported import DarknetFormat
import ImportSupport
import TensorCore

/// Converts Darknet networks to Core ML models.
package enum DarknetImporter {
  /// Converts a network. If sections are not supported, the error lists all of them.
  package static func convert(
    _ source: DarknetSource, options: ConversionOptions = ConversionOptions()
  ) throws -> ConversionResult {
    try inFile(source.path) {
      let conversion = try run(source, options)
      var options = conversion.options
      var notes = conversion.network.notes
      addPreprocessing(to: &options, notes: &notes)
      // A detector's class labels name the classes of its boxes.
      if !conversion.network.heads.isEmpty, let classifier = options.classifier {
        let labels = classifier.labels.strings
        try require(
          !labels.contains { $0.contains(",") }, .mismatch, "a detector's label contains a comma")
        let key = DetectionHead.prefix + "labels"
        options.metadata.userDefined[key] = labels.joined(separator: ",")
        options.classifier = nil
      }
      for (key, value) in conversion.metadata {
        if options.metadata.userDefined[key] == nil { options.metadata.userDefined[key] = value }
      }
      if options.respectTrainable {
        notes.append(
          "\(setting: "respectTrainable") has no effect: a .cfg does not say which layers are trainable"
        )
      }
      let model = try InterfaceBuilder.model(conversion.imported, options: options, notes: &notes)
      return ConversionResult(
        model: model, plan: conversion.network.plan, notes: notes,
        sourceBlobs: try conversion.imported.renamedSourceBlobs(options))
    }
  }

  /// Converts with the interpretation of the weights that fits, since some files are ambiguous.
  private static func run(
    _ source: DarknetSource, _ options: ConversionOptions
  ) throws -> DarknetConversion {
    var conversion = try DarknetConversion(source, options)
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

  /// Adds Darknet's preprocessing: pixel values divided by 255, with red first.
  private static func addPreprocessing(to options: inout ConversionOptions, notes: inout [String]) {
    guard let name = options.imageInputs.first, !options.preprocessing.isPrepared(name) else {
      return
    }
    options.preprocessing.scale.named[name] = 1.0 / 255
    notes.append("'\(name)': uses \(setting: "imageScale") 1/255, as in Darknet")
  }
}
