import Accelerate
import CoreML
import Foundation

/// Σ kernel · x at positions that a second input shifts; a third input, if present, is the mask.
///
/// Core ML runs it on the CPU: on the GPU, all positions would be sampled again for every four
/// output channels.
final class DeformableConvolution: NSObject, MLCustomLayer {
  private static let halfPrecision: [Int: Set<Int>] = [:]
  private let window: DeformedWindow
  private let groups: Int
  private var kernel: [Float] = []
  private var bias: [Float] = []

  required init(parameters: [String: Any]) throws {
    let values = LayerParameters(parameters)
    let positive = 1...1 << 30
    func pair(_ name: String, _ usual: Int) throws -> (Int, Int) {
      (
        try values.int(name + "_h", in: usual...1 << 30) ?? usual,
        try values.int(name + "_w", in: usual...1 << 30) ?? usual
      )
    }
    window = DeformedWindow(
      kernel: (
        try values.required("kernel_h", in: positive), try values.required("kernel_w", in: positive)
      ), stride: try pair("stride", 1), padding: try pair("pad", 0),
      dilation: try pair("dilation", 1),
      groups: try values.int("deformable_groups", "deformable_group", in: positive) ?? 1)
    groups = try values.int("groups", in: positive) ?? 1
    super.init()
  }

  func setWeightData(_ weights: [Data]) throws {
    let weights = try LayerWeights.floats(weights, 1...2, halfPrecision: Self.halfPrecision)
    kernel = weights[0]
    bias = weights.count > 1 ? weights[1] : []
  }

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    try LayerShapes.outputs(inputShapes, inputs: 2...3) { shapes in
      let image = try PlaneShape(planes: shapes[0])
      guard let (rows, columns) = window.size(image.height, image.width),
        image.channels % groups == 0, image.channels % window.groups == 0
      else { throw LayerFault.shape(shapes) }
      let taps = window.taps * window.groups
      for (shape, channels) in zip(shapes.dropFirst(), [2 * taps, taps]) {
        let wanted = PlaneShape(image.with(channels: channels, height: rows, width: columns))
        guard try PlaneShape(planes: shape) == wanted else { throw LayerFault.shape(shapes) }
      }
      let length = image.channels / groups * window.taps
      let outputs = kernel.count / length
      guard outputs > 0, kernel.count % length == 0, outputs % groups == 0,
        bias.isEmpty || bias.count == outputs
      else { throw LayerFault.weights("\(kernel.count) for \(image.channels) channels") }
      return [image.with(channels: outputs, height: rows, width: columns)]
    }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    let (source, offset) = (try inputs[0].floats(), try inputs[1].floats())
    let mask = inputs.count > 2 ? try inputs[2].floats() : nil
    let target = try outputs[0].floats()
    let (from, to) = (PlaneShape(inputs[0].sizes), PlaneShape(outputs[0].sizes))
    let (inGroup, outGroup, taps) = (from.channels / groups, to.channels / groups, window.taps)
    let area = vDSP_Length(to.area)
    withUnsafeTemporaryAllocation(of: Float.self, capacity: to.area) { buffer in
      guard let row = buffer.baseAddress else { return }
      for image in 0..<from.images {
        let result = target + image * to.itemCount
        for channel in 0..<to.channels {
          var start = bias.isEmpty ? 0 : bias[channel]
          vDSP_vfill(&start, result + channel * to.area, 1, area)
        }
        for channel in 0..<from.channels {
          let deformed = channel / (from.channels / window.groups)
          let group = channel / inGroup
          for tap in 0..<taps {
            let index = (image * window.groups + deformed) * taps + tap
            window.sample(
              source + (image * from.channels + channel) * from.area, from.height, from.width,
              tap: tap, offsets: offset + 2 * index * to.area,
              mask: mask.map { UnsafePointer($0 + index * to.area) }, into: row,
              rows: to.height, columns: to.width)
            for output in group * outGroup..<(group + 1) * outGroup {
              var factor = kernel[(output * inGroup + channel % inGroup) * taps + tap]
              let plane = result + output * to.area
              vDSP_vsma(row, 1, &factor, plane, 1, plane, 1, area)
            }
          }
        }
      }
    }
  }
}
