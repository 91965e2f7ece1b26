import CoreMLModel
import ImportSupport
import Interpretation
import ModelPrediction
import TensorCore

/// Where a converted network comes from: what its proof takes.
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

  /// Compares the model with what the interpreter of its source computes.
  ///
  /// - Parameters:
  ///   - renamed: the model's blob for one of the conversion, where the names differ.
  ///   - words: inputs as on a command line; none for random ones.
  package func proof(
    of model: Model, renamed: [String: String] = [:], inputs words: [String] = [],
    options proofOptions: Proof.Options = Proof.Options()
  ) throws -> Proof {
    guard let interpreter = try source.interpreter(options) else {
      throw ModelError(.unsupported, "networks of this framework cannot be proved")
    }
    let made = Set(model.neuralNetwork?.layers.flatMap(\.output) ?? [])
    func own(_ blob: String) -> String { made.contains(blob) ? blob : renamed[blob] ?? blob }
    var model = model
    let known = model.description?.metadata?.userDefined ?? [:]
    if !known.keys.contains(where: { $0.hasPrefix(SourceLayout.blobKey) }) {
      // A model of another converter has the same blobs, but says nothing of their axes.
      var metadata = model.description?.metadata ?? Metadata()
      let prefix = SourceLayout.metadataPrefix
      for (key, value) in layouts {
        let isOfBlob = key.hasPrefix(prefix)
        metadata.userDefined[
          isOfBlob ? prefix + own(String(key.dropFirst(prefix.count))) : key] = value
      }
      model.description?.metadata = metadata
    }
    var counterparts = blobs.mapValues(own)
    if counterparts.isEmpty {
      for layer in model.neuralNetwork?.layers ?? [] {
        let name =
          layer.name.hasSuffix("__activation__") ? String(layer.name.dropLast(14)) : layer.name
        counterparts[name] = model.blob(named: name)
      }
    }
    return try Proof(
      interpreter, model, blobs: counterparts, inputs: words, options: proofOptions)
  }
}
