/// A weight with at most the axes C, H and W, which broadcasts to an image, as the buffer of a
/// Metal kernel: four channels side by side, as in a pixel of Core ML's textures.
struct BroadcastWeight {
  /// Slices of four channels, of rows.
  let values: [SIMD4<Float>]
  /// Columns, rows and slices; an axis of length 1 broadcasts.
  let size: SIMD3<UInt32>

  /// - Parameter shape: nil for one value, or one per channel.
  init(_ weight: [Float], shape: [Int]? = nil) {
    let sizes = [1, 1, 1] + (shape ?? [weight.count, 1, 1])
    let (channels, height, width) = (
      sizes[sizes.count - 3], sizes[sizes.count - 2], sizes[sizes.count - 1]
    )
    let area = height * width
    values = (0..<(channels + 3) / 4 * area).map { place in
      let (slice, position) = place.quotientAndRemainder(dividingBy: area)
      return SIMD4(
        (0..<4).map { lane in
          let channel = channels == 1 ? 0 : 4 * slice + lane
          let index = channel * area + position
          return channel < channels && index < weight.count ? weight[index] : 0
        })
    }
    size = SIMD3(UInt32(width), UInt32(height), UInt32((channels + 3) / 4))
  }
}
