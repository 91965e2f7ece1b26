import CoreMLModel
import ImportSupport
import TensorCore

extension DarknetLayer {
  /// scale · (x − mean) / √(variance + 10⁻⁵) + bias; the bias is 0 if it is not in the file.
  static let batchNorm = DarknetLayer(SourceLayer("batchnorm", becomes: "batchnorm")) { _ in
    { call, network in
      let input = try call.image
      let channels = input.channels
      let bias =
        network.storesBatchnormBiases
        ? try network.weights.take("biases", [channels], layer: call.name)
        : FloatValues(repeating: 0, shape: [channels])
      let normalization = try Normalization(channels, from: &network, call)
      return input.with(network.add(call.name, normalization.layer(bias: bias), [input.blob]))
    }
  }

  /// The maximum number of channels, which determines the size of the summation matrix.
  private static let channelLimit = 4096

  /// x / (kappa + alpha · Σ x²)^beta, with the sum over the neighboring channels.
  ///
  /// The sum for channel c covers c − ⌊(size − 1) / 2⌋ … c + ⌊size / 2⌋, except channel ⌊size / 2⌋:
  /// Darknet starts its running sum one channel early and never corrects it. Since networks were
  /// trained that way, a 1 × 1 convolution of the squares reproduces this sum.
  static let normalization = DarknetLayer(
    SourceLayer(
      "normalization", "lrn",
      becomes:
        "squares, a 1 × 1 convolution, power and a product: Darknet's sum leaves out a channel"
    ), options: ["size", "alpha", "beta", "kappa"]
  ) { section in
    let size = try section.int("size", default: 5, in: 1...channelLimit)
    let alpha = try section.double("alpha", default: 1e-4)
    let beta = try section.double("beta", default: 0.75)
    let kappa = try section.double("kappa", default: 1)
    return { call, network in
      let input = try call.image
      let count = input.channels
      guard count <= channelLimit else {
        throw call.unsupported("\(count) channels; the limit is \(channelLimit)")
      }
      let half = size / 2
      try call.require(half <= count, "sums over \(size) channels of \(count)")
      try network.addConstants([count, count], call)
      var matrix = [Float](repeating: 0, count: count * count)
      for row in 0..<count {
        for column in max(0, row - (size - 1) / 2)..<min(count, row + half + 1) {
          matrix[row * count + column] += Float(alpha)
        }
        if half < count { matrix[row * count + half] -= Float(alpha) }
      }
      let convolution = Convolution(
        [count, count, 1, 1], kernel: Weights(matrix),
        bias: Weights([Float](repeating: Float(kappa), count: count)))
      let squares = network.product(input.blob, input.blob, call.name + "__squares__")
      let sums = network.add(call.name + "__sums__", convolution, [squares])
      let factors = network.unary(.power, sums, call.name + "__power__", alpha: Float(-beta))
      return input.with(network.product(input.blob, factors, call.name))
    }
  }

  /// x / √(Σ x²), with the sum over the channels at each position.
  static let l2Norm = DarknetLayer(SourceLayer("l2norm", becomes: "reduce, power and a product")) {
    _ in
    { call, network in
      let input = try call.image
      let squares = network.reduced(.sumsquare, .c, input.blob, call.name + "__squares__")
      let factor = network.unary(.power, squares, call.name + "__factor__", alpha: -0.5)
      return input.with(network.product(input.blob, factor, call.name))
    }
  }

  /// exp(x / temperature) / Σ exp(x / temperature) over all elements, or over each of `groups` parts;
  /// with `spatial`, over the channels at each position.
  static let softmax = DarknetLayer(
    SourceLayer(
      "softmax", "soft",
      becomes:
        "flatten, softmax; with `groups` wrapped in reshapes and permutes; with `tree` a slice "
        + "and a softmax for each group of the file's classes, concat",
      refused: "`tree` if its file does not exist"),
    options: ["groups", "temperature", "spatial", "tree"], trainingOptions: ["noloss"]
  ) { section in
    let groups = try section.int("groups", default: 1, in: 1...Limits.dimension)
    let temperature = try section.double("temperature", default: 1)
    let isSpatial = try section.double("spatial", default: 0) != 0
    if let option = section["temperature"], temperature == 0 { throw section.error(option, "0") }
    let tree = section.string("tree")
    return { call, network in
      let input = try call.input
      var blob = input.blob
      if temperature != 1 {
        blob = network.affine(blob, Float(1 / temperature), 0, call.name + "__temperature__")
      }
      if let tree { return try network.shares(tree, input.with(blob), call) }
      if isSpatial { return input.with(network.add(call.name, Softmax(), [blob])) }
      blob = network.flattened(input.with(blob), for: call.name)
      try call.require(
        input.count % groups == 0, "\(input.count) numbers are not divisible into \(groups) groups")
      if groups == 1 { return try .vector(network.add(call.name, Softmax(), [blob]), input.count) }
      // One row per group, with its elements along the channels.
      let rows = network.reshaped(
        blob, 1, groups, input.count / groups, call.name + "__groups__")
      let transposed = network.permuted(rows, [0, 3, 2, 1], call.name + "__turned__")
      let shares = network.add(call.name, Softmax(), [transposed])
      let back = network.permuted(shares, [0, 3, 2, 1], call.name + "__back__")
      return try .vector(
        network.reshaped(back, input.count, 1, 1, call.name + "__row__"), input.count)
    }
  }
}

extension DarknetWriter {
  /// The softmax over each group of classes in a hierarchy.
  fileprivate mutating func shares(
    _ name: String, _ input: DarknetTensor, _ call: LayerCall
  ) throws -> DarknetTensor {
    let tree: ClassTree
    do {
      guard let file = trees[name] else { throw ModelError(.missingFile, "no such file") }
      tree = try file.get()
    } catch {
      throw call.unsupported(
        "tree = \(name), a hierarchy of classes: \(error)", hint: "put the file beside the .cfg")
    }
    let total = tree.groups.reduce(0, +)
    try call.require(
      total == input.count, "\(name) has \(total) classes, but its input has \(input.count) numbers"
    )
    let blob = flattened(input, for: call.name)
    var parts: [String] = []
    var start = 0
    for (index, group) in tree.groups.enumerated() {
      let range = start..<start + group
      start = range.upperBound
      let part =
        tree.groups.count == 1 ? blob : slice(blob, range, "\(call.name)__group_\(index)__")
      parts.append(add("\(call.name)__share_\(index)__", Softmax(), [part]))
    }
    return try .vector(joined(parts, alongSequence: false, call.name), total)
  }
}
