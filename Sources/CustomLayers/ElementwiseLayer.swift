import Kernels
import TensorCore

/// The kernels as the built-in layers use them.
struct LayerKernels: Sendable {
  let table: any KernelTable.Type

  init() throws { table = try InstructionSet.selected().kernels }

  /// `function(x)` of `count` elements; in place is allowed.
  func apply(
    _ function: UnaryFunction, _ input: UnsafePointer<Float>,
    _ output: UnsafeMutablePointer<Float>, _ count: Int, alpha: Float = 0, beta: Float = 0
  ) {
    table.unary(
      UnaryArguments(
        function: function, input: input, output: output, count: count, alpha: alpha, beta: beta))
  }

  /// `output += factor · x`
  func add(
    _ factor: Float, _ input: UnsafePointer<Float>, to output: UnsafeMutablePointer<Float>,
    _ count: Int
  ) {
    table.unary(
      UnaryArguments(
        function: .linear, input: input, output: output, count: count, alpha: factor,
        accumulates: true))
  }
}

/// Calls `body` for pieces of the only input and output that fit the processor's cache.
func mapElements(
  _ inputs: [CustomLayerInput], _ outputs: [CustomLayerOutput],
  _ body: (UnsafePointer<Float>, UnsafeMutablePointer<Float>, Int) -> Void
) {
  guard let source = inputs.first?.elements.baseAddress,
    let target = outputs.first?.elements.baseAddress
  else { return }
  let count = min(inputs[0].elements.count, outputs[0].elements.count)
  for start in stride(from: 0, to: count, by: 4096) {
    body(source + start, target + start, min(4096, count - start))
  }
}
