/// Distances in floats between neighboring values in blocked, planar or interleaved data.
package struct Strides: Hashable, Sendable {
  package var pixel: Int
  package var row: Int
  /// From one channel block, or one plane, to the next.
  package var block: Int
  package var image: Int

  package init(pixel: Int = 0, row: Int = 0, block: Int = 0, image: Int = 0) {
    self.pixel = pixel
    self.row = row
    self.block = block
    self.image = image
  }
}

/// How much of its result a kernel computes, or the size of its input.
package struct Extent: Hashable, Sendable {
  /// Channel blocks, or planes.
  package var blocks: Int
  package var rows: Int
  package var width: Int

  package init(blocks: Int, rows: Int, width: Int) {
    self.blocks = blocks
    self.rows = rows
    self.width = width
  }
}

/// The `height` × `width` taps that a pixel of a convolution's output reads.
package struct Window: Hashable, Sendable {
  package var height: Int
  package var width: Int
  package var strideY: Int
  package var strideX: Int
  package var dilationY: Int
  package var dilationX: Int

  package init(
    height: Int = 1, width: Int = 1, strideY: Int = 1, strideX: Int = 1, dilationY: Int = 1,
    dilationX: Int = 1
  ) {
    self.height = height
    self.width = width
    self.strideY = strideY
    self.strideX = strideX
    self.dilationY = dilationY
    self.dilationX = dilationX
  }

  package var taps: Int { height &* width }
}
