/// The arrangement of blocks of b × b positions as channels: the channel of each position.
struct BlockArrangement {
  enum Order: String {
    /// (i · b + j) · C + c, TensorFlow's.
    case depthLast = "DCR"
    /// c · b² + i · b + j, PyTorch's pixel shuffle.
    case depthFirst = "CRD"
  }

  let size: Int
  let order: Order

  private func depth(_ c: Int, of channels: Int, _ i: Int, _ j: Int) -> Int {
    switch order {
    case .depthLast: (i * size + j) * channels + c
    case .depthFirst: (c * size + i) * size + j
    }
  }

  /// Passes the start of a row of the deep image, the start of its positions in the wide image, and
  /// its length.
  func forEachRow(of wide: PlaneShape, _ body: (_ deep: Int, _ wide: Int, _ count: Int) -> Void) {
    let (rows, columns) = (wide.height / size, wide.width / size)
    for image in 0..<wide.images {
      for channel in 0..<wide.channels {
        for i in 0..<size {
          for j in 0..<size {
            let depth = depth(channel, of: wide.channels, i, j)
            for row in 0..<rows {
              let deep = ((image * wide.channels * size * size + depth) * rows + row) * columns
              let y = (image * wide.channels + channel) * wide.height + row * size + i
              body(deep, y * wide.width + j, columns)
            }
          }
        }
      }
    }
  }
}
