import CoreMLModel
import TensorCore

extension ImportedNetwork {
  /// Renames the features, in order. An inner blob that already has a new name is renamed.
  /// - Throws: `.mismatch` if a name occurs twice.
  package mutating func rename(inputs inputNames: [String], outputs outputNames: [String]) throws {
    var names: [String: String] = [:]
    for (feature, name) in zip(inputs, inputNames) { names[feature.name] = name }
    for (feature, name) in zip(outputs, outputNames) { names[feature.name] = name }
    names = names.filter { $0.key != $0.value }
    let features = (inputs + outputs).map { names[$0.name] ?? $0.name }
    try Self.checkUnique(features)
    if names.isEmpty { return }
    let kept = Set((inputs + outputs).map(\.name))
    var taken = NamePool(layers.flatMap(\.output) + features)
    for blob in Set(layers.flatMap(\.output)).subtracting(kept).intersection(features) {
      names[blob] = taken.take(blob + "_inner")
    }
    func renamed(_ blobs: [String]) -> [String] { blobs.map { names[$0] ?? $0 } }
    for index in layers.indices {
      layers[index].input = renamed(layers[index].input)
      layers[index].output = renamed(layers[index].output)
    }
    blobLayouts = Dictionary(
      blobLayouts.map { (names[$0.key] ?? $0.key, $0.value) }, uniquingKeysWith: { a, _ in a })
    sourceBlobs = sourceBlobs.mapValues { names[$0] ?? $0 }
    for index in inputs.indices {
      inputs[index].name = names[inputs[index].name] ?? inputs[index].name
    }
    for index in outputs.indices {
      outputs[index].name = names[outputs[index].name] ?? outputs[index].name
    }
  }

  /// `sourceBlobs` with the user's names for the features.
  package func renamedSourceBlobs(_ options: ConversionOptions) throws -> [String: String] {
    var renamed = self
    try renamed.rename(inputs: options.inputNames, outputs: options.outputNames)
    return renamed.sourceBlobs
  }

  private static func checkUnique(_ names: [String]) throws {
    var seen: Set<String> = []
    for name in names {
      guard !name.isEmpty else { throw ModelError(.mismatch, "a feature's name is empty") }
      try require(seen.insert(name).inserted, .mismatch, "two features would be named '\(name)'")
    }
  }
}
