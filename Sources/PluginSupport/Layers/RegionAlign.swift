import CoreML
import Foundation

/// The mean of evenly spaced bilinear samples in each window of each region.
///
/// The inputs are an image and regions of five numbers, (image, x₁, y₁, x₂, y₂).
///
/// Core ML runs it on the CPU: in a texture of half floats, the corners would lose their fractions.
final class RegionAlign: NSObject, MLCustomLayer {
  private let windows: RegionWindows
  private let ratio: Int
  private let isAligned: Bool

  required init(parameters: [String: Any]) throws {
    let values = LayerParameters(parameters)
    windows = RegionWindows(
      rows: try values.required("pooled_h", in: 1...4096),
      columns: try values.required("pooled_w", in: 1...4096),
      scale: try values.float("spatial_scale") ?? 1)
    ratio = max(0, try values.int("sampling_ratio", in: -1...64) ?? 0)
    isAligned = try values.bool("aligned") ?? false
    super.init()
  }

  func setWeightData(_ weights: [Data]) throws {}

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    try LayerShapes.outputs(inputShapes, inputs: 2...2) { shapes in
      let (image, count) = (try PlaneShape(planes: shapes[0]), shapes[1].reduce(1, *))
      let channels = image.channels
      guard
        count % 5 == 0, shapes[1].contains(5)
      else { throw LayerFault.shape(shapes) }
      let item = [count / 5, channels, windows.rows, windows.columns]
      return [shapes[0].count == 5 ? [1] + item : item]
    }
  }

  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws {
    let regions = RegionWindows.Regions(
      source: try inputs[0].floats(), shape: PlaneShape(inputs[0].sizes),
      regions: try inputs[1].floats(), count: inputs[1].count / 5)
    windows.sampleMeans(regions, ratio: ratio, isAligned: isAligned, to: try outputs[0].floats())
  }
}
