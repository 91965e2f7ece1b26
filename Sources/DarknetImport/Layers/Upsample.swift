import CoreMLModel
import ImportSupport
import TensorCore

/// scale · in, with each element repeated `stride` times along rows and columns; with a negative
/// stride, the sums of the blocks.
struct UpsampleLayer: DarknetLayer {
  static let source = SourceLayer(
    "upsample", becomes: "upsample nearest; a negative `stride`: pooling, linear")
  static let options = ["stride", "scale"]

  private let stride: Int
  private let scale: Double

  init(_ section: ConfigurationSection) throws {
    stride = try section.int("stride", default: 2, in: -(1 << 14)...(1 << 14))
    scale = try section.double("scale", default: 1)
    if stride == 0, let option = section["stride"] { throw section.error(option, "0") }
  }

  func convert(_ call: LayerCall, into network: inout DarknetWriter) throws -> DarknetTensor {
    let input = try call.image
    var output: DarknetTensor
    var factor = scale
    if stride > 0 {
      output = try DarknetTensor(
        "", input.channels,
        checkedProduct([input.height, stride], limit: Limits.dimension),
        checkedProduct([input.width, stride], limit: Limits.dimension))
      var upsample = Upsample()
      upsample.scalingFactor = [stride, stride]
      upsample.mode = .nearest
      output.blob = network.add(call.name, upsample, [input.blob])
    } else {
      let size = -stride
      guard input.height % size == 0, input.width % size == 0 else {
        throw call.error("\(input.height) × \(input.width) is not a multiple of \(size)")
      }
      output = try DarknetTensor("", input.channels, input.height / size, input.width / size)
      var pooling = Pooling()
      pooling.type = .average
      pooling.kernelSize = [size, size]
      pooling.stride = [size, size]
      pooling.padding = .valid(.around(0))
      output.blob = network.add(call.name, pooling, [input.blob])
      factor *= Double(size * size)
    }
    if factor != 1 {
      output.blob = network.affine(output.blob, Float(factor), 0, call.name + "__scale__")
    }
    return output
  }
}
