import CaffeImport
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

/// A layer in its place.
struct ListedLayer: Sendable {
  let name: String
  let type: String
  let bottoms: [String]
  let tops: [String]
  let message: CaffeMessage
  /// Weights that it shares with an earlier layer by their names: that layer, and the place there.
  var shared: [Int: (layer: String, index: Int)] = [:]
  /// Blobs that no layer behind it reads.
  var lastRead: Set<String> = []
  /// Indices of tops that a layer behind it reads.
  var keptTops: Set<Int> = []

  /// net.cpp, `AppendParam`: a weight with the name of an earlier one is that one.
  func weights(in file: CaffeWeights?) -> [CaffeBlob] {
    guard let file else { return [] }
    var blobs = file[name] ?? []
    for (index, owner) in shared.sorted(by: { $0.key < $1.key }) {
      guard let owned = file[owner.layer], owned.indices.contains(owner.index) else { continue }
      if blobs.indices.contains(index) {
        blobs[index] = owned[owner.index]
      } else if index == blobs.count {
        blobs.append(owned[owner.index])
      }
    }
    return blobs
  }
}

/// The layers of a phase that computations need, in order, and what goes in and comes out.
struct CaffeLayerList {
  private(set) var inputs: [SourceInput] = []
  private(set) var layers: [ListedLayer] = []
  private(set) var outputs: Set<String> = []

  /// Layers whose tops come from outside.
  private static let sources: Set<String> = [
    "Input", "Data", "ImageData", "ImageDataMultiLabel", "HDF5Data", "MemoryData", "WindowData",
    "DummyData", "AnnotatedData", "VideoData", "DenseImageData", "CPMData",
  ]

  /// Layers of training and measurement, and those that only look.
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
    var owners: [String: (layer: String, index: Int)] = [:]
    for (index, message) in source.network.messages("layer").enumerated() {
      let type = message.string("type") ?? ""
      let name = message.string("name") ?? ""
      let isSource =
        Self.sources.contains(type)
        || (!message.has("bottom") && !CaffeOperations.byType.keys.contains(type))
      if isSource {
        let known = try Self.shapes(message, type)
        for (place, top) in message.strings("top").enumerated() where shapes[top] == nil {
          shapes[top] = known.isEmpty ? [] : known[min(place, known.count - 1)]
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
      for (place, parameter) in message.messages("param").enumerated() {
        guard let shared = parameter.string("name"), !shared.isEmpty else { continue }
        if let owner = owners[shared] {
          layer.shared[place] = owner
        } else {
          owners[shared] = (layer.name, place)
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
      for (place, top) in layer.tops.enumerated() {
        if read.contains(top) {
          layers[index].keptTops.insert(place)
        } else if !silent.contains(top) {
          outputs.insert(top)
        }
      }
      read.subtract(layer.tops)
      layers[index].lastRead = Set(layer.bottoms).subtracting(read)
      read.formUnion(layer.bottoms)
    }
  }

  /// The shapes that a layer without bottoms states; the last one counts for further tops.
  private static func shapes(_ message: CaffeMessage, _ type: String) throws -> [[Int?]] {
    let field = type == "DummyData" ? "dummy_data_param" : "input_param"
    return (message.message(field)?.messages("shape") ?? []).map { shape in
      shape.values("dim").map { $0.integer }
    }
  }
}
