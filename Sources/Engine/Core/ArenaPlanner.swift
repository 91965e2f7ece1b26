import TensorCore

/// Packs buffers with known lifetimes into as little memory as possible: largest first, each in the
/// best-fitting gap among the buffers alive at the same time, at the lowest address.
struct ArenaPlanner {
  struct Buffer: Equatable {
    var byteCount: Int
    /// The first and last step that use the buffer.
    var lifetime: ClosedRange<Int>
  }

  private(set) var offsets: [Int]
  private(set) var byteCount = 0

  /// Above this number, buffers are placed in order of their first step instead, which considers
  /// only buffers that are alive.
  static let exhaustiveLimit = 4096

  init(_ buffers: [Buffer]) throws {
    offsets = [Int](repeating: 0, count: buffers.count)
    let sizes = buffers.map {
      ($0.byteCount + AlignedBuffer.alignment - 1) & -AlignedBuffer.alignment
    }
    var placed: [Int] = []
    let isExhaustive = buffers.count <= Self.exhaustiveLimit
    let order = buffers.indices.sorted { a, b in
      if isExhaustive {
        sizes[a] != sizes[b] ? sizes[a] > sizes[b] : a < b
      } else {
        buffers[a].lifetime.lowerBound != buffers[b].lifetime.lowerBound
          ? buffers[a].lifetime.lowerBound < buffers[b].lifetime.lowerBound : a < b
      }
    }
    for index in order {
      if !isExhaustive {
        placed.removeAll { buffers[$0].lifetime.upperBound < buffers[index].lifetime.lowerBound }
      }
      let neighbors =
        placed
        .filter { buffers[$0].lifetime.overlaps(buffers[index].lifetime) }
        .map { (start: offsets[$0], end: offsets[$0] + sizes[$0]) }
        .sorted { $0.start < $1.start }
      var best: (offset: Int, size: Int)?
      var end = 0
      for neighbor in neighbors {
        let gap = neighbor.start - end
        if gap >= sizes[index], best.map({ gap < $0.size }) ?? true { best = (end, gap) }
        end = max(end, neighbor.end)
      }
      offsets[index] = best?.offset ?? end
      byteCount = max(byteCount, try checkedSum([offsets[index], sizes[index]]))
      placed.append(index)
    }
  }
}
