import CoreMLModel

/// Small layers, of which formulas are made.
extension LayerWriting {
  /// Σ of the blobs, stretched to one another.
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

  package mutating func reduced(
    _ mode: Reduce.Operation, _ axis: Reduce.Axis, _ blob: String, _ name: String,
    to output: String? = nil
  ) -> String {
    var reduce = Reduce()
    reduce.mode = mode
    reduce.axis = axis
    return add(name, reduce, [blob], to: output)
  }

  /// Axis `i` of `[Seq, C, H, W]` is axis `axes[i]` of the blob.
  package mutating func permuted(
    _ blob: String, _ axes: [Int], _ name: String, to output: String? = nil
  ) -> String {
    var permute = Permute()
    permute.axis = axes
    return add(name, permute, [blob], to: output)
  }

  /// The same of all axes, of specification 4.
  package mutating func transposed(
    _ blob: String, _ axes: [Int], _ name: String, to output: String? = nil
  ) -> String {
    var transpose = Transpose()
    transpose.axes = axes
    return add(name, transpose, [blob], to: output)
  }

  /// Elements `range` of an axis.
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

  /// Equal parts of the channels.
  package mutating func split(_ blob: String, into count: Int, _ name: String) -> [String] {
    var split = Split()
    split.nOutputs = count
    return add(name, split, [blob], outputs: (0..<count).map { "\(name)_output_\($0)" })
  }

  /// matrix · x over the channels; the matrix is `[outputs, inputs]`.
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

  /// The blobs one after the other along the sequence, or along the channels.
  package mutating func joined(
    _ blobs: [String], alongSequence: Bool, _ name: String, to output: String? = nil
  ) -> String {
    if blobs.count == 1 { return blobs[0] }
    var concat = Concat()
    concat.sequenceConcat = alongSequence
    return add(name, concat, blobs, to: output)
  }
}
