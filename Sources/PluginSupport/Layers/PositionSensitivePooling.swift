import CoreML
import Foundation

/// The mean of each window of each region, with different channels for every window.
///
/// The inputs are an image and regions of five numbers, (image, x₁, y₁, x₂, y₂).
///
/// Core ML runs it on the CPU: in a texture of half floats, the corners would lose their fractions.
final class PositionSensitivePooling: NSObject, MLCustomLayer {
  private let windows: RegionWindows
  private let channels: Int?

  required init(parameters: [String: Any]) throws {
    let values = LayerParameters(parameters)
    let group = try values.required("group_size", in: 1...1024)
    windows = RegionWindows(
      rows: group, columns: group, scale: try values.float("spatial_scale") ?? 1)
    channels = try values.int("output_dim", in: 1...1 << 30)
    super.init()
  }

  func setWeightData(_ weights: [Data]) throws {}

  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]] {
    try LayerShapes.outputs(inputShapes, inputs: 2...2) { shapes in
      let (image, count) = (try PlaneShape(planes: shapes[0]), shapes[1].reduce(1, *))
      let channels = image.channels / (windows.rows * windows.columns)
      guard
        image.channels % (windows.rows * windows.columns) == 0,
        self.channels ?? channels == channels,
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
    windows.groupMeans(regions, to: try outputs[0].floats())
  }
}
