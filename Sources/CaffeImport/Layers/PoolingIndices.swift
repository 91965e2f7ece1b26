import CoreMLModel
import TensorCore

/// The argmax mask of a pooling layer, as ones and zeros: one plane per position in the window,
/// stacked as channels. The first of equal maxima counts, as in Caffe.
struct PoolingIndices: Sendable {
  /// The mask, `[kh · kw · C, H, W]`, with the positions in a window before the channels.
  let blob: String
  let kernel: [Int]
  /// The spatial sizes before pooling.
  let extents: [Int]

  /// The maxima of non-overlapping windows, and their mask.
  static func convert(
    _ layer: LayerCall, _ image: CaffeTensor, _ windows: PoolingWindows,
    _ network: inout CaffeWriter
  ) throws -> [CaffeTensor] {
    try layer.require(
      windows.kernel == windows.stride && windows.padding == [0, 0],
      unsupported:
        "the positions of the maxima in windows of \(windows.kernel) with strides \(windows.stride) and "
        + "padding \(windows.padding)", field: "top",
      hint: "Core ML has no layer for them; they can be computed only if windows do not overlap")
    try layer.require(
      checkedProduct(windows.kernel) <= Limits.writtenOutSteps / 8,
      unsupported: "the positions of maxima in windows of \(windows.kernel) are not supported",
      field: "top")
    let extents = Array(image.shape.suffix(2))
    let whole = zip(windows.size, windows.kernel).map { $0 * $1 }
    var source = image.blob
    if whole != extents {
      var padding = Padding()
      padding.kind = .constant(value: -Float.greatestFiniteMagnitude)
      padding.paddingAmounts = BorderAmounts(
        top: 0, bottom: max(0, whole[0] - extents[0]), left: 0,
        right: max(0, whole[1] - extents[1]))
      source = network.add(layer.part("padded"), padding, [source])
    }
    let maxima = try network.pooled(image, windows, layer.name, to: layer.tops[0])
    let negated = network.affine(maxima.blob, -1, layer.part("negated"))
    var planes: [String] = []
    var taken: String?
    for row in 0..<windows.kernel[0] {
      for column in 0..<windows.kernel[1] {
        let name = layer.part("place\(row)_\(column)")
        let rows = network.slice(
          source, row..<whole[0], of: .height, stride: windows.kernel[0], name + "_rows")
        let values = network.slice(
          rows, column..<whole[1], of: .width, stride: windows.kernel[1], name + "_columns")
        let difference = network.sum([values, negated], name + "_difference")
        // 1 if the value is the maximum; the difference is never positive.
        var plane = network.step(difference, atZero: 1, name)
        if let earlier = taken {
          let free = network.affine(earlier, -1, 1, name + "_free")
          plane = network.product(plane, free, name + "_first")
          taken = network.sum([earlier, plane], name + "_taken")
        } else {
          taken = plane
        }
        planes.append(plane)
      }
    }
    var mask = maxima.with(network.joined(planes, alongSequence: false, layer.part("maxima")))
    mask.maxima = PoolingIndices(blob: mask.blob, kernel: windows.kernel, extents: extents)
    guard layer.needsMaskValues else { return [maxima, mask] }
    mask.blob = try indices(layer, planes, windows, width: extents[1], &network)
    return [maxima, mask]
  }

  /// Caffe's mask: the index y · width + x of each maximum.
  private static func indices(
    _ layer: LayerCall, _ planes: [String], _ windows: PoolingWindows, width: Int,
    _ network: inout CaffeWriter
  ) throws -> String {
    let terms = try planes.enumerated().map { position, plane in
      let (row, column) = (position / windows.kernel[1], position % windows.kernel[1])
      var values: [Float] = []
      values.reserveCapacity(
        try checkedProduct(windows.size, limit: Limits.computedElements / planes.count))
      for y in 0..<windows.size[0] {
        for x in 0..<windows.size[1] {
          values.append(
            Float((y * windows.kernel[0] + row) * width + x * windows.kernel[1] + column))
        }
      }
      var scale = CoreMLModel.Scale()
      scale.shapeScale = [1] + windows.size
      scale.scale = Weights(values)
      return network.add(layer.part("index\(position)"), scale, [plane])
    }
    return network.sum(terms, layer.part("mask"), to: layer.tops[1])
  }
}

extension LayerCall {
  /// Whether a layer other than an unpooling layer reads the mask.
  fileprivate var needsMaskValues: Bool {
    guard topReaders.count > 1, !topReaders[1].isEmpty else { return true }
    return !topReaders[1].allSatisfy(CaffeLayerType.upsample.source.names.contains)
  }
}
