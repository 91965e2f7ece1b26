import CoreMLModel
import ModelPrediction
import ModelTransforms
import TensorCore

/// The differences between two models that are visible without running them.
package struct ModelDifference: Sendable {
  package enum Change: String, Sendable { case added, removed, changed }

  package struct Entry: Sendable, Equatable {
    package var change: Change
    /// A description such as `layer 'conv1' (convolution)` or `input 'image'`.
    package var part: String
    /// The field that changed; empty if only one model has the part.
    package var field = ""
    package var before = ""
    package var after = ""
  }

  /// A weight with some different values.
  package struct Weight: Sendable, Equatable {
    package var layer: String
    package var parameter: String
    package var count: Int
    package var countDifferent: Int
    package var largestDifference: Double
    /// The largest absolute value before.
    package var largestValue: Double
    /// Storages such as `float32`.
    package var before: String
    package var after: String
  }

  package private(set) var entries: [Entry] = []
  package private(set) var weights: [Weight] = []
  /// The second model's blob for each blob of the first.
  package private(set) var blobs: [String: String] = [:]

  package var isEmpty: Bool { entries.isEmpty && weights.isEmpty }

  package init(_ a: Model, _ b: Model) throws { try compare(a, b, prefix: "") }

  private mutating func compare(_ a: Model, _ b: Model, prefix: String) throws {
    note(prefix + "model", "type", a.typeName, b.typeName)
    note(
      prefix + "model", "specification version", "\(a.specificationVersion)",
      "\(b.specificationVersion)")
    note(prefix + "model", "updatable", "\(a.isUpdatable)", "\(b.isUpdatable)")
    let x = a.description ?? ModelDescription()
    let y = b.description ?? ModelDescription()
    try compare(features: x.input, y.input, prefix + "input")
    try compare(features: x.output, y.output, prefix + "output")
    try compare(features: x.trainingInput, y.trainingInput, prefix + "training input")
    note(prefix + "model", "predicted feature", x.predictedFeatureName, y.predictedFeatureName)
    note(
      prefix + "model", "predicted probabilities", x.predictedProbabilitiesName,
      y.predictedProbabilitiesName)
    compare(metadata: x.metadata ?? Metadata(), y.metadata ?? Metadata(), prefix)
    // A program's labels are values of its operations.
    if !a.isMLProgram, !b.isMLProgram {
      compare(labels: a.classLabels?.strings, b.classLabels?.strings, prefix)
    }
    if let m = a.neuralNetwork, let n = b.neuralNetwork {
      try compare(networks: m, n, prefix)
    } else if a.pipelineModels.isEmpty, b.pipelineModels.isEmpty, a.typeName == b.typeName,
      a.type != b.type
    {
      entries.append(Entry(change: .changed, part: prefix + "model", field: "contents (not read)"))
    }
    let (p, q) = (a.pipelineModels, b.pipelineModels)
    for index in 0..<max(p.count, q.count) {
      let part = "\(prefix)model \((index < p.count ? a : b).pipelineName(index))"
      if index < p.count, index < q.count {
        try compare(p[index], q[index], prefix: part + ": ")
      } else {
        entries.append(Entry(change: index < p.count ? .removed : .added, part: part))
      }
    }
  }

  private mutating func note(_ part: String, _ field: String, _ before: String, _ after: String) {
    guard before != after else { return }
    entries.append(Entry(change: .changed, part: part, field: field, before: before, after: after))
  }

  private mutating func compare(
    features a: [FeatureDescription], _ b: [FeatureDescription], _ kind: String
  ) throws {
    for feature in a {
      let part = "\(kind) '\(feature.name)'"
      guard let other = b.first(where: { $0.name == feature.name }) else {
        entries.append(Entry(change: .removed, part: part))
        continue
      }
      if feature == other { continue }
      compare(fields: try feature.flatFields(), try other.flatFields(), part)
    }
    for feature in b where !a.contains(where: { $0.name == feature.name }) {
      entries.append(Entry(change: .added, part: "\(kind) '\(feature.name)'"))
    }
  }

  private mutating func compare(fields a: [FlatField], _ b: [FlatField], _ part: String) {
    let others = Dictionary(first: b.map { ($0.path, $0.values) })
    let paths = Set(a.map(\.path))
    var before: Set<String> = []
    for field in a {
      guard others[field.path] != field.values else { continue }
      // Fields of a message that only one model has are not listed separately.
      let isInside = before.contains { field.path.hasPrefix($0 + ".") }
      if others[field.path] == nil { before.insert(field.path) }
      if isInside, others[field.path] == nil, field.values.isEmpty { continue }
      note(part, field.path, Self.text(field.values), others[field.path].map(Self.text) ?? "absent")
    }
    for field in b where !paths.contains(field.path) {
      note(part, field.path, "absent", Self.text(field.values))
    }
  }

  private static func text(_ values: [String]) -> String {
    values.isEmpty
      ? "present" : values.count == 1 ? values[0] : "[" + values.joined(separator: ", ") + "]"
  }

  private mutating func compare(metadata a: Metadata, _ b: Metadata, _ prefix: String) {
    let part = prefix + "metadata"
    note(part, "description", a.shortDescription, b.shortDescription)
    note(part, "author", a.author, b.author)
    note(part, "license", a.license, b.license)
    note(part, "version", a.versionString, b.versionString)
    for key in Set(a.userDefined.keys).union(b.userDefined.keys).sorted() {
      note(part, key, a.userDefined[key] ?? "absent", b.userDefined[key] ?? "absent")
    }
  }

  private mutating func compare(labels a: [String]?, _ b: [String]?, _ prefix: String) {
    guard a != b else { return }
    let (x, y) = (a ?? [], b ?? [])
    guard x.count == y.count else {
      return note(prefix + "class labels", "count", "\(x.count)", "\(y.count)")
    }
    for index in x.indices { note(prefix + "class labels", "\(index)", x[index], y[index]) }
  }

  private mutating func compare(
    networks a: NeuralNetwork, _ b: NeuralNetwork, _ prefix: String
  ) throws {
    note(
      prefix + "network", "arrays", "\(a.arrayInputShapeMapping)", "\(b.arrayInputShapeMapping)")
    note(
      prefix + "network", "images", "\(a.imageInputShapeMapping)", "\(b.imageInputShapeMapping)")
    if a.preprocessing != b.preprocessing { compare(preprocessing: a, b, prefix) }
    if a.updateParams != b.updateParams {
      entries.append(
        Entry(change: .changed, part: prefix + "network", field: "training parameters"))
    }
    let pairing = try LayerPairing(a.layers, b.layers)
    blobs.merge(pairing.blobs) { first, _ in first }
    func part(_ layer: NeuralNetworkLayer) -> String {
      "\(prefix)layer '\(layer.name)' (\(layer.parameters?.specificationTypeName ?? "no type"))"
    }
    for index in pairing.removed {
      entries.append(Entry(change: .removed, part: part(a.layers[index])))
    }
    for (index, position) in pairing.layers {
      let (x, y) = (a.layers[index], b.layers[position])
      if x == y { continue }
      let part = part(x)
      note(part, "name", x.name, y.name)
      note(part, "input", Self.text(x.input), Self.text(y.input))
      note(part, "output", Self.text(x.output), Self.text(y.output))
      let (p, q) = (x.parameters, y.parameters)
      if p?.specificationTypeName != q?.specificationTypeName {
        note(part, "type", p?.specificationTypeName ?? "none", q?.specificationTypeName ?? "none")
        continue
      }
      if p is OpaqueLayer {
        entries.append(Entry(change: .changed, part: part, field: "contents (not read)"))
        continue
      }
      compare(fields: try x.flatFields(), try y.flatFields(), part)
      try compare(weights: x, y, part, prefix)
    }
    for index in pairing.added {
      entries.append(Entry(change: .added, part: part(b.layers[index])))
    }
  }

  private mutating func compare(
    preprocessing a: NeuralNetwork, _ b: NeuralNetwork, _ prefix: String
  ) {
    func text(_ step: NeuralNetworkPreprocessing?) -> String {
      switch step?.preprocessor {
      case .scaler(let scaler)?:
        "scale \(scaler.channelScale), red \(scaler.redBias), green \(scaler.greenBias), "
          + "blue \(scaler.blueBias), gray \(scaler.grayBias)"
      case .meanImage(let mean)?: "mean image of \(mean.meanImage.count) values"
      case nil: "none"
      }
    }
    let names = (a.preprocessing + b.preprocessing).map(\.featureName)
    var seen: Set<String> = []
    for name in names where seen.insert(name).inserted {
      let (x, y) = (
        a.preprocessing.first { $0.featureName == name },
        b.preprocessing.first { $0.featureName == name }
      )
      guard x != y else { continue }
      entries.append(
        Entry(
          change: .changed,
          part: "\(prefix)preprocessing of \(name.isEmpty ? "the first image" : "'\(name)'")",
          field: "pixels", before: text(x), after: text(y)))
    }
  }

  private mutating func compare(
    weights x: NeuralNetworkLayer, _ y: NeuralNetworkLayer, _ part: String, _ prefix: String
  ) throws {
    let others = Dictionary(first: (y.parameters?.weights ?? []).map { ($0.name, $0) })
    let own = x.parameters?.weights ?? []
    for weight in own {
      guard let other = others[weight.name] else {
        note(part, weight.name, "\(weight.shape)", "absent")
        continue
      }
      if weight.values == other.values { continue }
      guard weight.shape == other.shape else {
        note(part, weight.name, "\(weight.shape)", "\(other.shape)")
        continue
      }
      let before = weight.values.storageName ?? "none"
      let after = other.values.storageName ?? "none"
      do {
        let found = Self.difference(try weight.decoded(), try other.decoded())
        weights.append(
          Weight(
            layer: prefix + x.name, parameter: weight.name, count: found.count,
            countDifferent: found.different, largestDifference: found.largest,
            largestValue: found.value, before: before, after: after))
      } catch is ModelError { note(part, weight.name, before, after) }
    }
    for (name, weight) in others.sorted(by: { $0.key < $1.key })
    where !own.contains(where: { $0.name == name }) {
      note(part, name, "absent", "\(weight.shape)")
    }
  }

  private static func difference(
    _ a: FloatValues, _ b: FloatValues
  ) -> (count: Int, different: Int, largest: Double, value: Double) {
    let block = 1 << 16
    var (different, largest, value) = (0, 0.0, 0.0)
    var x = [Float](repeating: 0, count: min(block, a.count))
    var y = x
    for begin in stride(from: 0, to: min(a.count, b.count), by: block) {
      let range = begin..<min(begin + block, min(a.count, b.count))
      x.withUnsafeMutableBufferPointer { if let base = $0.baseAddress { a.copy(range, to: base) } }
      y.withUnsafeMutableBufferPointer { if let base = $0.baseAddress { b.copy(range, to: base) } }
      for index in 0..<range.count {
        let (p, q) = (Double(x[index]), Double(y[index]))
        if p.isFinite { value = max(value, abs(p)) }
        if p == q || p.isNaN && q.isNaN { continue }
        different += 1
        let error = abs(p - q)
        largest = max(largest, error.isNaN ? .infinity : error)
      }
    }
    return (a.count, different, largest, value)
  }
}
