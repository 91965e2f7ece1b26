import TensorCore

/// The columns of a deformable convolution whose offsets and mask are the layer's weights, as in
/// DeformConv2d-Metal. A `dneprDroid_addmm` that follows multiplies them by the kernel.
final class DeformedColumns: BuiltInCustomLayer {
  static let className = "dneprDroid_deform_conv2d"
  static let notes = CustomLayerNotes(
    "y[c · kh · kw + k, p] = m[k, p] · x[c, p · stride − pad + k · dilation + offset[k, p]], for one image; the output shape is `outShape`",
    parameters: [
      "`inChannels`, `height`, `width`, `weightH`, `weightW`, `padH`, `padW`, `strideH`, `strideW`, `dilationH`, `dilationW`, `outH`, `outW`, `parallelImgs`, `deformableGroup`, `useMask`",
      "`outShape`, `offsetShape`, `maskShape`, as text",
    ], weights: "offset [2 · groups · kh · kw, H, W] and mask [groups · kh · kw, H, W]")

  private let window: DeformedWindow
  private let input: [Int]
  private let rows: Int
  private let columns: Int
  private let outputShape: [Int]
  private let usesMask: Bool
  private var offsets: [Float] = []
  private var mask: [Float] = []

  init(parameters: [String: CustomLayerParameter]) throws {
    let values = CustomLayerParameters(values: parameters)
    let positive = 1...Limits.dimension
    func pair(_ a: String, _ b: String, _ range: ClosedRange<Int>) throws -> (Int, Int) {
      (try values.required(a, in: range), try values.required(b, in: range))
    }
    window = DeformedWindow(
      kernel: try pair("weightH", "weightW", positive),
      stride: try pair("strideH", "strideW", positive),
      padding: try pair("padH", "padW", 0...Limits.dimension),
      dilation: try pair("dilationH", "dilationW", positive),
      groups: try values.required("deformableGroup", in: positive))
    let size = try pair("height", "width", positive)
    input = [try values.required("inChannels", in: positive), size.0, size.1]
    (rows, columns) = try window.checkedSize(size.0, size.1)
    usesMask = try values.bool("useMask") ?? true
    outputShape = try Self.shape(parameters["outShape"])
    let stated = try pair("outH", "outW", positive)
    let count = try checkedProduct(
      [input[0], window.taps, rows, columns], limit: Limits.tensorElements)
    try require(
      stated == (rows, columns) && checkedProduct(outputShape) == count
        && (values.int("parallelImgs", in: positive) ?? 1 == 1) && input[0] % window.groups == 0,
      .unsupported,
      "the output \(outputShape) of \(stated.0) × \(stated.1) places is not one image's, "
        + "\(input[0]) channels · \(window.taps) taps of \(rows) × \(columns)",
      field: "parameters.outShape")
  }

  /// Parses a shape such as `[1, 1, 27, 16, 16]`.
  private static func shape(_ parameter: CustomLayerParameter?) throws -> [Int] {
    guard case .string(let text) = parameter, text.hasPrefix("["), text.hasSuffix("]") else {
      throw ModelError(
        .malformed, "it must be text such as [1, 1, 27, 16, 16]", field: "parameters.outShape")
    }
    let words = text.dropFirst().dropLast().split(separator: ",")
    let sizes = words.compactMap { Int($0.filter { $0 != " " }) }
    guard sizes.count == words.count, (1...Limits.rank).contains(sizes.count),
      sizes.allSatisfy({ (1...Limits.dimension).contains($0) })
    else { throw ModelError(.malformed, "\(text) is not a shape", field: "parameters.outShape") }
    return sizes
  }

  func setWeights(_ weights: [CustomLayerWeight]) throws {
    try require(
      weights.count == 2, "it has \(weights.count) weights; offset and mask are needed",
      field: "weights")
    offsets = try weights[0].floats()
    mask = usesMask ? try weights[1].floats() : []
    let count = try checkedProduct([window.groups, window.taps, rows, columns])
    try require(
      offsets.count == 2 * count && (!usesMask || mask.count == count),
      "\(offsets.count) offsets and \(mask.count) values of the mask, where \(2 * count) and "
        + "\(count) are needed", field: "weights")
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    let shape = try onlyInput(inputShapes)
    let planes = try PlaneShape(planes: shape)
    try require(
      planes.images == 1 && [planes.channels, planes.height, planes.width] == input,
      "an input has the shape \(shape), but the parameters say \(input)", field: "input")
    return [outputShape]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    let (source, target) = (inputs[0].first, outputs[0].first)
    let (height, width, area) = (input[1], input[2], rows * columns)
    let taps = window.taps
    offsets.withUnsafeBufferPointer { offsets in
      mask.withUnsafeBufferPointer { mask in
        guard let offsets = offsets.baseAddress else { return }
        for channel in 0..<input[0] {
          let group = channel / (input[0] / window.groups)
          for tap in 0..<taps {
            let index = (group * taps + tap) * area
            window.sample(
              source + channel * height * width, height, width, tap: tap,
              offsets: offsets + 2 * index,
              mask: usesMask ? mask.baseAddress.map { $0 + index } : nil,
              into: target + (channel * taps + tap) * area, rows: rows, columns: columns)
          }
        }
      }
    }
  }
}
