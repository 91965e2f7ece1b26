import CoreMLModel
import ImportSupport
import TensorCore

// Layers of keras-retinanet 1.0 that compute boxes: left, top, right, bottom, in pixels.

/// The boxes of several shapes and sizes around each place of an image.
struct AnchorGrid: KerasLayer {
  static let classes = [SourceLayer](
    "Anchors", becomes: "loadConstant",
    options: "`size`, `stride`, `ratios`, `scales`; from keras-retinanet")

  private let size: Double
  private let stride: Float
  private let ratios: [Double]
  private let scales: [Double]

  init(_ configuration: LayerConfiguration) throws {
    func numbers(_ name: String) throws -> [Double] {
      let numbers = try configuration.numbers(name, arePositive: true).orThrow(
        configuration.missing([name]))
      return numbers
    }
    size = try configuration.double("size")
    stride = Float(try configuration.double("stride"))
    (ratios, scales) = (try numbers("ratios"), try numbers("scales"))
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try call.input
    try call.require(input.rank == 4, "its input \(input.shapeText) is not an image")
    let places = try call.known(input.shape[1...2], of: input)
    var shapes: [[Float]] = []
    for ratio in ratios {
      for scale in scales {
        let side = size * scale
        let width = (side * side / ratio).squareRoot()
        shapes.append([-width, -width * ratio, width, width * ratio].map { Float($0 / 2) })
      }
    }
    let count = try checkedProduct(places + [shapes.count], limit: Limits.dimension)
    _ = try computedCount([count, 4])
    var values: [Float] = []
    values.reserveCapacity(4 * count)
    for row in 0..<places[0] {
      for column in 0..<places[1] {
        let (x, y) = ((Float(column) + 0.5) * stride, (Float(row) + 0.5) * stride)
        for shape in shapes {
          values += [shape[0] + x, shape[1] + y, shape[2] + x, shape[3] + y]
        }
      }
    }
    let boxes = network.constantSequence(FloatValues(values).shaped([count, 4]), call.name)
    return [network.settled(boxes, for: call.name)]
  }
}

/// Boxes whose sides are moved by fractions of their width and height: box + (offset · std + mean) ·
/// size.
struct RegressBoxes: KerasLayer {
  static let classes = [SourceLayer](
    "RegressBoxes", becomes: "innerProduct, scale, multiply, add",
    options: "`mean`, `std`; from keras-retinanet")

  private let mean: [Float]
  private let deviation: [Float]

  init(_ configuration: LayerConfiguration) throws {
    func four(_ name: String, _ standard: Float) throws -> [Float] {
      guard let numbers = try configuration.numbers(name) else {
        return [Float](repeating: standard, count: 4)
      }
      try configuration.require(
        numbers.count == 4, name, unsupported: "\(numbers.count) numbers instead of four")
      return numbers.map { Float($0) }
    }
    (mean, deviation) = (try four("mean", 0), try four("std", 0.2))
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    try call.require(call.inputs.count == 2, "it takes two inputs but gets \(call.inputs.count)")
    let (boxes, result) = try network.merged(call)
    guard result.rank == 3, result.channels == 4 else {
      throw call.error("its input \(result.shapeText) is not a list of boxes")
    }
    // right − left, bottom − top, right − left, bottom − top
    let matrix: [Float] = [-1, 0, 1, 0, 0, -1, 0, 1, -1, 0, 1, 0, 0, -1, 0, 1]
    let sizes = network.matrixProduct(
      boxes[0].blob, Weights(matrix), inputs: 4, outputs: 4, call.name + "__sizes__")
    var scale = Scale(Weights(deviation), [4])
    if mean.contains(where: { $0 != 0 }) {
      scale.hasBias = true
      scale.shapeBias = [4]
      scale.bias = Weights(mean)
    }
    let offsets = network.add(call.name + "__offsets__", scale, [boxes[1].blob])
    let moved = network.product(offsets, sizes, call.name + "__moved__")
    return [result.with(network.sum([boxes[0].blob, moved], call.name))]
  }
}

/// Boxes with their corners moved into an image.
struct ClipBoxes: KerasLayer {
  static let classes = [SourceLayer](
    "ClipBoxes", becomes: "ReLU, scale", options: "from keras-retinanet")

  init(_ configuration: LayerConfiguration) throws {}

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    guard call.inputs.count == 2, call.inputs[0].rank == 4, call.inputs[1].rank == 3,
      call.inputs[1].channels == 4
    else { throw call.error("its inputs are not an image and a list of boxes") }
    let size = try call.known(call.inputs[0].shape[1...2], of: call.inputs[0])
    let boxes = network.standard(call.inputs[1], for: call.name)
    let limits = [size[1], size[0], size[1], size[0]].map { Float($0 - 1) }
    // limit − max(0, limit − max(0, x))
    var mirror = Scale(Weights([-1]), [1])
    mirror.hasBias = true
    mirror.shapeBias = [4]
    mirror.bias = Weights(limits)
    var blob = boxes.blob
    for part in ["__low__", "__high__"] {
      blob = network.add(call.name + part, Activation(.relu), [blob])
      let isLast = part == "__high__"
      blob = network.add(isLast ? call.name : call.name + "__rest__", mirror, [blob])
    }
    return [boxes.with(blob)]
  }
}
