import CoreMLModel
import TensorCore

/// A dense row-major array of `Double` of any rank, also seen as `[Seq, Batch, C, H, W]`.
package struct ReferenceTensor: Sendable, Equatable {
  /// A position in a tensor.
  package struct Position: Sendable, Equatable {
    package var sequence: Int
    package var batch: Int
    package var channel: Int
    package var y: Int
    package var x: Int

    package init(_ sequence: Int, _ batch: Int, _ channel: Int, _ y: Int, _ x: Int) {
      (self.sequence, self.batch, self.channel, self.y, self.x) = (sequence, batch, channel, y, x)
    }
  }

  package let shape: [Int]
  package let sequence: Int
  package let batch: Int
  package let channels: Int
  package let height: Int
  package let width: Int
  package var elements: [Double]

  /// Precondition: the product of `shape` equals the number of `elements`.
  package init(shape: [Int], _ elements: [Double]) {
    precondition(shape.reduce(1, *) == elements.count)
    self.shape = shape
    let five = (try? BlobRank.fiveAxes(shape)) ?? [1, 1, elements.count, 1, 1]
    sequence = five[0]
    batch = five[1]
    channels = five[2]
    height = five[3]
    width = five[4]
    self.elements = elements
  }

  /// The same elements with another shape. Precondition: the counts agree.
  func reshaped(_ newShape: [Int]) -> ReferenceTensor { ReferenceTensor(shape: newShape, elements) }

  /// Precondition: the product of `shape` has been checked.
  package init(shape: [Int], repeating value: Double = 0) {
    self.init(shape: shape, [Double](repeating: value, count: shape.reduce(1, *)))
  }

  /// Computes each element from its position. Precondition: the product of `shape` has been
  /// checked.
  init(shape: [Int], _ element: (Position) throws -> Double) rethrows {
    self.init(shape: shape)
    var offset = 0
    for s in 0..<sequence {
      for b in 0..<batch {
        for c in 0..<channels {
          for y in 0..<height {
            for x in 0..<width {
              elements[offset] = try element(Position(s, b, c, y, x))
              offset += 1
            }
          }
        }
      }
    }
  }

  package init(_ tensor: Tensor) {
    self.init(shape: tensor.shape, tensor.elements.map(Double.init))
  }

  /// The values, rounded to single precision.
  package var tensor: Tensor { Tensor(shape: shape, elements.map(Float.init)) }

  package func offset(_ p: Position) -> Int {
    (((p.sequence * batch + p.batch) * channels + p.channel) * height + p.y) * width + p.x
  }

  package subscript(_ p: Position) -> Double { elements[offset(p)] }

  package subscript(_ s: Int, _ b: Int, _ c: Int, _ y: Int, _ x: Int) -> Double {
    elements[offset(Position(s, b, c, y, x))]
  }

  /// The element at `p` after broadcasting axes of size 1.
  func broadcast(_ p: Position) -> Double {
    self[
      Position(
        sequence == 1 ? 0 : p.sequence, batch == 1 ? 0 : p.batch, channels == 1 ? 0 : p.channel,
        height == 1 ? 0 : p.y, width == 1 ? 0 : p.x)]
  }

  func mapped(_ function: (Double) -> Double) -> ReferenceTensor {
    ReferenceTensor(shape: shape, elements.map(function))
  }
}
