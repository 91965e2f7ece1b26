import CoreMLModel
import TensorCore

/// The pairs of query and key that are not masked.
struct AttentionMask {
  /// Whether a query attends only to keys up to its position.
  var isCausal = false
  /// If set, a query attends only to keys fewer than this many steps away.
  var window: Int?
  var queries: StepMask?
  var keys: [StepMask] = []
  /// A mask tensor computed by the model; 0 masks a pair.
  var given: KerasTensor?
}

extension KerasWriter {
  /// softmax(scores) · values, over the last axis of the scores.
  ///
  /// - Parameter dropsIgnored: whether masked pairs have weight 0 even if all keys of a query are
  ///   masked; otherwise, such a query weights all keys equally.
  mutating func attended(
    _ scores: KerasTensor, _ values: KerasTensor, _ mask: AttentionMask, dropsIgnored: Bool = false,
    _ name: String, _ call: LayerCall
  ) throws -> (result: KerasTensor, weights: KerasTensor) {
    var scores = scores
    let factor = try factor(mask, &scores, name, call)
    if let factor {
      let kept = product(scores.blob, factor, name + "__kept__")
      let offset = affine(factor, 1e9, -1e9, name + "__offset__")
      scores.blob = sum([kept, offset], name + "__masked__")
    }
    var weights = softmax(scores, axis: scores.rank - 1, name + "__weights__")
    if dropsIgnored, let factor {
      weights = relaid(weights, to: scores.layout, for: name + "_weights")
      weights.blob = product(weights.blob, factor, name + "__counted__")
    }
    return (try matrixProduct(weights, values, name, call), weights)
  }

  /// 1 for an unmasked pair and 0 for a masked one; nil if none are masked. Broadcasts to the
  /// scores, with queries along the height and keys along the width.
  private mutating func factor(
    _ mask: AttentionMask, _ scores: inout KerasTensor, _ name: String, _ call: LayerCall
  ) throws -> String? {
    var factors: [String] = []
    let rank = scores.rank
    var layout = scores.layout
    layout.axes = Array([.sequence].prefix(rank - 3)) + [.height, .width]
    scores = relaid(scores, to: layout, for: name + "_scores")
    func steps(_ mask: StepMask, _ place: BlobAxis) -> String {
      relaid(
        self.steps(of: mask), to: TensorLayout(axes: [place, .channel]), for: "\(name)_\(place)"
      ).blob
    }
    if let queries = mask.queries { factors.append(steps(queries, .height)) }
    for keys in mask.keys { factors.append(steps(keys, .width)) }
    if mask.isCausal || mask.window != nil {
      factors.append(
        try band(
          scores, below: mask.window.map { $0 - 1 },
          above: mask.isCausal ? 0 : mask.window.map { $0 - 1 }, name + "__band__"))
    }
    if var given = mask.given {
      try call.require(
        (given.rank == 3 || given.rank == 4) && given.rank <= rank,
        unsupported:
          "the attention mask \(given.shapeText) does not match the scores \(scores.shapeText)")
      given = relaid(
        given, to: TensorLayout(axes: Array(layout.axes.suffix(given.rank - 1))),
        for: name + "_mask")
      factors.append(counting(given.blob, name + "__mask__"))
    }
    guard var factor = factors.first else { return nil }
    for (index, other) in factors.dropFirst().enumerated() {
      factor = product(factor, other, "\(name)__mask_\(index)__")
    }
    return factor
  }

  /// 1 for nonzero elements, 0 for zeros.
  mutating func counting(_ blob: String, _ name: String) -> String {
    let size = unary(.abs, blob, name + "__abs__")
    return addUpperLimit(1, affine(size, 1e30, 0, name + "__scale__"), name: name)
  }

  /// 1 if −below ≤ key − query ≤ above; a nil bound allows any distance.
  private mutating func band(
    _ scores: KerasTensor, below: Int?, above: Int?, _ name: String
  ) throws -> String {
    guard let rows = scores.shape[scores.rank - 2], let columns = scores.shape[scores.rank - 1],
      rows <= 4096, columns <= 4096
    else {
      var band = MatrixBandPart()
      band.numLower = below ?? -1
      band.numUpper = above ?? -1
      return add(name, band, [affine(scores.blob, 0, 1, name + "ones")])
    }
    let constant = LoadConstant(
      Weights(
        (0..<rows).flatMap { row in
          (0..<columns).map { column -> Float in
            column - row > above ?? columns || row - column > below ?? rows ? 0 : 1
          }
        }), [1, rows, columns])
    return add(name, constant, [])
  }
}

extension LayerCall {
  /// The value of a Boolean keyword argument.
  func flag(_ name: String) -> Bool {
    if case .value(let value)? = arguments.keywords[name] { return value.bool ?? false }
    return false
  }

  /// The tensor at an argument position or with a name.
  func tensor(_ position: Int, _ name: String) -> KerasTensor? {
    if case .tensor(let index)? = arguments.keywords[name] { return inputs[index] }
    let positional = arguments.positional.flatMap { argument -> [CallArgument] in
      if case .list(let elements) = argument { elements } else { [argument] }
    }
    guard position < positional.count, case .tensor(let index) = positional[position] else {
      return arguments.positional.isEmpty && position < inputs.count ? inputs[position] : nil
    }
    return inputs[index]
  }

  func tooFewInputs(_ wanted: String) -> ModelError {
    error("it takes \(wanted), but is called with \(inputs.count) tensors")
  }
}
