import CaffeFormat
import Interpretation
import TensorCore

/// The phase, the level and the stages of a run: Caffe's `NetState`.
package struct CaffeState: Sendable {
  package var phase = "TEST"
  package var level = 0
  package var stages: Set<String> = []

  package init() {}

  /// net.cpp, `Net::FilterNet`.
  func includes(_ layer: CaffeMessage) -> Bool {
    let include = layer.messages("include")
    if include.isEmpty { return !layer.messages("exclude").contains(where: meets) }
    return include.contains(where: meets)
  }

  /// net.cpp, `Net::StateMeetsRule`.
  private func meets(_ rule: CaffeMessage) -> Bool {
    if rule.has("phase"), rule.symbol("phase")?.uppercased() != phase { return false }
    if rule.has("min_level"), level < rule.integer("min_level") ?? 0 { return false }
    if rule.has("max_level"), level > rule.integer("max_level") ?? 0 { return false }
    for stage in rule.strings("stage") where !stages.contains(stage) { return false }
    for stage in rule.strings("not_stage") where stages.contains(stage) { return false }
    return true
  }
}

/// A layer at its position.
struct ListedLayer: Sendable {
  let name: String
  let type: String
  let bottoms: [String]
  let tops: [String]
  let message: CaffeMessage
  /// Weights shared with an earlier layer by name: that layer, and the index there.
  var shared: [Int: CopiedWeights.Location] = [:]
  /// Blobs that no later layer reads.
  var lastRead: Set<String> = []
  /// The indices of tops that a later layer reads.
  var keptTops: Set<Int> = []
}

/// The network's weights after Caffe has copied them from a file.
struct CopiedWeights: Sendable {
  struct Location: Hashable, Sendable {
    let layer: String
    let index: Int
  }

  private var blobs: [Location: CaffeBlob] = [:]

  /// net.cpp, `CopyTrainedLayersFrom`: copies the file's layers one by one. `AppendParam`: a weight
  /// with the name of an earlier one is the same weight.
  init(_ file: CaffeWeights?, to layers: [ListedLayer]) {
    let shared = Dictionary(
      layers.map { ($0.name, $0.shared) }, uniquingKeysWith: { first, _ in first })
    for layer in file?.layers ?? [] {
      for (index, blob) in layer.blobs.enumerated() {
        blobs[shared[layer.name]?[index] ?? Location(layer: layer.name, index: index)] = blob
      }
    }
  }

  subscript(layer: ListedLayer) -> [CaffeBlob] {
    var result: [CaffeBlob] = []
    while let blob = blobs[
      layer.shared[result.count] ?? Location(layer: layer.name, index: result.count)]
    {
      result.append(blob)
    }
    return result
  }
}

/// The layers of a phase that inference needs, in order, with their inputs and outputs.
struct CaffeLayerList {
  private(set) var inputs: [SourceInput] = []
  private(set) var layers: [ListedLayer] = []
  private(set) var outputs: Set<String> = []

  /// The layers with tops that are inputs of the network.
  private static let sources: Set<String> = [
    "Input", "Data", "ImageData", "ImageDataMultiLabel", "HDF5Data", "MemoryData", "WindowData",
    "DummyData", "AnnotatedData", "VideoData", "DenseImageData", "CPMData",
  ]

  /// Layers for training and measurement, and layers without effect on other layers.
  private static func isMeasuring(_ type: String) -> Bool {
    type.hasSuffix("Loss")
      || [
        "SoftmaxWithLoss", "HingeLossMultiLabel", "Accuracy", "HDF5Output", "DetectionEvaluate",
        "Silence", "YoloDetectionOutput", "Yolov3DetectionOutput",
      ].contains(type)
  }

  init(_ source: CaffeSource, _ state: CaffeState) throws {
    var state = state
    if let own = source.network.message("state") {
      if state.level == 0 { state.level = own.integer("level") ?? 0 }
      state.stages.formUnion(own.strings("stage"))
    }
    var made: Set<String> = []
    var shapes: [String: [Int?]] = [:]
    var silent: Set<String> = []
    var owners: [String: CopiedWeights.Location] = [:]
    for (index, message) in source.network.messages("layer").enumerated() {
      let type = message.string("type") ?? ""
      let name = message.string("name") ?? ""
      let isSource =
        Self.sources.contains(type)
        || (!message.has("bottom") && !CaffeOperations.byType.keys.contains(type))
      if isSource {
        let known = try Self.shapes(message, type)
        for (position, top) in message.strings("top").enumerated() where shapes[top] == nil {
          shapes[top] = known.isEmpty ? [] : known[min(position, known.count - 1)]
        }
        continue
      }
      guard state.includes(message) else { continue }
      var layer = ListedLayer(
        name: name.isEmpty ? "layer\(index)" : name, type: type,
        bottoms: message.strings("bottom"), tops: message.strings("top"), message: message)
      if type == "SoftmaxWithLoss", layer.tops.count == 2, let bottom = layer.bottoms.first {
        layer = ListedLayer(
          name: layer.tops[1], type: "Softmax", bottoms: [bottom], tops: [layer.tops[1]],
          message: message)
      } else if Self.isMeasuring(type) {
        if type == "Silence" { silent.formUnion(layer.bottoms) }
        continue
      }
      for (position, parameter) in message.messages("param").enumerated() {
        guard let shared = parameter.string("name"), !shared.isEmpty else { continue }
        if let owner = owners[shared] {
          layer.shared[position] = owner
        } else {
          owners[shared] = CopiedWeights.Location(layer: layer.name, index: position)
        }
      }
      layers.append(layer)
    }
    for layer in layers {
      for bottom in layer.bottoms where !made.contains(bottom) {
        made.insert(bottom)
        inputs.append(SourceInput(name: bottom, shape: shapes[bottom] ?? []))
      }
      made.formUnion(layer.tops)
    }
    findLastReaders(silent)
  }

  private mutating func findLastReaders(_ silent: Set<String>) {
    var read: Set<String> = []
    for index in layers.indices.reversed() {
      let layer = layers[index]
      for (position, top) in layer.tops.enumerated() {
        if read.contains(top) {
          layers[index].keptTops.insert(position)
        } else if !silent.contains(top) {
          outputs.insert(top)
        }
      }
      read.subtract(layer.tops)
      layers[index].lastRead = Set(layer.bottoms).subtracting(read)
      read.formUnion(layer.bottoms)
    }
  }

  /// The shapes that a layer without bottoms declares; the last one applies to further tops.
  private static func shapes(_ message: CaffeMessage, _ type: String) throws -> [[Int?]] {
    let field = type == "DummyData" ? "dummy_data_param" : "input_param"
    return (message.message(field)?.messages("shape") ?? []).map { shape in
      shape.values("dim").map { $0.integer }
    }
  }
}
