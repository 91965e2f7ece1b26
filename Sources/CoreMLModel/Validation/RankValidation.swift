import TensorCore

extension NeuralNetwork {
  /// Whether blobs have declared ranks; otherwise, all have five axes.
  fileprivate var hasOwnRanks: Bool {
    arrayInputShapeMapping != .rank5 || imageInputShapeMapping != .rank5
      || layers.contains(where: \.needsExactMapping)
  }

  /// Checks the ranks of the network's array inputs.
  func checkRanks(of description: ModelDescription, _ faults: inout ValidationIssues) {
    let areOwn = hasOwnRanks
    for feature in description.input {
      guard case .multiArray(let array)? = feature.type?.kind else { continue }
      let field = "description.input.\(feature.name)"
      if areOwn {
        faults.require(
          !array.shape.isEmpty || array.flexibility == nil, field, "the shape is not specified")
      } else {
        checkFiveAxes(array, field, &faults)
      }
    }
  }

  private func checkFiveAxes(
    _ array: ArrayFeatureType, _ field: String, _ faults: inout ValidationIssues
  ) {
    var ranks = [array.shape.count]
    switch array.flexibility {
    case .enumerated(let shapes)? where array.shape.isEmpty: ranks = shapes.map(\.count)
    case .range(let sizes)? where array.shape.isEmpty: ranks = [sizes.count]
    default: break
    }
    for rank in ranks where rank != 1 && rank != 3 && (rank > 0 || !array.shape.isEmpty) {
      let shape = array.shape.isEmpty ? "a shape" : "the shape \(array.shape)"
      return faults.require(
        false, field, "\(shape) has a rank of \(rank)",
        hint: "[C] and [C, H, W] are supported; other ranks need EXACT_ARRAY_MAPPING")
    }
  }

  /// If images are mapped exactly, arrays must be as well.
  func checkMapping(_ description: ModelDescription, _ faults: inout ValidationIssues) {
    faults.require(
      imageInputShapeMapping == .rank5 || arrayInputShapeMapping != .rank5
        || !description.hasArrayInput,
      "arrayInputShapeMapping", "RANK4_IMAGE_MAPPING needs EXACT_ARRAY_MAPPING of arrays")
  }

  /// Checks the ranks that the description and the layers declare against earlier declarations.
  func checkRanks(
    _ layer: NeuralNetworkLayer, _ declared: inout DeclaredRanks, _ faults: inout ValidationIssues
  ) {
    guard declared.isUsed else { return }
    for (field, tensors, blobs) in [
      ("inputTensor", layer.inputTensor, layer.input),
      ("outputTensor", layer.outputTensor, layer.output),
    ] where !tensors.isEmpty {
      guard tensors.count == blobs.count else {
        faults.require(false, field, "\(tensors.count) tensors for \(blobs.count) blobs")
        continue
      }
      for (tensor, blob) in zip(tensors, blobs) {
        faults.require(
          tensor.dimValue.isEmpty || tensor.rank == tensor.dimValue.count && tensor.rank > 0,
          field, "a rank of \(tensor.rank) with \(tensor.dimValue.count) sizes")
        let known = declared.ranks[blob] ?? tensor.rank
        declared.ranks[blob] = known
        faults.require(
          known == tensor.rank, field, "'\(blob)' has the rank \(known), not \(tensor.rank)")
      }
    }
    guard let rule = layer.parameters?.rankRule else { return }
    let input = layer.input.first.flatMap { declared.ranks[$0] }
    let output = layer.output.first.flatMap { declared.ranks[$0] }
    for (field, rank) in [("input", input), ("output", output)] {
      guard let rank, !rule.ranks.contains(rank) else { continue }
      let (least, most) = (rule.ranks.lowerBound, rule.ranks.upperBound)
      faults.require(
        false, field,
        "a rank of \(rank), not \(least)"
          + (most == least ? "" : most == .max ? " or more" : " to \(most)"))
    }
    if rule.keepsRank, let input, let output {
      faults.require(input == output, "output", "a rank of \(output), but the input's is \(input)")
    }
    if rule.hasEqualInputs {
      let ranks = Set(layer.input.compactMap { declared.ranks[$0] })
      faults.require(
        input == nil || ranks.count <= 1, "input", "blobs have different ranks, \(ranks.sorted())")
    }
  }
}

/// The ranks of blobs, as far as the model declares them.
struct DeclaredRanks {
  fileprivate var ranks: [String: Int] = [:]
  /// Whether blobs have declared ranks; with the older mapping, all have five axes.
  fileprivate let isUsed: Bool

  init(_ network: NeuralNetwork, _ description: ModelDescription) {
    isUsed = network.hasOwnRanks
    for feature in description.input {
      switch feature.type?.kind {
      case .multiArray(let array)?:
        ranks[feature.name] = network.arrayInputShapeMapping == .rank5 ? 5 : array.shape.count
      case .image?: ranks[feature.name] = network.imageInputShapeMapping == .rank5 ? 5 : 4
      default: break
      }
    }
    for feature in description.output {
      if case .multiArray(let array)? = feature.type?.kind, !array.shape.isEmpty {
        ranks[feature.name] = array.shape.count
      }
    }
  }
}

extension ModelDescription {
  var hasArrayInput: Bool {
    input.contains { if case .multiArray? = $0.type?.kind { true } else { false } }
  }
}

/// The valid ranks of a layer's blobs in a network that declares them.
private struct RankRule {
  /// Ranks of the first input and the first output.
  var ranks: ClosedRange<Int>
  /// Whether the ranks of both must be equal.
  var keepsRank = true
  var hasEqualInputs = false

  init(_ least: Int, _ most: Int = .max, equalInputs: Bool = false) {
    ranks = least...most
    hasEqualInputs = equalInputs
  }
}

extension LayerParameters {
  fileprivate var rankRule: RankRule? {
    switch self {
    case let activation as Activation:
      activation.function?.row.weights.isEmpty == false ? RankRule(3) : nil
    case let concat as Concat: RankRule(concat.sequenceConcat ? 5 : 3, equalInputs: true)
    case is InnerProduct: RankRule(1, 5)
    case is Unary: RankRule(0)
    case is Padding: RankRule(2)
    case is Convolution, is Pooling, is Embedding: RankRule(4)
    case is Reshape, is Permute, is any RecurrentLayer, is LoadConstant: RankRule(5, 5)
    case is SequenceRepeat, is Convolution3D, is Pooling3D, is GlobalPooling3D: RankRule(5)
    case is CropResize: RankRule(5, equalInputs: true)
    case is Crop, is DotProduct: RankRule(3, equalInputs: true)
    case is EmbeddingND: RankRule(2, 5)
    case is Batchnorm, is LRN, is Split, is Upsample, is Bias, is L2Normalize, is Flatten,
      is ReorganizeData, is Scale, is MeanVarianceNormalize, is Softmax, is ResizeBilinear:
      RankRule(3)
    default: nil
    }
  }
}
