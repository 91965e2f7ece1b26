/// Distances in floats between neighboring values in blocked, planar or interleaved data.
package struct Strides: Hashable, Sendable {
  package var pixel: Int
  package var row: Int
  /// From one channel block, or one plane, to the next.
  package var block: Int
  package var image: Int

  package init(pixel: Int = 0, row: Int = 0, block: Int = 0, image: Int = 0) {
    (self.pixel, self.row, self.block, self.image) = (pixel, row, block, image)
  }
}

/// Values that a kernel reads: the address of the first, and the distances between neighbors.
package struct InputView: @unchecked Sendable {
  package var base: UnsafePointer<Float>
  package var strides: Strides

  package init(_ base: UnsafePointer<Float>, _ strides: Strides = Strides()) {
    (self.base, self.strides) = (base, strides)
  }
}

/// Values that a kernel writes.
package struct OutputView: @unchecked Sendable {
  package var base: UnsafeMutablePointer<Float>
  package var strides: Strides

  package init(_ base: UnsafeMutablePointer<Float>, _ strides: Strides = Strides()) {
    (self.base, self.strides) = (base, strides)
  }
}

/// How much of its result a kernel computes, or the size of its input.
package struct Extent: Hashable, Sendable {
  /// Channel blocks, or planes.
  package var blocks: Int
  package var rows: Int
  package var width: Int

  package init(blocks: Int, rows: Int, width: Int) {
    (self.blocks, self.rows, self.width) = (blocks, rows, width)
  }
}

/// The `height` × `width` taps that a pixel of a convolution's output reads.
package struct Window: Hashable, Sendable {
  package var height: Int
  package var width: Int
  package var strideY: Int
  package var strideX: Int
  package var dilationY = 1
  package var dilationX = 1

  package init(height: Int = 1, width: Int = 1, strideY: Int = 1, strideX: Int = 1) {
    (self.height, self.width, self.strideY, self.strideX) = (height, width, strideY, strideX)
  }

  package var taps: Int { height &* width }
}
