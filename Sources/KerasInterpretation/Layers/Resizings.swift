import Interpretation
import LibC
import TensorCore

/// Resizing, optionally after cropping or padding to the target's aspect ratio.
enum Resizings {
  static let operations: [String: KerasOperations.Operation] = ["Resizing": resizing]

  private static func resizing(_ run: LayerRun) throws -> [KerasValue] {
    try run.require((3...4).contains(run.input.rank), "an input of shape \(run.input.shape)")
    let size = try [run.sizes("height", count: 1)[0], run.sizes("width", count: 1)[0]]
    let mode = run.field("interpolation")?.string ?? "bilinear"
    let hasBatch = run.input.rank == 4
    let given = hasBatch ? run.input : try run.input.reshaped([1] + run.input.shape)
    var planes = run.planes(given)
    let (height, width) = (planes.shape[2], planes.shape[3])
    if run.bool("crop_to_aspect_ratio") {
      let rows = min(height, width * size[0] / size[1])
      let columns = min(width, height * size[1] / size[0])
      let (top, left) = ((height - rows) / 2, (width - columns) / 2)
      planes = planes.slice(2, top..<top + rows).slice(3, left..<left + columns)
    } else if run.bool("pad_to_aspect_ratio") {
      let fill = run.double("fill_value", default: 0)
      let rows = max(height, width * size[0] / size[1])
      let columns = max(width, height * size[1] / size[0])
      planes = try padded(planes, 2, (rows - height) / 2, fill)
      planes = try padded(planes, 3, (columns - width) / 2, fill)
    }
    for (axis, length) in zip([2, 3], size) {
      planes = try resized(run, planes, axis, length, mode)
    }
    let result = run.layout(planes)
    return Elements.same(run, hasBatch ? result : try result.reshaped(Array(result.shape[1...])))
  }

  /// Pads both sides by the same amount.
  private static func padded(
    _ array: DoubleArray, _ axis: Int, _ border: Int, _ fill: Double
  ) throws -> DoubleArray {
    var shape = array.shape
    shape[axis] = border
    let block = try DoubleArray(shape: shape, repeating: fill)
    return DoubleArray.concatenated([block, array, block], axis: axis)
  }

  /// The interpolation weight of a pixel at a distance.
  private static func share(_ run: LayerRun, _ x: Double, _ mode: String) throws -> Double {
    switch mode {
    case "bilinear": return max(0, 1 - x)
    case "bicubic":
      // Keys's cubic with a = −½
      if x < 1 { return 1 - 2.5 * x * x + 1.5 * x * x * x }
      return x < 2 ? 2 - 4 * x + 2.5 * x * x - 0.5 * x * x * x : 0
    case "lanczos3", "lanczos5":
      let radius: Double = mode == "lanczos3" ? 3 : 5
      func sinc(_ x: Double) -> Double { x < 1e-9 ? 1 : sin(.pi * x) / (.pi * x) }
      return x < radius ? sinc(x) * sinc(x / radius) : 0
    default: throw run.missing("the interpolation '\(mode)' is not interpreted")
    }
  }

  /// TensorFlow 2's resizing along one axis, with half-pixel centers.
  private static func resized(
    _ run: LayerRun, _ array: DoubleArray, _ axis: Int, _ length: Int, _ mode: String
  ) throws -> DoubleArray {
    let (outer, size, inner) = array.split(at: axis)
    let scale = Double(size) / Double(length)
    let taps: [[(position: Int, share: Double)]] = try (0..<length).map { step in
      let center = (Double(step) + 0.5) * scale
      if run.bool("antialias"), mode != "nearest" {
        let spread = max(scale, 1)
        let shares = try (0..<size).map {
          try share(run, abs(Double($0) + 0.5 - center) / spread, mode)
        }
        let total = shares.reduce(0, +)
        return shares.indices.map { ($0, shares[$0] / total) }
      }
      switch mode {
      case "nearest":
        // In single precision, in which TensorFlow rounds the product.
        let place = (Float(step) + 0.5) * (Float(size) / Float(length))
        return [(min(size - 1, Int(place)), 1)]
      case "bilinear":
        let position = center - 0.5
        let low = position.rounded(.down)
        let first = Int(low)
        return [
          (min(size - 1, max(0, first)), 1 - (position - low)),
          (min(size - 1, max(0, first + 1)), position - low),
        ]
      default: throw run.missing("the interpolation '\(mode)' is not interpreted")
      }
    }
    var shape = array.shape
    shape[axis] = length
    var result = try DoubleArray(shape: shape)
    for block in 0..<outer {
      for step in 0..<length {
        for (position, share) in taps[step] {
          for column in 0..<inner {
            result.values[(block * length + step) * inner + column] +=
              share * array.values[(block * size + position) * inner + column]
          }
        }
      }
    }
    return result
  }
}
