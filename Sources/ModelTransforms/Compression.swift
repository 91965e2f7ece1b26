import CoreMLModel
import TensorCore

/// Which weights get which precision.
///
/// Half precision is for every weight except those of custom layers and the slopes of activations.
/// Codes are for matrices and kernels, because biases and other vectors are small but matter a lot.
/// Weights already stored in fewer bits are unchanged, unless single precision is requested for
/// everything.
package struct CompressionRules: Sendable {
  package var precision: WeightPrecision
  /// The precision of individual layers, by name; overrides `precision`.
  package var layers: [String: WeightPrecision] = [:]
  /// If not empty, only layers whose name or type matches one of these are compressed. Codes skip
  /// constants unless their type matches.
  package var names: [NamePattern] = []
  /// Layers whose name or type matches one of these are not compressed.
  package var skippedNames: [NamePattern] = []
  /// Weights with fewer values are not compressed.
  package var minimumCount = 0
  package var scales = ScaleChoice.leastSquares
  /// Whether a layer with a value that half precision cannot represent keeps its precision instead
  /// of causing an error.
  package var keepsOverflow = false
  /// The mean of each input channel of a convolution or inner product, by layer name. If it is
  /// known, the layer's bias compensates for the effect of quantization on the mean of its outputs.
  package var channelMeans: [String: [Double]] = [:]

  package init(_ precision: WeightPrecision) { self.precision = precision }

  /// Types whose values do not multiply anything.
  private static let constants: Set<String> = ["loadConstant", "loadConstantND", "scale", "bias"]

  /// The precision for a layer; nil to leave it unchanged.
  func precision(of layer: NeuralNetworkLayer) -> WeightPrecision? {
    guard let type = layer.parameters?.typeName, !(layer.parameters is Custom) else { return nil }
    return precision(named: layer.name, type: type)
  }

  package func precision(named name: String, type: String) -> WeightPrecision? {
    if let own = layers[name] { return own }
    if skippedNames.contains(where: { $0.matches(name) || $0.matches(type) }) { return nil }
    if names.contains(where: { $0.matches(type) }) { return precision }
    if !names.isEmpty, !names.contains(where: { $0.matches(name) }) { return nil }
    if case .codes = precision, Self.constants.contains(type) { return nil }
    return precision
  }
}

/// The result of compressing a layer's weights.
package struct CompressedLayer: Sendable {
  package let name: String
  package let type: String
  /// How the weights are stored, such as `float32` or `8 bits, linear`, starting with the largest
  /// weight.
  package var storage: String
  package internal(set) var count: Int
  package let bytesBefore: Int
  package var bytesAfter: Int
  package var error: CompressionError
  /// Whether the storage changed, even to one of the same size.
  package var isChanged = false
  /// Why the weights kept their precision, unless that was requested.
  package internal(set) var note: String?

}

extension CompressedLayer {
  /// Weights that keep their storage.
  package init(name: String, type: String, storage: String, count: Int, bytes: Int) {
    self.init(
      name: name, type: type, storage: storage, count: count, bytesBefore: bytes, bytesAfter: bytes,
      error: CompressionError(), note: nil)
  }

  /// The storage of most values without its mode, such as `4 bits`, and its bits.
  package var mainStorage: (name: String, bits: Int) {
    let name = storage.prefix { $0 != "," && $0 != "+" }.split(separator: " ").joined(
      separator: " ")
    let digits = name.filter(\.isNumber)
    return (name, Int(digits) ?? 0)
  }
}

extension Model {
  /// The model with its weights in the precision that `rules` specify, and the result for each
  /// layer with weights. If the storages need a later version, the version is raised.
  ///
  /// - Throws: `.unsupported` with layer, field and value if a value cannot be represented.
  package func compressed(
    _ rules: CompressionRules, onProgress: (_ layers: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> (model: Model, layers: [CompressedLayer]) {
    var model = self
    var entries: [CompressedLayer] = []
    if var network = neuralNetwork {
      let layers = network.layers
      let results = try concurrently(
        layers.count, whenDone: { onProgress($0, layers.count) },
        { try layers[$0].compressed(rules) })
      network.layers = results.map(\.layer)
      entries = results.compactMap(\.entry)
      model.neuralNetwork = network
    }
    model.pipelineModels = try pipelineModels.map {
      let (compressed, more) = try $0.compressed(rules)
      entries += more
      return compressed
    }
    model.specificationVersion = max(specificationVersion, model.minimumSpecificationVersion)
    return (model, entries)
  }
}

extension Model {
  /// Bytes of all weights, including scales and tables.
  package var weightByteCount: Int {
    var count = (neuralNetwork?.layers ?? []).reduce(0) { sum, layer in
      (layer.parameters?.weights ?? []).reduce(sum) { $0 + $1.values.byteCount }
    }
    for model in pipelineModels { count += model.weightByteCount }
    if case .mlProgram(let program)? = type {
      for file in program.weightFiles.values { count += file.bytes.count }
    }
    return count
  }
}

extension NeuralNetworkLayer {
  /// The layer with its weights in another precision, and the result; a layer without weights has
  /// no result.
  package func compressed(
    _ rules: CompressionRules
  ) throws -> (layer: NeuralNetworkLayer, entry: CompressedLayer?) {
    guard let parameters, !parameters.weights.isEmpty else { return (self, nil) }
    let before = parameters.weights
    let bytes = before.reduce(0) { $0 + $1.values.byteCount }
    var entry = CompressedLayer(
      name: name, type: parameters.typeName, storage: before.storage,
      count: try checkedSum(before.map { try checkedProduct($0.shape) }), bytesBefore: bytes,
      bytesAfter: bytes, error: CompressionError(), note: nil)
    guard let precision = rules.precision(of: self) else { return (self, entry) }
    if isUpdatable || before.contains(where: { $0.values.isUpdatable }) {
      entry.note = "updatable"
      return (self, entry)
    }
    if case .codes = precision, parameters is Convolution3D {
      entry.note = "codes of few bits are not possible in convolution3d"
      return (self, entry)
    }
    let targets = before.targets(precision, minimumCount: rules.minimumCount)
    guard !targets.isEmpty else { return (self, entry) }
    var layer = self
    do {
      try layer.editWeights { field, weights in
        guard let target = targets[field] else { return }
        do {
          let shape = target.weights.shape
          // Kernels of a grouped deconvolution only have the channels of one group.
          let axis = (parameters as? Convolution)?.scaleAxis ?? target.weights.channelAxis
          let old = try weights.values(shape: shape, channelAxis: axis)
          weights = try weights.compressed(
            to: target.precision, shape: shape, channelAxis: axis, scales: rules.scales)
          let new = try weights.values(shape: shape, channelAxis: axis)
          entry.error.add(try CompressionError(old, new))
        } catch var error as ModelError {
          error.field = error.field ?? field
          throw error
        }
      }
    } catch let error as ModelError where error.code == .unsupported && rules.keepsOverflow {
      entry.note = error.message
      entry.error = CompressionError()
      return (self, entry)
    }
    if case .codes = precision, let mean = rules.channelMeans[name] {
      layer = try layer.correctingBias(self, mean: mean)
    }
    let after = layer.parameters?.weights ?? []
    entry.storage = after.storage
    entry.count = try checkedSum(after.map { try checkedProduct($0.shape) })
    entry.bytesAfter = after.reduce(0) { $0 + $1.values.byteCount }
    entry.isChanged = true
    return (layer, entry)
  }
}

extension [NamedWeights] {
  /// The weights of a layer that get another precision. Half precision applies to a layer as a
  /// whole or not at all.
  fileprivate func targets(
    _ precision: WeightPrecision, minimumCount: Int
  ) -> [String: (weights: NamedWeights, precision: WeightPrecision)] {
    let stored = filter { $0.values.storedCount > 0 }
    func count(_ weights: NamedWeights) -> Int { weights.shape.reduce(1, *) }
    // Dynamically quantized layers compute with the integers.
    if stored.contains(where: { $0.values.int8RawValue.count > 0 }) { return [:] }
    func chosen(_ wanted: [NamedWeights], _ precision: WeightPrecision)
      -> [String: (weights: NamedWeights, precision: WeightPrecision)]
    {
      Dictionary(first: wanted.map { ($0.name, ($0, precision)) })
    }
    switch precision {
    case .float32: return chosen(stored.filter { $0.values.floatValue.count == 0 }, .float32)
    case .float16:
      let isLarge = stored.contains { count($0) >= minimumCount }
      if !isLarge || stored.contains(where: { $0.values.rawValue.count > 0 }) { return [:] }
      return chosen(stored.filter { $0.values.floatValue.count > 0 }, .float16)
    case .codes(let bits, _):
      let wanted = stored.filter {
        $0.shape.count > 1 && count($0) >= minimumCount && $0.values.bitsPerValue > bits
      }
      if wanted.isEmpty { return [:] }
      let rest = stored.filter { weights in
        weights.values.float16Value.count > 0 && !wanted.contains { $0.name == weights.name }
      }
      return chosen(wanted, precision).merging(chosen(rest, .float32)) { first, _ in first }
    }
  }

  /// How the values are stored, starting with the storage of most of them.
  fileprivate var storage: String {
    var counts: [(name: String, count: Int)] = []
    for weights in self {
      guard let name = weights.values.storage else { continue }
      let count = weights.shape.reduce(1, *)
      if let index = counts.firstIndex(where: { $0.name == name }) {
        counts[index].count += count
      } else {
        counts.append((name, count))
      }
    }
    return counts.sorted { ($0.count, $1.name) > ($1.count, $0.name) }.map(\.name)
      .joined(separator: " + ")
  }
}

extension Weights {
  /// Bits of a stored value.
  fileprivate var bitsPerValue: Int {
    if floatValue.count > 0 { return 32 }
    return float16Value.count > 0 ? 16 : quantization?.numberOfBits ?? 8
  }

  /// Such as `float32` or `4 bits, table`.
  fileprivate var storage: String? {
    if floatValue.count > 0 { return "float32" }
    if float16Value.count > 0 { return "float16" }
    if int8RawValue.count > 0 { return "int8" }
    guard rawValue.count > 0, let quantization else { return nil }
    let kind = if case .lookupTable = quantization.kind { "table" } else { "linear" }
    return
      "\(quantization.numberOfBits) \(quantization.numberOfBits == 1 ? "bit" : "bits"), \(kind)"
  }
}

extension Convolution {
  /// The axis along which the scales of codes may vary; beyond the last one if they may not.
  package var scaleAxis: Int { isDeconvolution ? (effectiveGroups > 1 ? kernelShape.count : 1) : 0 }
}
