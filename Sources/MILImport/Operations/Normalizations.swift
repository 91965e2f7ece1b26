import CoreMLModel
import TensorCore

let normalizationRules: [OperationRule] = [
  OperationRule(
    "batch_norm", "x mean variance gamma? beta? epsilon?",
    "gamma · (x − mean) / √(variance + epsilon) + beta, for each channel"
  ) { call in
    let x = try call.input(ranks: 3...5)
    var layer = try call.normalization(x)
    layer.mean = try call.weights("mean", shape: [layer.channels])
    layer.variance = try call.weights("variance", shape: [layer.channels])
    return [try call.asFourAxes(x) { try call.add(layer, $0) }]
  },
  OperationRule(
    "instance_norm", "x gamma? beta? epsilon?",
    "batch_norm with the mean and variance of each image's channel"
  ) { call in
    let x = try call.input(ranks: 3...5)
    var layer = try call.normalization(x)
    layer.computeMeanVar = true
    layer.instanceNormalization = true
    return [try call.asFourAxes(x) { try call.add(layer, $0) }]
  },
  OperationRule(
    "layer_norm", "x axes? gamma? beta? epsilon?",
    "gamma · (x − mean) / √(variance + epsilon) + beta, over the axes"
  ) { call in
    let x = try call.value("x")
    let axes = try ArrayShape.axes(call.ints("axes") ?? Array(0..<x.rank), rank: x.rank)
    try require(!axes.isEmpty, "the axes are missing", field: "axes")
    let order = (0..<x.rank).filter { !axes.contains($0) } + axes
    var layer = LayerNormalization()
    layer.normalizedShape = axes.map { x.shape[$0] }
    layer.eps = try call.float("epsilon", 1e-5)
    layer.gamma =
      try call.weights("gamma", shape: layer.normalizedShape)
      ?? call.repeated(1, layer.normalizedShape)
    layer.beta =
      try call.weights("beta", shape: layer.normalizedShape)
      ?? call.repeated(0, layer.normalizedShape)
    let normalized = try call.add(layer, call.transposed(x, order))
    let back = (0..<x.rank).map { axis in order.firstIndex(of: axis) ?? axis }
    return [try call.transposed(normalized, back)]
  },
  OperationRule(
    "local_response_norm", "x size alpha? beta? k?",
    "x / (k + alpha / size · the sum of squares over size channels)^beta"
  ) { call in
    let x = try call.input(ranks: 3...5)
    var layer = LRN()
    layer.localSize = try call.int("size") ?? 0
    layer.alpha = try call.float("alpha", 1e-4)
    layer.beta = try call.float("beta", 0.75)
    layer.k = try call.float("k", 1)
    try require(layer.k != 0, .unsupported, "a k of 0 is not supported", field: "k")
    return [try call.asFourAxes(x) { try call.add(layer, $0) }]
  },
  OperationRule(
    "l2_norm", "x epsilon?", "x / √(the sum of squares over the last three axes + epsilon)"
  ) { call in
    let x = try call.input(ranks: 3...Int.max)
    let sum = ReduceSumSquare().with(\.axes, [-3, -2, -1]).with(\.keepDims, true)
    let squares = try call.linear(call.add(sum, x), 1, call.float("epsilon", 1e-6))
    let root = try call.add(Unary().with(\.type, .sqrt), squares)
    return [try call.add(DivideBroadcastable(), x, root)]
  },
  OperationRule("softmax", "x axis?", "eˣ, divided by the sum along the axis") { call in
    let x = try call.value("x")
    return [try call.add(SoftmaxND().with(\.axis, call.axis("axis", rank: x.rank, -1)), x)]
  },
]

extension OperationCall {
  fileprivate func repeated(_ value: Float, _ shape: [Int]) throws -> Weights {
    _ = try checkedProduct(shape, limit: Limits.tensorElements)
    return Weights(FloatValues(repeating: value, shape: shape))
  }

  fileprivate func normalization(_ x: ProgramValue) throws -> Batchnorm {
    var layer = Batchnorm()
    layer.channels = x.shape[1]
    // In a layer, 0 means that epsilon is unset, and coremltools rounds small values to 0.
    layer.epsilon = try max(float("epsilon", 1e-5), .leastNormalMagnitude)
    layer.gamma = try weights("gamma", shape: [layer.channels]) ?? repeated(1, [layer.channels])
    layer.beta = try weights("beta", shape: [layer.channels]) ?? repeated(0, [layer.channels])
    return layer
  }

  /// Applies `body` to the value as [N, C, H, W], and restores the value's shape.
  fileprivate func asFourAxes(
    _ x: ProgramValue, _ body: (ProgramValue) throws -> ProgramValue
  ) throws -> ProgramValue {
    guard x.rank == 5 else { return try asPlanes(x, body) }
    let s = x.shape
    let depth = try checkedProduct([s[2], s[3]], limit: Limits.dimension)
    return try reshaped(body(reshaped(x, [s[0], s[1], depth, s[4]])), s)
  }
}

let linearRules: [OperationRule] = [
  OperationRule("linear", "x weight bias?", "x · weightᵀ + bias") { call in
    let x = try call.value("x")
    guard let weight = try call.elements("weight") else { return [] }
    try require(weight.shape.count == 2, "the shape is \(weight.shape)", field: "weight")
    var layer = BatchedMatMul()
    layer.weightMatrixFirstDimension = weight.shape[1]
    layer.weightMatrixSecondDimension = weight.shape[0]
    layer.matrix = try weight.weights(scalesRows: true)
    layer.bias = try call.weights("bias", shape: [weight.shape[0]])
    layer.hasBias = layer.bias != nil
    return [try call.add(layer, x)]
  },
  OperationRule(
    "matmul", "x y transpose_x? transpose_y?", "the product of the matrices in the last two axes"
  ) { call in
    let (x, y) = (try call.value("x"), try call.value("y"))
    let result = try call.product(
      x, y, transposeX: call.bool("transpose_x"), transposeY: call.bool("transpose_y"))
    // Since iOS 17, a constant is cast to the other operand's type.
    return [result.with(type: x.constant != nil && y.constant == nil ? y.type : x.type)]
  },
  OperationRule(
    "einsum", "values equation", "nchw,nwhu->nchu or chw,whu->chu: a product for each n and h"
  ) { try $0.einsum() },
  OperationRule(
    "scaled_dot_product_attention", "query key value attn_mask?",
    "softmax(query · keyᵀ / √size + mask) · value"
  ) { call in
    let (query, key) = (try call.value("query"), try call.value("key"))
    try require(query.rank >= 3, "the query has rank \(query.rank)", field: "query")
    var scores = try call.product(query, key, transposeY: true)
    let scale = 1 / Float(query.shape.last ?? 1).squareRoot()
    scores = try call.add(Activation(.linear(alpha: scale, beta: 0)), scores)
    if let mask = try call.optional("attn_mask") {
      scores =
        mask.type == .bool
        ? try call.add(
          WhereBroadcastable(), mask, scores, call.scalar(-3e38, scores.type), type: scores.type)
        : try call.add(AddBroadcastable(), scores, mask)
    }
    let weights = try call.add(SoftmaxND().with(\.axis, -1), scores)
    return [try call.product(weights, call.value("value"))]
  },
]

extension OperationCall {
  fileprivate func product(
    _ x: ProgramValue, _ y: ProgramValue, transposeX: Bool = false, transposeY: Bool = false
  ) throws -> ProgramValue {
    try require(x.rank > 0 && y.rank > 0, "a product of ranks \(x.rank) and \(y.rank)")
    let layer = BatchedMatMul().with(\.transposeA, transposeX && x.rank > 1)
      .with(\.transposeB, transposeY && y.rank > 1)
    // A vector is a row on the left and a column on the right.
    let left = x.rank > 1 ? x : try reshaped(x, [1] + x.shape)
    let right = y.rank > 1 ? y : try reshaped(y, y.shape + [1])
    let result = try add(layer, left, right)
    var shape = result.shape
    if y.rank == 1 { shape.removeLast() }
    if x.rank == 1 { shape.remove(at: shape.count - (y.rank == 1 ? 1 : 2)) }
    return try reshaped(result, shape)
  }

  /// The product of [C, h, W] and [W, h, U] for each h, with or without a leading batch axis.
  fileprivate func einsum() throws -> [ProgramValue] {
    let factors = try values("values")
    let equation = try string("equation", "")
    // Letters are replaced by numbers in order of first use.
    var letters: [Character] = []
    let positions = equation.filter { $0 != " " }.map { letter in
      if !letter.isLetter { return String(letter) }
      if !letters.contains(letter) { letters.append(letter) }
      return String(letters.firstIndex(of: letter) ?? 0)
    }.joined()
    try require(
      positions == "0123,0324->0124" || positions == "012,213->013", .unsupported,
      "equation '\(equation)' is not supported", field: "equation")
    let rank = positions.first == "0" && letters.count == 5 ? 4 : 3
    try require(
      factors.count == 2 && factors.allSatisfy { $0.rank == rank },
      "the equation does not fit \(factors.map(\.shape))", field: "values")
    let order = rank == 4 ? [0, 2, 1, 3] : [1, 0, 2]
    return [
      try transposed(product(transposed(factors[0], order), transposed(factors[1], order)), order)
    ]
  }
}
