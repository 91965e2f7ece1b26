import TensorCore

/// A part of a body in an image.
package struct KeyPoint: Sendable, Equatable {
  package var x: Double
  package var y: Double
  /// 0…1
  package let score: Double

  package init(x: Double, y: Double, score: Double) {
    self.x = x
    self.y = y
    self.score = score
  }
}

/// People in the output of OpenPose, `[C, H, W]`: a heat map for each part and for the background,
/// then a field for each limb, which has its direction where the limb is (Cao et al. 2017).
///
/// A part is wherever a heat map is greater than at the neighbors above, below, left and right, and
/// than 0.1; a parabola through these five values gives its place between the cells. Two parts are a
/// limb if the field along the line between them, at ten places, points along it: by more than 0.05
/// at nine of them, and on average by more than what lines longer than half the image's height lose.
/// The best limbs choose first, and limbs that share a part belong to a person.
package struct PoseDecoder: Sendable {
  /// The smallest mean of a person's scores, those of parts and of limbs together.
  package var threshold = 0.4

  /// The smallest value of a heat map.
  private static let leastPart = 0.1
  /// The smallest part of a field along a limb.
  private static let leastField = 0.05
  private static let samples = 10
  /// Fewer parts are nobody.
  private static let leastParts = 4
  /// Of each part no more than this many are looked at, the best ones.
  private static let candidatesOfPart = 128

  private struct Candidate {
    var x: Double
    var y: Double
    var score: Double
  }

  private struct Connection {
    var from: Int
    var to: Int
    var score: Double
  }

  private struct Person {
    /// Indices of candidates, one for each part of the body.
    var parts: [Int?]
    var total: Double
    var count: Int
  }

  package init() {}

  /// The parts of each person, in parts of the image, in the order of the body's.
  ///
  /// - Throws: `.mismatch` if the number of channels is of no known body.
  package func people(in maps: Tensor) throws -> (body: BodyModel, people: [[KeyPoint?]]) {
    var shape = maps.shape
    while shape.count > 3, shape[0] == 1 { shape.removeFirst() }
    guard shape.count == 3, let body = BodyModel(channels: shape[0]) else {
      throw ModelError(
        .mismatch, "an output of shape \(maps.shape) has no people",
        hint: "OpenPose's networks have 57 (COCO), 44 (MPI) or 78 (with feet) channels")
    }
    let (height, width) = (shape[1], shape[2])
    return maps.withUnsafeElements { elements in
      guard let first = elements.baseAddress else { return (body, []) }
      let grid = Grid(first: first, width: width, height: height)
      let candidates = body.parts.indices.map { self.candidates(grid, $0) }
      var people: [Person] = []
      for limb in body.limbs {
        for connection in connections(limb, grid, body, candidates) {
          add(connection, limb, candidates, to: &people)
        }
      }
      let found = people.filter {
        $0.count >= Self.leastParts && $0.total / Double($0.count) >= threshold
      }
      return (
        body,
        found.map { person in
          person.parts.enumerated().map { part, index in
            index.map {
              let place = candidates[part][$0]
              return KeyPoint(
                x: (place.x + 0.5) / Double(width), y: (place.y + 0.5) / Double(height),
                score: min(1, place.score))
            }
          }
        }
      )
    }
  }

  private struct Grid {
    let first: UnsafePointer<Float>
    let width: Int
    let height: Int

    func value(_ channel: Int, _ x: Int, _ y: Int) -> Double {
      Double(first[(channel * height + y) * width + x])
    }

    /// Between four cells; what lies outside is as at the border.
    func value(_ channel: Int, at place: (x: Double, y: Double)) -> Double {
      let x = min(max(place.x, 0), Double(width - 1))
      let y = min(max(place.y, 0), Double(height - 1))
      let (left, top) = (Int(x), Int(y))
      let (right, bottom) = (min(left + 1, width - 1), min(top + 1, height - 1))
      let (across, down) = (x - Double(left), y - Double(top))
      let upper =
        value(channel, left, top) * (1 - across) + value(channel, right, top) * across
      let lower =
        value(channel, left, bottom) * (1 - across) + value(channel, right, bottom) * across
      return upper * (1 - down) + lower * down
    }
  }

  /// The maxima of a heat map, the best first.
  private func candidates(_ grid: Grid, _ part: Int) -> [Candidate] {
    var found: [Candidate] = []
    for y in 0..<grid.height {
      for x in 0..<grid.width {
        let value = grid.value(part, x, y)
        guard value > Self.leastPart, value.isFinite else { continue }
        func neighbor(_ dx: Int, _ dy: Int) -> Double {
          let (u, v) = (x + dx, y + dy)
          guard u >= 0, u < grid.width, v >= 0, v < grid.height else { return 0 }
          return grid.value(part, u, v)
        }
        let (left, right) = (neighbor(-1, 0), neighbor(1, 0))
        let (up, down) = (neighbor(0, -1), neighbor(0, 1))
        // Of a plateau the first cell counts.
        guard value > left, value > up, value >= right, value >= down else { continue }
        func shift(_ before: Double, _ after: Double) -> Double {
          let bend = 2 * value - before - after
          return bend > 0 ? min(max((after - before) / (2 * bend), -0.5), 0.5) : 0
        }
        found.append(
          Candidate(
            x: Double(x) + shift(left, right), y: Double(y) + shift(up, down), score: value))
      }
    }
    let order = found.indices.sorted { (found[$0].score, $1) > (found[$1].score, $0) }
    return order.prefix(Self.candidatesOfPart).map { found[$0] }
  }

  /// The pairs of parts that are this limb, each part in one at most.
  private func connections(
    _ limb: BodyModel.Limb, _ grid: Grid, _ body: BodyModel, _ candidates: [[Candidate]]
  ) -> [Connection] {
    let field = body.parts.count + 1 + limb.field
    var possible: [Connection] = []
    for (from, a) in candidates[limb.from].enumerated() {
      for (to, b) in candidates[limb.to].enumerated() {
        let (dx, dy) = (b.x - a.x, b.y - a.y)
        let length = (dx * dx + dy * dy).squareRoot()
        guard length > 1e-6 else { continue }
        var (sum, count) = (0.0, 0)
        for index in 0..<Self.samples {
          let share = Double(index) / Double(Self.samples - 1)
          let place = (x: a.x + share * dx, y: a.y + share * dy)
          let along =
            (grid.value(field, at: place) * dx + grid.value(field + 1, at: place) * dy) / length
          sum += along
          if along > Self.leastField { count += 1 }
        }
        let score =
          sum / Double(Self.samples) + min(0.5 * Double(grid.height) / length - 1, 0)
        if count > Self.samples * 8 / 10, score > 0 {
          possible.append(Connection(from: from, to: to, score: score))
        }
      }
    }
    var (takenFrom, takenTo): (Set<Int>, Set<Int>) = ([], [])
    let order = possible.indices.sorted { (possible[$0].score, $1) > (possible[$1].score, $0) }
    return order.compactMap { index in
      let connection = possible[index]
      guard !takenFrom.contains(connection.from), !takenTo.contains(connection.to) else {
        return nil
      }
      takenFrom.insert(connection.from)
      takenTo.insert(connection.to)
      return connection
    }
  }

  /// Adds a limb to the person that has one of its parts, joins the two that have one each, or begins
  /// a person.
  private func add(
    _ connection: Connection, _ limb: BodyModel.Limb, _ candidates: [[Candidate]],
    to people: inout [Person]
  ) {
    let ends = [(limb.from, connection.from), (limb.to, connection.to)]
    let owners = people.indices.filter { index in
      ends.contains { people[index].parts[$0.0] == $0.1 }
    }
    if owners.count == 2 {
      let (a, b) = (people[owners[0]], people[owners[1]])
      guard !zip(a.parts, b.parts).contains(where: { $0 != nil && $1 != nil }) else { return }
      people[owners[0]] = Person(
        parts: zip(a.parts, b.parts).map { $0 ?? $1 },
        total: a.total + b.total + connection.score, count: a.count + b.count)
      people.remove(at: owners[1])
      return
    }
    if owners.isEmpty {
      if limb.isRedundant { return }
      people.append(
        Person(parts: candidates.map { _ in nil }, total: 0, count: 0))
    }
    let index = owners.first ?? people.count - 1
    var isNew = false
    for (part, candidate) in ends where people[index].parts[part] == nil {
      people[index].parts[part] = candidate
      people[index].total += candidates[part][candidate].score
      people[index].count += 1
      isNew = true
    }
    if isNew { people[index].total += connection.score }
  }
}

extension Detector {
  /// The people that OpenPose finds, each with the box around its parts.
  func people(_ outputs: [DetectorOutput]) throws -> [DetectedObject] {
    var decoder = PoseDecoder()
    decoder.threshold = threshold
    let fits = outputs.first { output in
      var shape = output.value.shape
      while shape.count > 3, shape[0] == 1 { shape.removeFirst() }
      return shape.count == 3 && BodyModel(channels: shape[0]) != nil
    }
    guard let maps = fits ?? outputs.first else { return [] }
    return try decoder.people(in: maps.value).people.compactMap { points in
      let found = points.compactMap { $0 }
      guard let first = found.first else { return nil }
      var box = Box(left: first.x, top: first.y, right: first.x, bottom: first.y)
      for point in found {
        box.left = min(box.left, point.x)
        box.top = min(box.top, point.y)
        box.right = max(box.right, point.x)
        box.bottom = max(box.bottom, point.y)
      }
      let score = found.map(\.score).reduce(0, +) / Double(found.count)
      var object = DetectedObject(box: box, classIndex: 0, score: score)
      object.points = points
      return object
    }
  }
}
