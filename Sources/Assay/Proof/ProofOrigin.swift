import CoreMLModel
import ImportSupport
import Interpretation
import MILImport
import ModelPrediction
import TensorCore

/// The source of a converted network, with all that its proof needs.
package struct ProofOrigin: Sendable {
  private let source: ModelSource
  private let options: ConversionOptions
  private let blobs: [String: String]
  private let layouts: [String: String]

  package init(_ source: ModelSource, _ options: ConversionOptions, _ result: ConversionResult) {
    self.source = source
    self.options = options
    blobs = result.sourceBlobs
    layouts = (result.model.description?.metadata?.userDefined ?? [:]).filter {
      $0.key.hasPrefix(SourceLayout.blobKey)
    }
  }

  /// The model's blobs that have a counterpart.
  package var comparedBlobs: Set<String> { Set(blobs.values) }

  /// Compares the model with the interpreter of its source.
  ///
  /// - Parameters:
  ///   - renamed: the model's name for each blob of the conversion whose name differs.
  ///   - words: inputs as on a command line; none for random ones.
  package func proof(
    of model: Model, renamed: [String: String] = [:], inputs words: [String] = [],
    options proofOptions: Proof.Options = Proof.Options()
  ) throws -> Proof {
    let interpreter = try (source.network?.interpreter(options)).orThrow(
      ModelError(.unsupported, "networks of this framework cannot be proved"))
    let program = try model.programNetwork()?.model
    var model = program ?? model
    if model.description?.metadata == nil { model.description?.metadata = Metadata() }
    let made = Set(model.neuralNetwork?.layers.flatMap(\.output) ?? [])
    let probabilities = model.description?.predictedProbabilitiesName
    func own(_ blob: String) -> String {
      if made.contains(blob) { return blob }
      return renamed[blob] ?? (blob == probabilities ? model.probabilitiesBlob : nil) ?? blob
    }
    let known = model.description?.metadata?.userDefined ?? [:]
    if program != nil || !known.keys.contains(where: { $0.hasPrefix(SourceLayout.blobKey) }) {
      // Models from other converters have the same blobs, but do not record their axes; blobs of a
      // program have a batch axis, but no sequence axis.
      let prefix = SourceLayout.metadataPrefix
      for (key, value) in layouts {
        let key = key.hasPrefix(prefix) ? prefix + own(String(key.dropFirst(prefix.count))) : key
        if known[key] != nil { continue }
        let axes = value.prefix { $0 != ":" }
        model.description?.metadata?.userDefined[key] =
          program != nil && axes.contains("W") && !axes.contains("T") ? axes + ":NCHW" : value
      }
    }
    var counterparts = blobs.mapValues(own)
    if counterparts.isEmpty {
      for layer in model.neuralNetwork?.layers ?? [] {
        let name =
          layer.name.hasSuffix("__activation__") ? String(layer.name.dropLast(14)) : layer.name
        counterparts[name] = model.blob(named: name)
      }
    }
    return try Proof(interpreter, model, blobs: counterparts, inputs: words, options: proofOptions)
  }
}
