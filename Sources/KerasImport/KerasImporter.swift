import CoreMLModel
import HDF5Reader
import ImportSupport
import TensorCore

/// Keras models as Core ML models.
package enum KerasImporter {
  /// Reads a model of Keras 1.2 or 2.x or of tf.keras 2.x.
  ///
  /// - Parameter weights: an HDF5 file of weights, where `path` is an architecture `.json`.
  /// - Throws: `ModelError` that names the file and the layer.
  package static func load(
    _ path: String, weights: String? = nil, access: HDF5Access = .isolated
  ) throws -> KerasSource {
    try KerasSource.load(path, weights: weights, access: access)
  }

  /// Converts a model. Where layers are not supported, the error names all of them.
  package static func convert(
    _ source: KerasSource, options: ConversionOptions = ConversionOptions()
  ) throws -> ConversionResult {
    try inFile(source.path) {
      var conversion = try Conversion(source, options)
      let imported = try conversion.run()
      var notes = conversion.network.notes
      var model = try InterfaceBuilder.model(imported, options: options, notes: &notes)
      if options.respectTrainable {
        TrainingParameters(source.training, notes: &notes)?.apply(
          to: &model, updatableLayers: conversion.network.trainableLayers, notes: &notes)
      }
      return ConversionResult(model: model, plan: conversion.network.plan, notes: notes)
    }
  }
}
