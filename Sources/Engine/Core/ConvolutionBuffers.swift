import Kernels

/// Where a run of a convolution finds and leaves its data: the starts of the buffers.
struct ConvolutionBuffers {
  var input: UnsafePointer<Float>
  var output: UnsafeMutablePointer<Float>
  var residual: UnsafePointer<Float>?
  var scratch: UnsafeMutablePointer<Float>
}

extension Epilogue {
  /// The same, adding `values`, which lie in `layout`.
  func adding(_ values: UnsafePointer<Float>?, _ layout: TensorLayout?) -> Epilogue {
    guard let values, let layout else { return self }
    var epilogue = self
    epilogue.residual = values + layout.origin
    epilogue.residualStrides = layout.strides
    return epilogue
  }
}
