/// The regions of a region proposal network, as in Faster R-CNN.
///
/// A region includes its last pixel: a region from x₁ to x₂ is x₂ − x₁ + 1 wide.
struct RegionProposals {
  /// The anchors, as x₁, y₁, x₂, y₂ around the first cell of the maps.
  let anchors: [Float]
  /// The distance between two cells in pixels.
  let stride: Float
  /// The minimum side of a region, in pixels of the image before scaling.
  let minimum: Float
  /// Whether a smaller region is kept with the score 0 instead of being removed.
  let keepsSmall: Bool
  /// The number of best regions that are candidates before suppression; 0 for all.
  let candidates: Int
  /// The maximum number of regions in the result.
  let count: Int
  /// A region is suppressed if its intersection over union with a better one exceeds this.
  let overlap: Float

  /// The maximum number of candidates if all regions are candidates, which limits the time.
  private static let mostCandidates = 1 << 16

  typealias Region = (x1: Float, y1: Float, x2: Float, y2: Float, score: Float)

  /// The inputs of one image.
  struct Maps {
    /// The scores: one plane per anchor.
    let scores: UnsafePointer<Float>
    /// The offsets: four planes per anchor, for x, y, width and height.
    let offsets: UnsafePointer<Float>
    let rows: Int
    let columns: Int
    /// The height and width of the image, and its scale factors.
    let image: (height: Float, width: Float, scaleY: Float, scaleX: Float)

    /// - Parameter info: height, width, the vertical scale factor, and the horizontal one if it
    ///   differs.
    init(
      scores: UnsafePointer<Float>, offsets: UnsafePointer<Float>, shape: PlaneShape,
      info: UnsafePointer<Float>, infoCount: Int
    ) {
      // The background scores come first.
      self.scores = scores + shape.channels / 2 * shape.area
      self.offsets = offsets
      rows = shape.height
      columns = shape.width
      image = (info[0], info[1], info[2], infoCount > 3 ? info[3] : info[2])
    }
  }

  /// The shapes: a row of five numbers per region, and their scores; blobs of rank 5 have a
  /// sequence axis.
  func outputShapes(rank: Int, hasScores: Bool) -> [[Int]] {
    rank == 5
      ? [[1, count, 5, 1, 1]] + (hasScores ? [[1, count, 1, 1, 1]] : [])
      : [[count, 5]] + (hasScores ? [[count, 1, 1, 1]] : [])
  }

  /// Anchors of each ratio of height to width, at all scales, centered on `base` × `base` pixels.
  static func anchors(base: Int, ratios: [Float], scales: [Float]) -> [Float] {
    let area = Double(base * base)
    let center = 0.5 * Double(base - 1)
    return ratios.flatMap { ratio in
      let width = (area / Double(ratio)).squareRoot().rounded(.toNearestOrEven)
      let height = (width * Double(ratio)).rounded(.toNearestOrEven)
      return scales.flatMap { scale in
        let across = 0.5 * (width * Double(scale) - 1)
        let down = 0.5 * (height * Double(scale) - 1)
        return [center - across, center - down, center + across, center + down].map { Float($0) }
      }
    }
  }

  /// Writes the remaining regions, best first: `count` rows (0, x₁, y₁, x₂, y₂), where rows after
  /// the last region are (−1, 0, 0, 0, 0), and their scores.
  func propose(
    _ maps: Maps, to regions: UnsafeMutablePointer<Float>,
    scores: UnsafeMutablePointer<Float>?, exponential: (Float) -> Float
  ) {
    let kept = suppressed(candidates(maps, exponential))
    for index in 0..<count {
      let row = regions + 5 * index
      guard index < kept.count else {
        row.update(repeating: 0, count: 5)
        row[0] = -1
        scores?[index] = 0
        continue
      }
      let region = kept[index]
      (row[0], row[1], row[2]) = (0, region.x1, region.y1)
      (row[3], row[4]) = (region.x2, region.y2)
      scores?[index] = region.score
    }
  }

  /// The regions that are large enough, best first; equal ones in the order of rows, columns and
  /// anchors.
  private func candidates(_ maps: Maps, _ exponential: (Float) -> Float) -> [Region] {
    let (area, number) = (maps.rows * maps.columns, anchors.count / 4)
    let shortest = (y: minimum * maps.image.scaleY, x: minimum * maps.image.scaleX)
    var found: [Region] = []
    found.reserveCapacity(area * number)
    for cell in 0..<area {
      let x = Float(cell % maps.columns) * stride
      let y = Float(cell / maps.columns) * stride
      for anchor in 0..<number {
        let (left, top) = (anchors[4 * anchor] + x, anchors[4 * anchor + 1] + y)
        let width = anchors[4 * anchor + 2] + x - left + 1
        let height = anchors[4 * anchor + 3] + y - top + 1
        let own = maps.offsets + 4 * anchor * area + cell
        let centerX = own[0] * width + (left + 0.5 * width)
        let centerY = own[area] * height + (top + 0.5 * height)
        let across = 0.5 * (exponential(own[2 * area]) * width)
        let down = 0.5 * (exponential(own[3 * area]) * height)
        func inside(_ position: Float, _ length: Float) -> Float {
          max(min(position, length - 1), 0)
        }
        var region: Region = (
          inside(centerX - across, maps.image.width), inside(centerY - down, maps.image.height),
          inside(centerX + across, maps.image.width), inside(centerY + down, maps.image.height),
          maps.scores[anchor * area + cell]
        )
        let isLarge =
          region.x2 - region.x1 + 1 >= shortest.x && region.y2 - region.y1 + 1 >= shortest.y
        if !isLarge, !keepsSmall { continue }
        if !isLarge { region.score = 0 }
        if !region.score.isNaN { found.append(region) }
      }
    }
    let order = found.indices.sorted { (found[$0].score, $1) > (found[$1].score, $0) }
    return order.prefix(candidates > 0 ? candidates : Self.mostCandidates).map { found[$0] }
  }

  /// Greedy non-maximum suppression: the best region is kept, regions that overlap it too much are
  /// removed, and so on.
  private func suppressed(_ ranked: [Region]) -> [Region] {
    var kept: [Region] = []
    func area(_ region: Region) -> Float {
      (region.x2 - region.x1 + 1) * (region.y2 - region.y1 + 1)
    }
    for region in ranked {
      if kept.count == count { break }
      let isCovered = kept.contains { other in
        let across = max(0, min(region.x2, other.x2) - max(region.x1, other.x1) + 1)
        let down = max(0, min(region.y2, other.y2) - max(region.y1, other.y1) + 1)
        let common = across * down
        return common / (area(region) + area(other) - common) > overlap
      }
      if !isCovered { kept.append(region) }
    }
    return kept
  }
}
