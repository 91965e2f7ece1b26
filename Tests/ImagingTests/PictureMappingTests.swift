import TensorCore
import Testing

@testable import Imaging

@Suite struct PictureMappingTests {
  /// For each camera orientation, the position of a rotated pixel maps back to the original one.
  @Test(arguments: Orientation.allCases)
  func undoesTurning(_ orientation: Orientation) throws {
    let (width, height, column, row) = (5, 3, 3, 0)
    var samples = [UInt8](repeating: 0, count: width * height)
    samples[row * width + column] = 255
    let rotated = try Image(
      width: width, height: height, channelCount: 1, samples: Bytes(samples)
    ).rotated(orientation)
    let place = try #require(rotated.samples.array(of: UInt8.self).firstIndex(of: 255))
    let mapping = try ImageMapping(
      of: (rotated.width, rotated.height), width: rotated.width, height: rotated.height,
      ImageOptions(), orientation: orientation)
    let (x, y) = (place % rotated.width, place / rotated.width)
    let point = mapping.rotatedPoint(Double(x) + 0.5, Double(y) + 0.5)
    let stored = mapping.storedPoint(point.x, point.y)
    #expect(stored == (Double(column) + 0.5, Double(row) + 0.5))
  }

  private func point(
    _ size: (Int, Int), _ model: (Int, Int), _ u: Double, _ v: Double,
    _ change: (inout ImageOptions) -> Void
  ) throws -> [Double] {
    var options = ImageOptions()
    change(&options)
    let mapping = try ImageMapping(
      of: size, width: model.0, height: model.1, options)
    let point = mapping.rotatedPoint(u, v)
    return [point.x, point.y]
  }

  /// An image of 200 × 100 in a model of 50 × 50.
  @Test func throughScaleAndCrop() throws {
    #expect(try point((200, 100), (50, 50), 10, 10) { $0.fitting = .squash } == [40, 20])
    // The center 100 × 100 becomes 50 × 50.
    #expect(try point((200, 100), (50, 50), 0, 10) { $0.fitting = .centerCrop } == [50, 20])
    // 50 × 25, with 12 black rows above it.
    #expect(try point((200, 100), (50, 50), 10, 12) { $0.fitting = .fit } == [40, 0])
    #expect(try point((200, 100), (50, 50), 50, 37) { $0.fitting = .fit } == [200, 100])
    // Into 256 × 256, whose center 56 × 56 starts at 100.
    let cropped = try point((512, 256), (56, 56), 0, 28) {
      $0.fitting = .squash
      $0.firstSide = 256
    }
    #expect(cropped == [200, 128])
  }
}
