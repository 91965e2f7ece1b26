import Accelerate
import CoreML
import Foundation

#if canImport(Metal)
  import Metal
#endif

/// exp(x − max) / Σ exp(x − max) along an axis.
final class Softmax: NSObject, MLCustomLayer {
  private let axis: Int?
  private var shape: [Int] = []

  required init(parameters: [String: Any]) throws {
    axis = try LayerParameters(parameters).int("axis", in: -8...7)
    super.init()
  }

  func setWeightData(_ weights: [Data]) throws {}

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    try LayerShapes.outputs(inputShapes) { shapes in
      guard AxisShape(shapes[0], along: axis) != nil else { throw LayerFault.parameter("axis") }
      shape = shapes[0]
      return shapes
    }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    let (x, y) = (try inputs[0].floats(), try outputs[0].floats())
    guard let view = AxisShape(inputs[0].sizes, along: axis) else {
      throw LayerFault.parameter("axis")
    }
    for slab in 0..<view.outer {
      let start = slab * view.length * view.inner
      view.inner == 1 ? row(x + start, y + start, view.length) : rows(x + start, y + start, view)
    }
  }

  private func row(_ x: UnsafePointer<Float>, _ y: UnsafeMutablePointer<Float>, _ length: Int) {
    let count = vDSP_Length(length)
    var (peak, sum, elements) = (Float(0), Float(0), Int32(length))
    vDSP_maxv(x, 1, &peak, count)
    peak = -peak
    vDSP_vsadd(x, 1, &peak, y, 1, count)
    vvexpf(y, y, &elements)
    vDSP_sve(y, 1, &sum, count)
    vDSP_vsdiv(y, 1, &sum, y, 1, count)
  }

  /// Along an axis other than the last: many rows at once.
  private func rows(
    _ x: UnsafePointer<Float>, _ y: UnsafeMutablePointer<Float>, _ view: AxisShape
  ) {
    let count = vDSP_Length(view.inner)
    var elements = Int32(view.length * view.inner)
    withUnsafeTemporaryAllocation(of: Float.self, capacity: view.inner) { buffer in
      guard let row = buffer.baseAddress else { return }
      row.update(from: x, count: view.inner)
      for step in 1..<max(1, view.length) {
        vDSP_vmax(row, 1, x + step * view.inner, 1, row, 1, count)
      }
      for step in 0..<view.length {
        vDSP_vsub(row, 1, x + step * view.inner, 1, y + step * view.inner, 1, count)
      }
      vvexpf(y, y, &elements)
      row.update(from: y, count: view.inner)
      for step in 1..<max(1, view.length) {
        vDSP_vadd(row, 1, y + step * view.inner, 1, row, 1, count)
      }
      for step in 0..<view.length {
        let values = y + step * view.inner
        vDSP_vdiv(row, 1, values, 1, values, 1, count)
      }
    }
  }

  #if canImport(Metal)
    private let kernel = LayerKernel("Softmax")

    func encode(
      commandBuffer: any MTLCommandBuffer, inputs: [any MTLTexture], outputs: [any MTLTexture]
    ) throws {
      guard let place = TextureAxis(shape, along: axis) else { throw LayerFault.shape([shape]) }
      try kernel.encode(commandBuffer, inputs, outputs, numbers: place.numbers)
    }
  #endif
}
