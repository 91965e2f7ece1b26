/// Makes a border of zeros part of the convolution that is its only reader.
enum PaddingFusion: Pass {
  static let name = "padding-fusion"

  static func run(_ graph: inout Graph, _ context: PassContext) throws -> Bool {
    try fuse(&graph) { producer, node, _ in
      guard let border = (producer.operation as? PlaneGatherOperation)?.border,
        var convolution = node.operation as? ConvolutionOperation
      else { return nil }
      convolution.window.start[0] += border.top
      convolution.window.start[1] += border.left
      return convolution
    }
  }
}
