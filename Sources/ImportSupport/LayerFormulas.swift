import CoreMLModel

/// Small layers that formulas are built from.
extension LayerWriting {
  /// The sum of the blobs, broadcast to each other.
  package mutating func sum(
    _ blobs: [String], _ name: String, to output: String? = nil
  ) -> String { add(name, Add(), blobs, to: output) }

  package mutating func product(
    _ a: String, _ b: String, _ name: String, to output: String? = nil
  ) -> String { add(name, Multiply(), [a, b], to: output) }

  /// scale · x + shift
  package mutating func affine(
    _ blob: String, _ scale: Float, _ shift: Float, _ name: String, to output: String? = nil
  ) -> String {
    add(name, Activation(.linear(alpha: scale, beta: shift)), [blob], to: output)
  }

  /// scale · x
  package mutating func affine(
    _ blob: String, _ scale: Float, _ name: String, to output: String? = nil
  ) -> String { affine(blob, scale, 0, name, to: output) }

  /// a − b
  package mutating func difference(_ a: String, _ b: String, _ name: String) -> String {
    let negated = affine(b, -1, 0, name + "__neg__")
    return sum([a, negated], name)
  }

  package mutating func unary(
    _ type: Unary.Operation, _ blob: String, _ name: String, alpha: Float = 0, shift: Float = 0,
    scale: Float = 1, epsilon: Float = 1e-6, to output: String? = nil
  ) -> String {
    var unary = Unary()
    unary.type = type
    unary.alpha = alpha
    unary.shift = shift
    unary.scale = scale
    unary.epsilon = epsilon
    return add(name, unary, [blob], to: output)
  }

  /// (x − mean) / (deviation + ε), over H and W of each channel, or over C, H and W.
  ///
  /// Core ML's documentation does not say whether `mvn` adds ε to the deviation or to the variance
  /// (`docs/differences.md`). This function uses `mvn` only if ε is negligible, and passes ε²,
  /// which is negligible in either case. Otherwise, it uses layers without this ambiguity.
  package mutating func normalizedByDeviation(
    _ blob: String, acrossChannels: Bool, epsilon: Float, _ name: String, to output: String? = nil
  ) -> String {
    var mvn = MeanVarianceNormalize()
    mvn.acrossChannels = acrossChannels
    mvn.epsilon = max(epsilon * epsilon, 1e-30)
    mvn.normalizeVariance = epsilon <= 1e-8
    if mvn.normalizeVariance { return add(name, mvn, [blob], to: output) }
    let centered = add(name + "__centered__", mvn, [blob])
    let squares = unary(.power, centered, name + "__squares__", alpha: 2)
    let variance = reduced(.avg, acrossChannels ? .chw : .hw, squares, name + "__variance__")
    let deviation = unary(.sqrt, variance, name + "__deviation__")
    let factor = unary(.inverse, deviation, name + "__factor__", epsilon: epsilon)
    return product(centered, factor, name, to: output)
  }

  package mutating func reduced(
    _ mode: Reduce.Operation, _ axis: Reduce.Axis, _ blob: String, _ name: String,
    to output: String? = nil
  ) -> String {
    return add(name, Reduce().with(\.mode, mode).with(\.axis, axis), [blob], to: output)
  }

  /// Permutes the axes: axis `i` of the result's `[Seq, C, H, W]` is axis `axes[i]` of the blob.
  package mutating func permuted(
    _ blob: String, _ axes: [Int], _ name: String, to output: String? = nil
  ) -> String {
    return add(name, Permute().with(\.axis, axes), [blob], to: output)
  }

  /// Permutes all axes with a layer of specification 4.
  package mutating func transposed(
    _ blob: String, _ axes: [Int], _ name: String, to output: String? = nil
  ) -> String {
    return add(name, Transpose().with(\.axes, axes), [blob], to: output)
  }

  /// The elements in `range` along an axis.
  package mutating func slice(
    _ blob: String, _ range: Range<Int>, of axis: Slice.Axis = .channel, stride: Int = 1,
    _ name: String, to output: String? = nil
  ) -> String {
    var slice = Slice()
    slice.axis = axis
    slice.startIndex = range.lowerBound
    slice.endIndex = range.upperBound
    slice.stride = stride
    return add(name, slice, [blob], to: output)
  }

  /// Splits the channels into equal parts.
  package mutating func split(_ blob: String, into count: Int, _ name: String) -> [String] {
    var split = Split()
    split.nOutputs = count
    return add(name, split, [blob], outputs: (0..<count).map { "\(name)_output_\($0)" })
  }

  /// matrix · x over the channels, for a matrix of shape `[outputs, inputs]`.
  package mutating func matrixProduct(
    _ blob: String, _ matrix: Weights, inputs: Int, outputs: Int, bias: Weights? = nil,
    _ name: String, to output: String? = nil
  ) -> String {
    var product = InnerProduct()
    product.inputChannels = inputs
    product.outputChannels = outputs
    product.matrix = matrix
    product.hasBias = bias != nil
    product.bias = bias
    return add(name, product, [blob], to: output)
  }

  /// Concatenates the blobs along the sequence or the channels.
  package mutating func joined(
    _ blobs: [String], alongSequence: Bool, _ name: String, to output: String? = nil
  ) -> String {
    if blobs.count == 1 { return blobs[0] }
    return add(name, Concat().with(\.sequenceConcat, alongSequence), blobs, to: output)
  }
}

extension SliceStatic {
  /// A range along one axis, open-ended if a bound is nil, and all of the other axes.
  package init(rank: Int, axis: Int, from start: Int?, to end: Int?, by step: Int) {
    self.init()
    beginIds = [Int](repeating: 0, count: rank)
    endIds = beginIds
    beginMasks = [Bool](repeating: true, count: rank)
    endMasks = beginMasks
    strides = [Int](repeating: 1, count: rank)
    squeezeMasks = [Bool](repeating: false, count: rank)
    strides[axis] = step
    if let start { (beginIds[axis], beginMasks[axis]) = (start, false) }
    if let end { (endIds[axis], endMasks[axis]) = (end, false) }
  }
}

extension Reduce.Axis {
  /// The smallest sequence of reductions that covers some of C, H and W, which are places 2, 3 and
  /// 4.
  package static func steps(over positions: Set<Int>) -> [(axis: Reduce.Axis, positions: [Int])] {
    if positions == [2, 3, 4] { return [(.chw, [2, 3, 4])] }
    let isPlane = positions.isSuperset(of: [3, 4])
    return (isPlane ? [(.hw, [3, 4])] : [])
      + [(2, Reduce.Axis.c), (3, .h), (4, .w)].compactMap { position, axis in
        positions.contains(position) && !(isPlane && position > 2) ? (axis, [position]) : nil
      }
  }
}
