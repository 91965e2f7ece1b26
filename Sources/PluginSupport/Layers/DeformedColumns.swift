import CoreML
import Foundation

/// The columns of a deformable convolution, whose offsets and mask are the layer's weights. The row
/// product after it multiplies them by the kernel.
///
/// Core ML runs it on the CPU: the axes of its output, which the parameters define, need not match
/// those of a texture.
final class DeformedColumns: NSObject, MLCustomLayer {
  private static let halfPrecision: [Int: Set<Int>] = [:]
  private let window: DeformedWindow
  /// C, H and W.
  private let input: [Int]
  private let size: (rows: Int, columns: Int)
  private let outputShape: [Int]
  private let usesMask: Bool
  private var offsets: [Float] = []
  private var mask: [Float] = []

  required init(parameters: [String: Any]) throws {
    let values = LayerParameters(parameters)
    func pair(_ a: String, _ b: String, from least: Int = 1) throws -> (Int, Int) {
      (try values.required(a, in: least...1 << 30), try values.required(b, in: least...1 << 30))
    }
    window = DeformedWindow(
      kernel: try pair("weightH", "weightW"), stride: try pair("strideH", "strideW"),
      padding: try pair("padH", "padW", from: 0), dilation: try pair("dilationH", "dilationW"),
      groups: try values.required("deformableGroup", in: 1...1 << 30))
    let (height, width) = try pair("height", "width")
    input = [try values.required("inChannels", in: 1...1 << 30), height, width]
    usesMask = try values.bool("useMask") ?? true
    // As text, [1, 1, 27, 16, 16].
    outputShape = (try values.text("outShape") ?? "").split { "[], ".contains($0) }
      .compactMap { Int($0) }
    guard let size = window.size(height, width), input[0] % window.groups == 0,
      outputShape.reduce(1, *) == input[0] * window.taps * size.rows * size.columns
    else { throw LayerFault.parameter("outShape") }
    self.size = size
    super.init()
  }

  func setWeightData(_ weights: [Data]) throws {
    let weights = try LayerWeights.floats(weights, 2...2, halfPrecision: Self.halfPrecision)
    (offsets, mask) = (weights[0], weights[1])
    let count = window.groups * window.taps * size.rows * size.columns
    guard offsets.count == 2 * count, !usesMask || mask.count == count else {
      throw LayerFault.weights("\(offsets.count) offsets")
    }
  }

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    try LayerShapes.outputs(inputShapes) { shapes in
      let shape = try PlaneShape(planes: shapes[0])
      guard shape.images == 1, [shape.channels, shape.height, shape.width] == input else {
        throw LayerFault.shape(shapes)
      }
      return [outputShape]
    }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    let (source, target) = (try inputs[0].floats(), try outputs[0].floats())
    let (height, width, area) = (input[1], input[2], size.rows * size.columns)
    offsets.withUnsafeBufferPointer { offsets in
      mask.withUnsafeBufferPointer { mask in
        guard let offsets = offsets.baseAddress else { return }
        for channel in 0..<input[0] {
          let group = channel / (input[0] / window.groups)
          for tap in 0..<window.taps {
            let index = (group * window.taps + tap) * area
            window.sample(
              source + channel * height * width, height, width, tap: tap,
              offsets: offsets + 2 * index,
              mask: usesMask ? mask.baseAddress.map { $0 + index } : nil,
              into: target + (channel * window.taps + tap) * area, rows: size.rows,
              columns: size.columns)
          }
        }
      }
    }
  }
}
