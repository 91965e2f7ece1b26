import CoreMLModel
import ImportSupport
import TensorCore

/// The boxes of several shapes around each place of an image, each followed by four variances:
/// `(N, height, width, boxes, 8)`. They depend on the size of the input only.
///
/// Source: `keras_layer_AnchorBoxes.py` of ssd_keras.
struct AnchorBoxes: KerasLayer {
  static let classes = [SourceLayer](
    "AnchorBoxes", becomes: "loadConstant, reshape",
    options: "`img_height`, `img_width`, `this_scale`, `next_scale`, `aspect_ratios`, "
      + "`two_boxes_for_ar1`, `clip_boxes`, `variances`, `coords`, `normalize_coords`; "
      + "`this_steps`, `this_offsets` if the file has them (the class does not save them); from "
      + "ssd_keras",
    refused: "unknown sizes")

  private let image: (height: Double, width: Double)
  /// Width and height of each box.
  private let boxes: [(width: Double, height: Double)]
  /// Along height and width.
  private let steps: [Double]?
  private let offsets: [Double]
  private let clips: Bool
  private let normalizes: Bool
  private let coordinates: Coordinates
  private let variances: [Double]

  private enum Coordinates: String, Sendable {
    /// cx, cy, w, h
    case centroids
    /// xmin, ymin, xmax, ymax
    case corners
    /// xmin, xmax, ymin, ymax
    case minmax
  }

  init(_ configuration: LayerConfiguration) throws {
    func numbers(_ name: String, _ standard: [Double]) throws -> [Double] {
      try configuration.numbers(name, arePositive: true) ?? standard
    }
    /// One number for both axes, or two.
    func pair(_ name: String) throws -> [Double]? {
      let pair = try numbers(name, [])
      if pair.count == 1 { return pair + pair }
      try configuration.require(
        pair.isEmpty || pair.count == 2, name, unsupported: "\(pair.count) numbers for two axes")
      return pair.isEmpty ? nil : pair
    }
    image = (
      Double(try configuration.int("img_height")), Double(try configuration.int("img_width"))
    )
    let scale = try configuration.double("this_scale")
    let next = try configuration.double("next_scale")
    try configuration.require(
      scale >= 0 && next >= 0, "this_scale", unsupported: "a scale below 0 is not supported")
    let hasTwo = try configuration.bool("two_boxes_for_ar1", default: true)
    let side = min(image.height, image.width)
    boxes = try numbers("aspect_ratios", [0.5, 1, 2]).flatMap { ratio in
      if ratio == 1 {
        let sides = [scale * side] + (hasTwo ? [(scale * next).squareRoot() * side] : [])
        return sides.map { ($0, $0) }
      }
      let root = ratio.squareRoot()
      return [(scale * side * root, scale * side / root)]
    }
    steps = try pair("this_steps")
    offsets = try pair("this_offsets") ?? [0.5, 0.5]
    clips = try configuration.bool("clip_boxes", default: false)
    normalizes = try configuration.bool("normalize_coords", default: false)
    variances = try numbers("variances", [0.1, 0.1, 0.2, 0.2])
    try configuration.require(
      variances.count == 4, "variances", unsupported: "\(variances.count) of them, not four")
    let name = configuration.field("coords")?.value.string ?? "centroids"
    let coordinates = try Coordinates(rawValue: name).orThrow(
      configuration.unsupported("coords", "'\(name)' is not supported"))
    self.coordinates = coordinates
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try call.input
    try call.require(input.rank == 4, "its input \(input.shapeText) is not an image")
    let places = try call.known(input.shape[1...2], of: input)
    let count = try checkedProduct(places + [boxes.count], limit: Limits.dimension)
    _ = try computedCount([count, 8])
    let lengths = [image.height, image.width]
    /// The centers along an axis.
    func centers(_ axis: Int) -> [Double] {
      let step = steps?[axis] ?? lengths[axis] / Double(places[axis])
      return (0..<places[axis]).map { (offsets[axis] + Double($0)) * step }
    }
    let (rows, columns) = (centers(0), centers(1))
    let spacing = (0..<2).map { lengths[$0] / Double(places[$0]) }
    if steps == nil, spacing.contains(where: { $0 != $0.rounded() }) {
      network.notes.append(
        "layer '\(call.name)' (\(call.className)): the file does not store 'this_steps', so the boxes "
          + "are \(Float(spacing[0])) × \(Float(spacing[1])) pixels apart, as in Keras when it loads the "
          + "file; if the network was built with other steps, add them to the layer's configuration"
      )
    }
    var values: [Float] = []
    values.reserveCapacity(8 * count)
    for y in rows {
      for x in columns {
        for box in boxes {
          let across = range(x, box.width, limit: image.width)
          let down = range(y, box.height, limit: image.height)
          values += (arranged(across, down) + variances).map { Float($0) }
        }
      }
    }
    let table = network.constantSequence(
      FloatValues(values).shaped([count, 8]), call.name + "__boxes__")
    return [
      try network.reshaped(
        table, to: places + [boxes.count, 8], preferred: call.preferredImage, call)
    ]
  }

  /// Where a box begins and ends along one axis.
  private func range(
    _ center: Double, _ length: Double, limit: Double
  ) -> (low: Double, high: Double) {
    let ends = [center - length / 2, center + length / 2].map { end -> Double in
      let inside = !clips ? end : end >= limit ? limit - 1 : end < 0 ? 0 : end
      return normalizes ? inside / limit : inside
    }
    return (ends[0], ends[1])
  }

  private func arranged(
    _ x: (low: Double, high: Double), _ y: (low: Double, high: Double)
  ) -> [Double] {
    switch coordinates {
    case .centroids: [(x.low + x.high) / 2, (y.low + y.high) / 2, x.high - x.low, y.high - y.low]
    case .corners: [x.low, y.low, x.high, y.high]
    case .minmax: [x.low, x.high, y.low, y.high]
    }
  }
}
