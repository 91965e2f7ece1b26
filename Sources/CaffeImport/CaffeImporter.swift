@_exported import CaffeFormat
import ImportSupport
import TensorCore

/// Converts Caffe networks to Core ML.
package enum CaffeImporter {
  /// Converts a network. If layers are not supported or weights do not fit, the error names all of
  /// them.
  package static func convert(
    _ source: CaffeSource, options: ConversionOptions = ConversionOptions()
  ) throws -> ConversionResult {
    try inFile(source.path) {
      var conversion = try CaffeConversion(source, options)
      let imported = try conversion.run()
      var notes = conversion.network.notes
      var options = try CaffePreprocessing.completed(
        conversion.options, imported, conversion.inputs, notes: &notes)
      for (key, value) in conversion.detectionMetadata(imported) {
        if options.metadata.userDefined[key] == nil { options.metadata.userDefined[key] = value }
      }
      let model = try InterfaceBuilder.model(imported, options: options, notes: &notes)
      return ConversionResult(
        model: model, plan: conversion.network.plan, notes: notes,
        sourceBlobs: try imported.renamedSourceBlobs(options))
    }
  }

  /// The supported layer types, grouped by conversion, with the layers that they become.
  package static var supportedTypes: [SourceLayer] { CaffeLayerRegistry.types.map { $0.source } }

  /// The layer types that are ignored, with the reasons.
  package static var leftOutTypes: [(names: [String], becomes: String)] {
    [
      (LayerRole.inputTypes, "the network's inputs"),
      (LayerRole.passingTypes, "nothing: the tops become other names of the bottom"),
      (
        LayerRole.measuringTypes,
        "needed for training only; also every other type that ends in `Loss`"
      ),
      (
        LayerRole.gridTypes,
        "nothing: the bottoms, raw grids, become outputs, in which a detector finds boxes"
      ),
      (["Silence"], "nothing: its bottoms do not become outputs"),
    ]
  }
}
