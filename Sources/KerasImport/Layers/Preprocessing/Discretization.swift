import CoreMLModel
import ImportSupport
import TensorCore

/// The encoding of integers.
private enum CategoryMode: String {
  case int
  case oneHot = "one_hot"
  case multiHot = "multi_hot"
  case count

  init(_ configuration: LayerConfiguration, default standard: CategoryMode) throws {
    let name = try configuration.string("output_mode", default: standard.rawValue)
    guard let mode = CategoryMode(rawValue: name.lowercased() == "binary" ? "multi_hot" : name)
    else { throw configuration.unsupported("output_mode", "'\(name)' is not supported") }
    self = mode
  }
}

extension KerasWriter {
  /// One-hot encoding of integers along a new last axis: 1 for the value that the input equals, 0
  /// for the others.
  mutating func categories(
    _ input: KerasTensor, _ values: [Float], _ call: LayerCall
  ) throws -> KerasTensor {
    let raised = try input.inserting(at: input.rank).orThrow(
      call.unsupported("a fifth axis for its input \(input.shapeText) is not supported"))
    let ones = Weights([Float](repeating: 1, count: values.count))
    var result = channelProduct(
      raised, ones, inputs: 1, outputs: values.count, bias: Weights(values.map { -$0 }),
      call.name + "__distances__")
    let nearness = affine(
      unary(.abs, result.blob, call.name + "__abs__"), -1, 1, call.name + "__nearness__")
    result.blob = add(call.name, Activation(.relu), [nearness])
    result.mask = nil
    return result
  }

  /// Encodes integers below `count` as one-hot or multi-hot vectors, or as counts.
  fileprivate mutating func encoded(
    _ input: KerasTensor, count: Int, _ mode: CategoryMode, _ call: LayerCall
  ) throws -> KerasTensor {
    let isOne = input.rank == 1 || input.shape[input.rank - 1] == 1
    var given = input
    if isOne, input.rank > 1 { given = input.without([input.rank - 1]) }
    let whole = call.with(
      name: isOne || mode == .oneHot ? call.name : call.name + "__places__", inputs: [])
    var result = try categories(given, (0..<count).map { Float($0) }, whole)
    if isOne || mode == .oneHot { return settled(result, for: call.name) }
    let axis = result.rank - 2
    let reduction: Reduce.Operation = mode == .count ? .sum : .max
    result = try reduced(reduction, result, [axis], call.name, call).without([axis])
    return settled(result, for: call.name)
  }
}

/// The number of boundaries less than or equal to each element.
enum Discretization: KerasLayer {
  static let classes = [SourceLayer](
    "Discretization", becomes: "a step function for each boundary, summed",
    options: "`bin_boundaries`, `output_mode` int, one_hot, multi_hot, count",
    refused: "boundaries that are not stored")

  private static let boundaryLimit = 1024

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let boundaries = try configuration.numbers("bin_boundaries") ?? []
    let mode = try CategoryMode(configuration, default: .int)
    try configuration.require(
      !boundaries.isEmpty && boundaries.count <= Self.boundaryLimit, "bin_boundaries",
      unsupported: "\(boundaries.count) boundaries", hint: "call `adapt`, then save the whole model"
    )
    return conversion { call, network in
      let input = try call.input
      var above: [String] = []
      for (index, boundary) in boundaries.enumerated() {
        let name = "\(call.name)__boundary_\(index)__"
        // 1 if the element is below the boundary, by however little.
        let distance = network.affine(input.blob, -1, Float(boundary), name + "distance")
        above.append(network.add(name, Activation(.sigmoidHard(alpha: 1e30, beta: 0)), [distance]))
      }
      let sum = above.count == 1 ? above[0] : network.sum(above, call.name + "__sum__")
      var bins = input
      let isLast = mode == .int
      bins.blob = network.affine(
        sum, -1, Float(boundaries.count), isLast ? call.name : call.name + "__bins__")
      if isLast { return [bins] }
      return [try network.encoded(bins, count: boundaries.count + 1, mode, call)]
    }
  }
}

/// One-hot, multi-hot or count encoding of indices.
enum CategoryEncoding: KerasLayer {
  static let classes = [SourceLayer](
    "CategoryEncoding", becomes: "innerProduct, abs, relu; max or sum for several indices",
    options: "`output_mode`", refused: "`count_weights`")

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let count = try configuration.int("num_tokens", "max_tokens")
    let mode = try CategoryMode(configuration, default: .multiHot)
    return conversion { call, network in
      guard call.inputs.count == 1, call.arguments.keywords["count_weights"] == nil else {
        throw call.unsupported("count_weights are not supported")
      }
      if mode == .int { return [try call.input] }
      return [try network.encoded(call.input, count: count, mode, call)]
    }
  }
}

/// The index of each integer in a vocabulary, after the indices of unknown values.
enum IntegerLookup: KerasLayer {
  static let classes = [SourceLayer](
    "IntegerLookup", becomes: "innerProduct, abs, relu, innerProduct",
    options: "`vocabulary`, `output_mode`", refused: "`invert`, several `num_oov_indices`, words")

  private static let limit = 4096

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    var words = try configuration.numbers("vocabulary") ?? []
    let mode = try CategoryMode(configuration, default: .int)
    // The number with index 0, if there is one.
    let mask =
      mode == .int ? configuration.field("mask_token")?.value.double.map { Float($0) } : nil
    let unknowns = try configuration.int("num_oov_indices", default: 1, atLeast: 0)
    // The index of the first word.
    let first = unknowns + (mask == nil ? 0 : 1)
    // The vocabulary may start with the tokens for masked and unknown numbers.
    for special in [
      configuration.field("mask_token")?.value.double,
      configuration.field("oov_token")?.value.double,
    ] where special != nil && words.first == special { words.removeFirst() }
    try configuration.require(
      (1...Self.limit).contains(words.count) && words.allSatisfy({ abs($0) < 16_777_216 }),
      "vocabulary",
      unsupported: words.isEmpty
        ? "it is missing from the file" : "it has \(words.count) numbers, or numbers beyond 2²⁴",
      hint: words.isEmpty
        ? "save the model as .keras, which stores what adapt() has found; an .h5 file does not"
        : "create the layer with vocabulary=[…]")
    let vocabulary = words.map { Float($0) }
    // The size of the encoded vectors, if it differs from the vocabulary's.
    let width =
      try configuration.bool("pad_to_max_tokens", default: false)
      ? configuration.int("max_tokens", atLeast: vocabulary.count + first) : nil
    try configuration.require(
      unknowns <= 1 && !configuration.bool("invert", default: false), nil,
      unsupported: "several num_oov_indices and invert are not supported")
    return conversion { call, network in
      let input = try call.input
      var (words, indices) = (vocabulary, vocabulary.indices.map { Float(first + $0) })
      let unknown: Float = mask == nil ? 0 : 1
      if let mask {
        words.append(mask)
        indices.append(0)
      }
      let hits = try network.categories(
        input, words, call.with(name: call.name + "__words__", inputs: []))
      var result = network.channelProduct(
        hits, Weights(indices.map { $0 - unknown }), inputs: words.count, outputs: 1,
        bias: Weights([unknown]), call.name)
      result = result.without([result.rank - 1])
      result = network.settled(result, for: call.name)
      if mode == .int { return [result] }
      return [
        try network.encoded(
          result, count: width ?? vocabulary.count + first, mode,
          call.with(name: call.name + "__encoded__", inputs: []))
      ]
    }
  }
}
