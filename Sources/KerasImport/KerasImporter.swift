import ImportSupport
@_exported import KerasFormat
import TensorCore

/// Converts Keras models to Core ML.
package enum KerasImporter {
  /// Converts a model. The error lists all unsupported layers.
  package static func convert(
    _ source: KerasSource, options: ConversionOptions = ConversionOptions()
  ) throws -> ConversionResult {
    try inFile(source.path) {
      var conversion = try KerasConversion(source, options)
      let imported = try conversion.run()
      var notes = conversion.network.notes
      let options = conversion.options
      var model = try InterfaceBuilder.model(imported, options: options, notes: &notes)
      if options.respectTrainable {
        TrainingParameters(source.training, notes: &notes)?.apply(
          to: &model, updatableLayers: conversion.network.trainableLayers, notes: &notes)
      }
      return ConversionResult(
        model: model, plan: conversion.network.plan, notes: notes,
        sourceBlobs: try imported.renamedSourceBlobs(options))
    }
  }
}
