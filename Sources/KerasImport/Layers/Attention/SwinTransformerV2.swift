import CoreMLModel
import ImportSupport
import LibC
import TensorCore

// Layers of keras-cv-attention-models 1.4's Swin Transformer V2.

/// Adds a bias per head and relative position to the scores. A network with two matrices computes
/// the bias from the relative position, unless the weights contain it.
struct PairwisePositionalEmbedding: KerasLayerSettings {
  static let classes = [SourceLayer](
    "MlpPairwisePositionalEmbedding", becomes: "bias",
    options:
      "`hidden_dim`, `attn_height`, `attn_width`, `pos_scale`, `is_deploy_mode`; from keras-cv-attention-models",
    refused: "`use_absolute_pos`")

  private let hidden: Int
  private let height: Int?
  private let width: Int?
  private let scale: [Int]?
  private let isDeployed: Bool

  init(_ configuration: LayerConfiguration) throws {
    hidden = try configuration.int("hidden_dim", default: 512)
    (height, width) = (try configuration.size("attn_height"), try configuration.size("attn_width"))
    let scales = try configuration.sizes("pos_scale", count: 2, default: [-1, -1], atLeast: -1)
    scale = scales[0] == -1 ? nil : scales
    isDeployed = try configuration.bool("is_deploy_mode", default: false)
    try configuration.require(
      !configuration.bool("use_absolute_pos", default: false), "use_absolute_pos",
      unsupported: "true is not supported")
  }

  var weights: [WeightSlot] {
    isDeployed
      ? [WeightSlot("deploy_bias", isTrainable: false)]
      : WeightSlot.named("hidden_weight", "hidden_bias", "out")
  }
  static let leadingAxes = LeadingAxesPolicy.keeps

  func convert(_ call: LayerCall, into network: inout KerasWriter) throws -> [KerasTensor] {
    let input = try call.input
    try call.require(
      input.rank >= 4, "its input \(input.shapeText) is not the scores of several heads")
    let sizes = try call.known(input.shape.suffix(3), of: input)
    let count = try computedCount(sizes)
    let terms =
      isDeployed ? try call.flatWeight("deploy_bias", count) : try numbers(sizes, call)
    let layout =
      input.rank == 4 ? TensorLayout.imageChannelsFirst : .imageSequenceChannelsFirst
    let scores = network.relaid(input, to: layout, for: call.name)
    let table = FloatValues(terms).shaped(sizes)
    return [scores.with(network.add(call.name, Bias(Weights(table), table.shape), [scores.blob]))]
  }

  private func numbers(_ sizes: [Int], _ call: LayerCall) throws -> [Float] {
    let (heads, places) = (sizes[0], sizes[1])
    let height = self.height ?? Int(Double(places).squareRoot())
    let width = self.width ?? (height > 0 ? places / height : 0)
    guard height > 0, width > 0, sizes[2] == places,
      let grid = try? checkedProduct([height, width], limit: Limits.dimension), grid <= places
    else { throw call.error("its input has \(places) positions, not \(height) × \(width)") }
    let table = try distances(height, width, heads, call)
    var result = try [Float](zeros: heads * places * places)
    // Tokens before the image have a bias of 0.
    let tokens = places - grid
    for query in 0..<grid {
      for key in 0..<grid {
        let across = query % height - key % height + height - 1
        let along = query / height - key / height + width - 1
        let row = across + along * (2 * height - 1)
        for head in 0..<heads {
          let place = (head * places + query + tokens) * places + key + tokens
          result[place] = Float(16 / (1 + exp(-table[row * heads + head])))
        }
      }
    }
    return result
  }

  /// The table of relative positions, with one value per head, by row and column.
  private func distances(
    _ height: Int, _ width: Int, _ heads: Int, _ call: LayerCall
  ) throws -> [Double] {
    let first = try call.weight("hidden_weight", [2, hidden]).array()
    let bias = try call.weight("hidden_bias", [hidden]).array()
    let second = try call.weight("out", [hidden, heads]).array()
    let scale = self.scale ?? [height, width]
    try call.require(scale.allSatisfy { $0 > 1 }, "its pos_scale is \(scale), which must exceed 1")
    func coordinate(_ distance: Int, _ size: Int) -> Double {
      let scaled = Double(distance) * 8 / Double(size - 1)
      let size = log(1 + abs(scaled)) / (3 * log(2))
      return scaled < 0 ? -size : scaled > 0 ? size : scaled
    }
    _ = try checkedProduct(
      [2 * height - 1, 2 * width - 1, hidden, heads], limit: Limits.tensorElements)
    var result: [Double] = []
    for row in 1 - height..<height {
      for column in 1 - width..<width {
        let (y, x) = (coordinate(row, scale[0]), coordinate(column, scale[1]))
        let layer = (0..<hidden).map { index in
          max(y * Double(first[index]) + x * Double(first[hidden + index]) + Double(bias[index]), 0)
        }
        for head in 0..<heads {
          var sum = 0.0
          for (index, value) in layer.enumerated() {
            sum += value * Double(second[index * heads + head])
          }
          result.append(sum)
        }
      }
    }
    return result
  }
}

/// Adds −100 to a window's scores of positions that were not neighbors before the shift.
enum WindowAttentionMask: KerasLayer {
  static let classes = [SourceLayer](
    "WindowAttentionMask", becomes: "bias",
    options:
      "`height`, `width`, `window_height`, `window_width`, `shift_height`, `shift_width`; from keras-cv-attention-models"
  )

  static let leadingAxes = LeadingAxesPolicy.decides

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let sizes = [try configuration.int("height"), try configuration.int("width")]
    let windows = [try configuration.int("window_height"), try configuration.int("window_width")]
    let shifts = [
      try configuration.int("shift_height", default: 0, atLeast: 0),
      try configuration.int("shift_width", default: 0, atLeast: 0),
    ]
    for axis in 0..<2 {
      try configuration.require(
        sizes[axis] % windows[axis] == 0 && shifts[axis] < windows[axis],
        axis == 0 ? "window_height" : "window_width",
        unsupported: "\(windows[axis]) does not divide \(sizes[axis])")
    }
    return conversion { call, network in
      let input = try call.input
      let count = (sizes[0] / windows[0]) * (sizes[1] / windows[1])
      let places = try checkedProduct(windows, limit: Limits.dimension)
      let full = input.fullShape
      try call.require(
        full.count == 4 && (input.leading?.windows ?? 1) == count && full[2] == places
          && full[3] == places,
        "its input \(input.shapeText) is not the scores of \(count) windows of \(places) positions")
      // With a single window, axis 1 of the tensor is the heads.
      let shape = input.leading == nil ? [1, places, places] : [count, places, places]
      // The region of a shifted axis that contains a position.
      func region(_ place: Int, _ axis: Int) -> Int {
        place < sizes[axis] - windows[axis] ? 0 : place < sizes[axis] - shifts[axis] ? 1 : 2
      }
      var values: [Float] = []
      values.reserveCapacity(try computedCount(shape))
      for down in 0..<sizes[0] / windows[0] {
        for right in 0..<sizes[1] / windows[1] {
          let regions = (0..<places).map { place in
            3 * region(down * windows[0] + place / windows[1], 0)
              + region(right * windows[1] + place % windows[1], 1)
          }
          for query in regions { for key in regions { values.append(query == key ? 0 : -100) } }
        }
      }
      // The windows are along the channels, the heads along the sequence.
      let layout = TensorLayout(
        axes: input.leading == nil
          ? [.sequence, .height, .width] : [.channel, .sequence, .height, .width])
      let scores = network.relaid(input, to: layout, for: call.name)
      let bias = Bias(Weights(values), shape)
      return [scores.with(network.add(call.name, bias, [scores.blob]))]
    }
  }
}

extension LayerCall {
  /// The weight `name`, of any shape with `count` elements.
  func flatWeight(_ name: String, _ count: Int) throws -> [Float] {
    let shape = weights.first { $0.name == name }?.shape ?? []
    guard missingWeights == nil, shape.reduce(1, *) == count else {
      return try weight(name, [count]).array()
    }
    return try weight(name, shape.map { Int?($0) }).array()
  }
}
