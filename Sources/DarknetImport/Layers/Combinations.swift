import CoreMLModel
import ImportSupport
import LibC
import TensorCore

extension DarknetLayer {
  /// Concatenates the outputs of earlier layers along the channels; with `groups`, only part
  /// `group_id` of each. `route_lhalf`, from the implementation in PyTorch, uses the first halves.
  static let route = DarknetLayer(
    SourceLayer(
      "route", "route2", "route3", "route_lhalf",
      becomes: "nothing for one layer; slice for a group; concat; images of different sizes as "
        + "one vector", refused: "groups that do not divide the channels evenly"),
    options: ["layers", "groups", "group_id"], trainingOptions: ["stream", "wait_stream"]
  ) { section in
    let option = try section.required("layers")
    let layers = try section.ints("layers") ?? []
    guard !layers.isEmpty else { throw section.error(option, "it refers to no layer") }
    let groups = try section.int(
      "groups", default: section.kind == "route_lhalf" ? 2 : 1, in: 1...Limits.dimension)
    let group = try section.int("group_id", default: 0)
    try require(
      group < groups,
      "line \(section.line): group_id \(group) is out of range for \(groups) groups, counted from 0"
    )
    return { call, network in
      let parts = try layers.map { try call.output($0) }
      let first = parts[0]
      let isImage = parts.allSatisfy { $0.isImage && $0.hasSize(of: first) }
      var blobs: [String] = []
      var channels: [Int] = []
      for (index, part) in parts.enumerated() {
        let count = isImage ? part.channels : part.count
        guard count % groups == 0 else {
          throw call.unsupported(
            "the \(count) channels of layer \(layers[index]) are not divisible into \(groups) groups"
          )
        }
        let own = count / groups
        let suffix = parts.count == 1 ? "" : "_\(index)"
        var blob = isImage ? part.blob : network.flattened(part, for: "\(call.name)\(suffix)")
        if groups > 1 {
          let name = parts.count == 1 ? call.name : "\(call.name)__group\(suffix)__"
          blob = network.slice(blob, group * own..<(group + 1) * own, name)
        }
        blobs.append(blob)
        channels.append(own)
      }
      let total = try checkedSum(channels, limit: Limits.dimension)
      let blob = network.joined(blobs, alongSequence: false, call.name)
      return isImage
        ? try DarknetTensor(blob, total, first.height, first.width) : try .vector(blob, total)
    }
  }

  /// out = activation(alpha · in + beta · from), over the channels, rows and columns that both have;
  /// if `from` is larger, only every n-th row and column is used. With several `from` and
  /// `weights_type`, it is a weighted sum.
  static let shortcut = DarknetLayer(
    SourceLayer(
      "shortcut",
      becomes: "add; slices if `from` has other channels, rows or columns; scales for "
        + "`weights_type`", refused: "a `from` of fewer rows"),
    options: [
      "from", "activation", "alpha", "beta", "weights_type", "weights_normalization",
    ]
  ) { section in
    let option = try section.required("from")
    let from = try section.ints("from") ?? []
    guard !from.isEmpty else { throw section.error(option, "it refers to no layer") }
    let activation = ActivationFunction(section, default: "linear")
    let alpha = try section.double("alpha", default: 1)
    let beta = try section.double("beta", default: 1)
    let kind = try section.word(
      "weights_type", of: ["none", "per_feature", "per_layer", "per_channel"],
      hint: "none, per_feature or per_channel")
    let norm = try section.word(
      "weights_normalization", of: ["none", "relu", "avg_relu", "softmax"],
      hint: "none, relu or softmax")
    try require(
      kind == "none" || (alpha == 1 && beta == 1), .unsupported,
      "line \(section.line): weights together with alpha and beta")
    try require(
      from.count == 1 || (alpha == 1 && beta == 1), .unsupported,
      "line \(section.line): several layers together with alpha and beta")
    return { call, network in
      let input = try call.image
      let sources = try from.map { try call.output($0) }
      if kind != "none" {
        let columns = kind == "per_channel" ? input.channels : 1
        let sum = try network.weightedSum([input] + sources, columns, norm, call)
        return try network.activate(activation, input.with(sum), call)
      }
      var result = input
      var addends: [String] = []
      for (position, source) in sources.enumerated() {
        let suffix = sources.count == 1 ? "" : "_\(position)"
        if source.shape == input.shape {
          addends.append(network.scaled(source.blob, beta, "\(call.name)__beta__"))
          continue
        }
        let part = try network.fitted(source, to: input, suffix, call)
        if part.channels == input.channels {
          addends.append(network.scaled(part.blob, beta, "\(call.name)__beta__"))
          continue
        }
        // Channels that `from` lacks stay unchanged.
        let own = network.slice(
          result.blob, 0..<part.channels, "\(call.name)__own\(suffix)__")
        let rest = network.slice(
          result.blob, part.channels..<input.channels, "\(call.name)__rest\(suffix)__")
        let sum = network.sum(
          [
            network.scaled(own, alpha, "\(call.name)__alpha__"),
            network.scaled(part.blob, beta, "\(call.name)__beta__"),
          ], "\(call.name)__sum\(suffix)__")
        result.blob = network.joined(
          [sum, rest], alongSequence: false, "\(call.name)__joined\(suffix)__")
      }
      if !addends.isEmpty {
        let own = network.scaled(result.blob, alpha, "\(call.name)__alpha__")
        result.blob = network.sum([own] + addends, call.name)
      }
      return try network.activate(activation, result, call)
    }
  }

  /// activation(in · from), with one factor per channel, or, with `scale_wh`, one per position.
  static let scaleChannels = DarknetLayer(
    SourceLayer("scale_channels", becomes: "multiply, activation"),
    options: ["from", "scale_wh", "activation"]
  ) { section in
    let from = try section.reference("from")
    let isByPlace = try section.bool("scale_wh")
    let activation = ActivationFunction(section, default: "linear")
    return { call, network in
      let factors = try call.image
      let source = try call.output(from)
      let fits =
        isByPlace
        ? factors.channels == 1 && factors.hasSize(of: source)
        : factors.isRow && factors.channels == source.channels
      try call.require(fits, "factors of \(factors.sizes) do not match \(source.sizes)")
      let blob = network.product(source.blob, factors.blob, call.name)
      return try network.activate(activation, source.with(blob), call)
    }
  }

  /// activation(in · from), elementwise.
  static let sam = DarknetLayer(
    SourceLayer("sam", becomes: "multiply, activation"), options: ["from", "activation"]
  ) { section in
    let from = try section.reference("from")
    let activation = ActivationFunction(section, default: "linear")
    return { call, network in
      let input = try call.image
      let source = try call.output(from)
      try call.require(
        input.shape == source.shape, "\(input.sizes) times \(source.sizes): the sizes differ")
      let blob = network.product(input.blob, source.blob, call.name)
      return try network.activate(activation, source.with(blob), call)
    }
  }
}

extension ConfigurationSection {
  /// The option, which is one of `words`; the first one if it is missing.
  fileprivate func word(_ key: String, of words: [String], hint: String) throws -> String {
    guard let option = self[key] else { return words[0] }
    guard words.contains(option.value) else {
      throw error(option, "'\(option.value)' is unknown", hint: hint)
    }
    return option.value
  }
}

extension DarknetWriter {
  fileprivate mutating func scaled(_ blob: String, _ factor: Double, _ name: String) -> String {
    factor == 1 ? blob : affine(blob, Float(factor), 0, name)
  }

  /// The part of `source` that is added to `input`: with the rows and columns of `input`, and at
  /// most its channels.
  fileprivate mutating func fitted(
    _ source: DarknetTensor, to input: DarknetTensor, _ suffix: String, _ call: LayerCall
  ) throws -> DarknetTensor {
    let channels = min(source.channels, input.channels)
    var blob = source.blob
    if channels < source.channels {
      blob = slice(blob, 0..<channels, "\(call.name)__channels\(suffix)__")
    }
    if !source.hasSize(of: input) {
      let step = source.width / input.width
      try call.require(
        step >= 1 && step == source.height / input.height,
        unsupported:
          "it adds \(source.sizes) to \(input.sizes), whose rows and columns differ by different factors"
      )
      for (axis, length, name) in [
        (Slice.Axis.height, input.height, "rows"), (.width, input.width, "columns"),
      ] {
        let end = try checkedProduct([length - 1, step], limit: Limits.dimension) + 1
        blob = slice(
          blob, 0..<end, of: axis, stride: step, "\(call.name)__\(name)\(suffix)__")
      }
    }
    return try DarknetTensor(blob, channels, input.height, input.width)
  }

  /// Σ w · x, with the weights normalized across the layers.
  fileprivate mutating func weightedSum(
    _ tensors: [DarknetTensor], _ columns: Int, _ norm: String, _ call: LayerCall
  ) throws -> String {
    let input = tensors[0]
    for source in tensors where source.shape != input.shape {
      throw call.unsupported(
        "it weights \(source.sizes) and \(input.sizes), which have different sizes")
    }
    let rows = tensors.count
    try addConstants([rows, columns], call)
    let stored = try weights.take("weights", [rows, columns], layer: call.name).array()
    var terms: [String] = []
    for (row, tensor) in tensors.enumerated() {
      let factors = (0..<columns).map { column -> Float in
        let weights = (0..<rows).map { Double(stored[$0 * columns + column]) }
        return Float(Self.normalized(weights, norm)[row])
      }
      var scale = Scale()
      scale.shapeScale = [columns, 1, 1]
      scale.scale = Weights(factors)
      terms.append(add("\(call.name)__weight_\(row)__", scale, [tensor.blob]))
    }
    return sum(terms, call.name)
  }

  private static func normalized(_ weights: [Double], _ norm: String) -> [Double] {
    if norm == "none" { return weights }
    let largest = weights.max() ?? 0
    let kept = weights.map { norm == "softmax" ? exp($0 - largest) : max($0, 0) }
    let sum = kept.reduce(1e-4, +)
    return kept.map { $0 / sum }
  }
}
