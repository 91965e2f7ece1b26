/// The kind of a layer, which determines its color in a graph.
package enum LayerFamily: String, Sendable {
  case constant, recurrent, pooling, normalization, activation, convolution, shape, dense, merge
  case arithmetic, other

  /// Words in the types of Core ML's layers and operations; the first match counts.
  private static let words: [(LayerFamily, String)] = [
    (.other, "suppression topk top_k random custom"), (.constant, "const fill range"),
    (.recurrent, "lstm gru rnn recurrent"), (.pooling, "pool"),
    (.normalization, "norm lrn mvn meanvariance"),
    (.activation, "activation relu sigmoid soft tanh gelu elu silu"),
    (.convolution, "conv"),
    (.shape, "shape permute transpose flatten slice pad crop squeeze expand sample resize tile"),
    (.shape, "reorganize depth space shuffle reverse broadcast cast gather scatter sequencerepeat"),
    (.dense, "innerproduct matmul linear embedding einsum attention"),
    (.merge, "concat split stack"),
    (.arithmetic, "add sub mul div pow sqrt exp log unary min max mean sum reduce neg abs floor"),
    (.arithmetic, "ceil round scale bias dot average square sin cos erf clip equal greater less"),
  ]

  package init(_ type: String) {
    let type = type.lowercased()
    let match = Self.words.first { $0.1.split(separator: " ").contains { type.contains($0) } }
    self = match?.0 ?? .other
  }
}
