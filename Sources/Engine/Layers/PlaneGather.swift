import Kernels
import TensorCore

/// out[…, y, x] = in[…, rows[y], columns[x]], or `fill` if an index is negative: padding, cropping,
/// slicing H and W, and enlargement by repetition.
struct PlaneGatherOperation: NodeOperation {
  var kind: String
  var rows: [Int]
  var columns: [Int]
  var fill: Float = 0

  /// The border of zeros around the whole input, which a convolution can absorb as padding.
  var border: (top: Int, left: Int)? = nil

  func layoutWishes(_ shapes: NodeShapes) -> LayoutPreferences { shapes.followingFirstInput() }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let from = context.inputs[0].layout
    let to = context.outputs[0].layout
    let (rows, fill) = (rows, fill)
    let runs = ColumnRun.runs(columns)
    let clearsLanes = to.hasEmptyLanes && fill != 0
    let width = to.shape.width * to.block
    return context.planeStep(bands: context.bands) { band in
      for y in band.rows {
        let line = band.target + y * to.rowStride
        if rows[y] < 0 {
          line.update(repeating: fill, count: width)
        } else if y > band.rows.lowerBound, rows[y] == rows[y - 1] {
          line.update(from: line - to.rowStride, count: width)
        } else {
          let origin = band.source + rows[y] * from.rowStride
          for piece in runs { piece.copy(origin, line, block: to.block, fill: fill) }
        }
      }
      if clearsLanes { to.clearEmptyLanes(ofPlane: band.plane, rows: band.rows, in: band.buffer) }
    }
  }
}

/// Columns of the output that come from the input in a regular pattern.
private struct ColumnRun: Sendable {
  enum Source: Sendable {
    case fill
    /// Adjacent columns of the input.
    case adjacent
    /// Each column of the input, repeated `times` times.
    case repeated(times: Int)
  }

  var source: Source
  var output: Int
  var input: Int
  var count: Int

  static func runs(_ columns: [Int]) -> [ColumnRun] {
    var runs: [ColumnRun] = []
    var x = 0
    while x < columns.count {
      let first = columns[x]
      var end = x + 1
      if first < 0 {
        while end < columns.count, columns[end] < 0 { end += 1 }
        runs.append(ColumnRun(source: .fill, output: x, input: 0, count: end - x))
      } else if end < columns.count, columns[end] == first {
        while end < columns.count, columns[end] == first { end += 1 }
        let times = end - x
        while end + times <= columns.count,
          (0..<times).allSatisfy({ columns[end + $0] == first + (end - x) / times })
        {
          end += times
        }
        runs.append(
          ColumnRun(source: .repeated(times: times), output: x, input: first, count: end - x))
      } else {
        while end < columns.count, columns[end] == first + (end - x) { end += 1 }
        runs.append(ColumnRun(source: .adjacent, output: x, input: first, count: end - x))
      }
      x = end
    }
    return runs
  }

  func copy(
    _ source: UnsafePointer<Float>, _ target: UnsafeMutablePointer<Float>, block: Int, fill: Float
  ) {
    let to = target + output * block
    switch self.source {
    case .fill: to.update(repeating: fill, count: count * block)
    case .adjacent: to.update(from: source + input * block, count: count * block)
    case .repeated(let times):
      switch block {
      case 16: repeatPixels(source, to, times, as: SIMD16<Float>.self)
      case 8: repeatPixels(source, to, times, as: SIMD8<Float>.self)
      default:
        for index in 0..<count {
          (to + index &* block).update(
            from: source + (input &+ index / times) &* block, count: block)
        }
      }
    }
  }

  private func repeatPixels<Pixel: SIMD>(
    _ source: UnsafePointer<Float>, _ target: UnsafeMutablePointer<Float>, _ times: Int,
    as: Pixel.Type
  ) where Pixel.Scalar == Float {
    let size = MemoryLayout<Pixel>.size
    var from = UnsafeRawPointer(source) + input &* size
    var to = UnsafeMutableRawPointer(target)
    for _ in 0..<count / times {
      let pixel = from.loadUnaligned(as: Pixel.self)
      for _ in 0..<times {
        to.storeBytes(of: pixel, as: Pixel.self)
        to += size
      }
      from += size
    }
  }
}
