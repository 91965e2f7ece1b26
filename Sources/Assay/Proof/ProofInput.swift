import CoreMLModel
import ModelPrediction
import TensorCore

/// An input of a proof.
struct ProofInput {
  let name: String
  /// Whether its values are so large that single precision may overflow.
  var mayOverflow = false
  /// Returns the kept blobs of a prediction, in the source framework's layout.
  let predict: (Predictor) throws -> [String: Tensor]

  init(_ name: String, _ prediction: @escaping (Predictor) throws -> Prediction) {
    self.name = name
    predict = { predictor in
      Dictionary(first: try prediction(predictor).outputs.map { ($0.name, $0.value) })
    }
  }

  init(_ name: String, blobs: [String: Tensor]) {
    self.init(name) { predictor in
      predictor.assembled([try predictor.outputBlobs(blobs)])
    }
  }
}

extension ProofRun {
  /// Two sets of random values: pixels from 0 to 255 for images, and indices for word inputs. In
  /// the second set, sequences are padded with zeros.
  func randomInputs() throws -> [ProofInput] {
    let words = wordCounts
    return try [seed, seed == .max ? 0 : seed + 1].map { next in
      var blobs = try predictor.randomBlobs(seed: next)
      for (name, count) in words { blobs[name] = blobs[name]?.asIndices(below: count) }
      var name = "random numbers of seed \(next)"
      if next != seed {
        let padded = blobs.map { ($0.key, $0.value.padded(isWords: words[$0.key] != nil)) }
        if padded.contains(where: { $0.1 != nil }) { name += ", padded with zeros" }
        for (name, blob) in padded { blobs[name] = blob ?? blobs[name] }
      }
      return ProofInput(name, blobs: blobs)
    }
  }

  /// Zeros and large numbers; no large numbers if Core ML would clip them and the source does not.
  func edges() throws -> [ProofInput] {
    let words = wordCounts
    let blobs = try predictor.randomBlobs(seed: seed)
    let inputs = [ProofInput("zeros", blobs: blobs.mapValues { Tensor(shape: $0.shape) })]
    let layers = model.neuralNetwork?.layers ?? []
    if layers.contains(where: { $0.parameters?.clipsArguments == true }) { return inputs }
    let images = Set(
      predictor.inputs.filter { if case .image? = $0.type?.kind { true } else { false } }.map(
        \.name))
    var large = ProofInput(
      "large numbers",
      blobs: Dictionary(
        uniqueKeysWithValues: blobs.map { name, blob in
          if let count = words[name] { return (name, blob.map { _ in Float(count - 1) }) }
          return (name, blob.map { images.contains(name) ? 255 : 1000 * $0 })
        }))
    large.mayOverflow = true
    return inputs + [large]
  }

  /// The inputs that words of a command line name, at most eight.
  func inputs(_ words: [String], _ images: ImageOptions?) throws -> [ProofInput] {
    try InputList(words, for: model).prefix(8).map { source in
      let values = try source.read(for: model, images: images)
      return ProofInput(source.name) { predictor in
        try source.blamed { try predictor.predict(values) }
      }
    }
  }

  /// The vocabulary size of each input that an embedding reads, directly or behind layers that only
  /// move values.
  private var wordCounts: [String: Int] {
    var counts: [String: Int] = [:]
    let shapes = model.inferredBlobShapes()
    for input in predictor.inputs {
      var reached: Set<String> = [input.name]
      for layer in model.neuralNetwork?.layers ?? []
      where !reached.isDisjoint(with: layer.input) {
        let count: Int?
        switch layer.parameters {
        case let gather as Gather:
          let shape = layer.input.first.flatMap { shapes[$0] } ?? []
          let axis = gather.axis < 0 ? gather.axis + shape.count : gather.axis
          let isIndex = layer.input.dropFirst().contains(where: reached.contains)
          count = isIndex && shape.indices.contains(axis) ? shape[axis] : nil
        case let embedding as Embedding: count = embedding.inputDim
        case let embedding as EmbeddingND: count = embedding.vocabSize
        default: count = nil
        }
        if let count {
          counts[input.name] = min(counts[input.name] ?? count, count)
        } else if layer.parameters.map({ Self.moves($0) }) == true {
          reached.formUnion(layer.output)
        }
      }
    }
    return counts.filter { $0.value > 0 }
  }

  private static func moves(_ parameters: any LayerParameters) -> Bool {
    parameters is Permute || parameters is Reshape || parameters is Flatten
      || parameters is Squeeze || parameters is ExpandDims || parameters is Transpose
      || parameters is ReshapeStatic || parameters is Slice
  }
}

extension Tensor {
  fileprivate func map(_ function: (Float) -> Float) -> Tensor {
    var result = self
    result.withUnsafeMutableElements { elements in
      for index in elements.indices { elements[index] = function(elements[index]) }
    }
    return result
  }

  /// A sequence with its last third zero, for words every fourth element too; nil for others.
  fileprivate func padded(isWords: Bool) -> Tensor? {
    guard isWords || shape.count == 5 && shape[0] > 1 else { return nil }
    var result = self
    result.withUnsafeMutableElements { elements in
      let end = elements.count - elements.count / 3
      for index in elements.indices where index >= end || isWords && index % 4 == 3 {
        elements[index] = 0
      }
    }
    return result
  }

  /// Maps values from −1…1 to integers from 0 to `count` − 1.
  fileprivate func asIndices(below count: Int) -> Tensor {
    map { min(Float(count - 1), (($0 + 1) / 2 * Float(count)).rounded(.down)) }
  }
}
