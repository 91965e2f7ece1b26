import Imaging
import TensorCore
import Testing

@Suite struct HeatMapTests {
  private func samples(_ map: HeatMap) -> [UInt8] { map.image.samples.array(of: UInt8.self) }

  /// Matplotlib's viridis at 0, 85, 128, 170 and 255 of 255: #440154, #31688e, #21918c, #35b779, #fde725.
  @Test func oneChannel() throws {
    let map = try HeatMap(Tensor(shape: [1, 1, 1, 5], [-2, 83, 126, 168, 253]))
    #expect(map.range == -2...253)
    #expect(
      samples(map) == [
        0x44, 0x01, 0x54, 0x31, 0x68, 0x8E, 0x21, 0x91, 0x8C, 0x35, 0xB7, 0x79, 0xFD, 0xE7, 0x25,
      ])
  }

  @Test func twoAndThreeChannels() throws {
    let two = try HeatMap(Tensor(shape: [2, 1, 4], [0, 1, 2, 4, 4, 2, 1, 0]))
    #expect(samples(two) == [0, 255, 0, 64, 128, 0, 128, 64, 0, 255, 0, 0])
    let planes = try HeatMap(Tensor(shape: [3, 2, 2], (0..<12).map { Float($0) * 255 / 11 }))
    #expect(samples(planes)[0..<3] == [0, 93, 185])
    let last = try HeatMap(Tensor(shape: [1, 4, 5, 3], (0..<60).map(Float.init)))
    #expect(last.image.width == 5 && last.image.height == 4)
    // [H, W, C] or [C, H, W], for a shape that fits both
    let either = Tensor(shape: [3, 1, 3], [0, 1, 2, 3, 4, 5, 6, 7, 8])
    #expect(try HeatMap(either).image.height == 1)
    #expect(try HeatMap(either, channels: .last).image.height == 3)
  }

  @Test func whatIsNoNumber() throws {
    let map = try HeatMap(Tensor(shape: [1, 4], [.nan, 1, .infinity, 3]))
    #expect(map.range == 1...3)
    #expect(samples(map)[0..<3] == [128, 128, 128])
    #expect(samples(map)[6..<9] == [0xFD, 0xE7, 0x25])
    let none = try HeatMap(Tensor(shape: [1, 2], [.nan, .nan]))
    #expect(none.range == nil)
    let equal = try HeatMap(Tensor(shape: [2, 2], [7, 7, 7, 7]))
    #expect(samples(equal)[0..<3] == [0x44, 0x01, 0x54])
    for shape in [[4], [4, 5, 6], [2, 3, 4, 5], [0, 3]] {
      #expect(throws: ModelError.self) { try HeatMap(Tensor(shape: shape)) }
    }
  }
}
