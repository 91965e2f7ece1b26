/// Splits large kernels into pieces if that saves enough multiplications. With few output channels,
/// the results are in planes.
enum PieceSelection: Pass {
  static let name = "piece-selection"

  static func run(_ graph: inout Graph, _ context: PassContext) -> Bool {
    if context.convolution == .direct { return false }
    return graph.replaceConvolutions { convolution, node, output in
      let (weights, window) = (convolution.weights, convolution.window)
      guard !convolution.hasResidual, weights.groups == 1, window.stride == [1, 1],
        window.dilation == [1, 1], PieceGrid(window.kernel).saves(output)
      else { return nil }
      if weights.outputs <= PieceSumConvolutionOperation.mostOutputs, weights.inputs >= 8 {
        return PieceSumConvolutionOperation(
          weights: weights, window: window, functions: weights.functions)
      }
      return weights.outputs >= 8
        ? PieceConvolutionOperation(weights: weights, window: window) : nil
    }
  }
}

extension PieceGrid {
  /// Whether the savings in multiplications outweigh the transforms.
  fileprivate func saves(_ output: Shape) -> Bool {
    guard kernel.allSatisfy({ $0 >= 5 }) else { return false }
    let direct = output.area * kernel[0] * kernel[1]
    return direct * 10 >= 17 * tiles(output) * 25 * count
  }
}

extension ConvolutionWeights {
  /// The activation as a list of at most one function.
  var functions: [ScaledFunction] { activation.map { [$0] } ?? [] }
}
