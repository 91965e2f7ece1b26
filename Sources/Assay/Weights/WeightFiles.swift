import CoreMLModel
import TensorCore

/// How weights are stored in files.
package struct WeightFiles: Sendable {
  package enum Format: String, Sendable, CaseIterable {
    case npy
    /// Little-endian 32-bit floats, nothing else.
    case raw
    /// Like `raw`, with a Swift file that has the offset of each weight.
    case swift
  }

  /// The contents of one file.
  package enum Grouping: String, Sendable, CaseIterable {
    case parameter
    /// A layer's weights, mean, variance, gamma and beta, in this order, then any others.
    case layer
    case all
  }

  package var format = Format.npy
  package var grouping = Grouping.parameter
  package var layout = ExportLayout.coreml
  /// File name suffixes for a layer's first, second, … weight, instead of the weights' names.
  package var suffixes: [String] = []

  package init() {}

  /// The location of a weight.
  struct Entry: Equatable {
    /// The file's name without its extension, or the name that a separate file would have.
    var name: String
    var layer: String
    var parameter: String
    var file: String
    /// The number of elements before it in the file.
    var offset: Int
    var count: Int
    /// The shape in the file's axis order.
    var shape: [Int]
  }

  static let manifest = "manifest.json"
  static let offsets = "weights.swift"
  /// The name of the file that holds all weights.
  private static let whole = "weights"

  var fileExtension: String { format == .npy ? ".npy" : ".bin" }

  /// The locations of all weights, in file order.
  func entries(
    of model: Model
  ) throws -> [(entry: Entry, weight: NamedWeights, order: WeightOrder)] {
    var result: [(Entry, NamedWeights, WeightOrder)] = []
    var names: Set<String> = []
    var position = 0
    for (layerName, layer, orders) in try Self.layers(of: model, layout) {
      let weights = Self.ordered(
        (layer.parameters?.weights ?? []).filter { $0.values.storedCount > 0 })
      if grouping != .all { position = 0 }
      for (index, weight) in weights.enumerated() {
        if grouping == .parameter { position = 0 }
        let order = orders.order(of: weight, in: layer)
        let count = try checkedProduct(weight.shape, limit: Limits.tensorElements)
        let suffix =
          weights.count <= suffixes.count ? suffixes[index] : "_" + weight.name
        let name = Self.fileName(layerName + suffix)
        let file =
          switch grouping {
          case .parameter: name
          case .layer: Self.fileName(layerName)
          case .all: Self.whole
          }
        if grouping == .parameter || (grouping == .layer && index == 0),
          !names.insert(file).inserted
        {
          throw ModelError(
            .mismatch, "two weights would share the file '\(file)'", layer: layerName,
            hint: "put them into one file with \(setting: "weightFiles") per=all")
        }
        result.append(
          (
            Entry(
              name: name, layer: layerName, parameter: weight.name, file: file + fileExtension,
              offset: position, count: count, shape: order.fileShape), weight, order
          ))
        position = try checkedSum([position, count])
      }
    }
    return result
  }

  /// The layers of every network, with unique names.
  static func layers(
    of model: Model, _ layout: ExportLayout
  ) throws -> [(name: String, layer: NeuralNetworkLayer, orders: WeightOrders)] {
    try model.networks.flatMap { prefix, network in
      let orders = try WeightOrders(layout, of: network)
      return (network.neuralNetwork?.layers ?? []).map { (prefix + $0.name, $0, orders) }
    }
  }

  private static func ordered(_ weights: [NamedWeights]) -> [NamedWeights] {
    let order = ["weights", "mean", "variance", "gamma", "beta"]
    return weights.enumerated().sorted { a, b in
      let (x, y) = (
        order.firstIndex(of: a.element.name) ?? order.count,
        order.firstIndex(of: b.element.name) ?? order.count
      )
      return x != y ? x < y : a.offset < b.offset
    }.map(\.element)
  }

  /// A file name without path separators.
  private static func fileName(_ name: String) -> String {
    var result = ""
    for scalar in name.unicodeScalars {
      switch scalar {
      case "/": result += "__SLASH__"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F: result += "_"
      default: result.unicodeScalars.append(scalar)
      }
    }
    if result.hasPrefix(".") { result = "_" + result.dropFirst() }
    return String(result.prefix(200))
  }
}

extension Model {
  /// The number of stored weights in the layers of all networks.
  package var storedWeightCount: Int {
    networks.flatMap { $0.model.neuralNetwork?.layers ?? [] }.reduce(0) { count, layer in
      count + (layer.parameters?.weights ?? []).filter { $0.values.storedCount > 0 }.count
    }
  }
}
