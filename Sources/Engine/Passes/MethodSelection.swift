import Kernels
import TensorCore

/// Chooses the method of each convolution; see `ConvolutionMethod`. Without this pass, all are
/// direct.
enum MethodSelection: Pass {
  static let name = "method-selection"

  static func run(_ graph: inout Graph, _ context: PassContext) -> Bool {
    let changed = graph.replaceConvolutions { convolution, node, output in
      guard convolution.method == nil else { return nil }
      var chosen = convolution
      let (weights, window) = (convolution.weights, convolution.window)
      chosen.method =
        context.usesIntegers && ByteConvolution.fits(weights, window)
        ? .integers
        : ConvolutionMethod(
          weights, window, output: output, kernels: context.kernels, context.convolution)
      return chosen
    }
    if changed, context.convolution == .automatic { boundWeights(&graph, context) }
    return changed
  }

  /// A network's packed weights take at most this many times the memory of those in the file,
  /// unless they are small.
  private static let mostExpansion = 2.2
  private static let fewBytes = 128 << 20

  /// Switches the largest layers to 2 × 2 tiles, whose weights expand least, until the rest fits.
  private static func boundWeights(_ graph: inout Graph, _ context: PassContext) {
    var given = 0
    var kept = 0
    var layers: [(index: Int, saved: Int)] = []
    for (index, node) in graph.nodes.enumerated() {
      let convolution = node.operation as? ConvolutionOperation
      let stored =
        convolution?.weights.values ?? (node.operation as? DenseOperation)?.weights
        ?? (node.operation as? LinearOperation)?.convolution.weights.values
      guard case .floats(let values)? = stored else { continue }
      given += 4 * values.count
      guard let convolution, case .winograd(let form)? = convolution.method else {
        kept += 4 * values.count
        continue
      }
      let geometry = convolution.weights.geometry(graph.shape(node.outputs[0]), context.kernels)
      kept += 4 * WinogradSchedule.weightFloats(geometry, form)
      let saved =
        4
        * (WinogradSchedule.weightFloats(geometry, form)
          - WinogradSchedule.weightFloats(geometry, .two))
      if form.kernel == WinogradForm.two.kernel, saved > 0 { layers.append((index, saved)) }
    }
    let most = max(Int(mostExpansion * Double(given)), fewBytes)
    for layer in layers.sorted(by: { ($0.saved, $1.index) > ($1.saved, $0.index) })
    where kept > most {
      guard var convolution = graph.nodes[layer.index].operation as? ConvolutionOperation else {
        continue
      }
      convolution.method = .winograd(.two)
      graph.nodes[layer.index].operation = convolution
      kept -= layer.saved
    }
  }
}

extension Graph {
  /// Replaces convolutions without anything fused into them by the result of `replacement`, which
  /// receives the convolution, its node and the shape of its result.
  mutating func replaceConvolutions(
    _ replacement: (ConvolutionOperation, Node, Shape) -> (any NodeOperation)?
  ) -> Bool {
    var changed = false
    for (index, node) in nodes.enumerated() {
      guard let convolution = node.operation as? ConvolutionOperation, !convolution.poolsMaximum,
        convolution.method != .integers,
        let operation = replacement(convolution, node, shape(node.outputs[0]))
      else { continue }
      nodes[index].operation = operation
      changed = true
    }
    return changed
  }
}
