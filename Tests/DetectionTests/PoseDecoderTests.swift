import ByteFormats
import Files
import Imaging
import TensorCore
import TestSupport
import Testing

@testable import Detection

/// People in maps made from known places, and as the NumPy code in `make_poses.py` finds them.
@Suite struct PoseDecoderTests {
  private func array(_ name: String) throws -> Tensor {
    let set = try ArraySet.parse(try MappedFile.read(Fixtures("detection").path("poses.npz")))
    return try #require(set[name]).tensor
  }

  @Test(arguments: [("coco", BodyModel.coco), ("mpi", BodyModel.mpi)])
  func agreesWithNumPy(_ name: String, _ body: BodyModel) throws {
    let maps = try array(name)
    let (height, width) = (Double(maps.shape[1]), Double(maps.shape[2]))
    let found = try PoseDecoder().people(in: maps)
    #expect(found.body == body)
    let (expected, truth) = (try array(name + "_people"), try array(name + "_truth"))
    #expect(found.people.count == expected.shape[0])
    #expect(found.people.count == truth.shape[0])
    for (person, points) in found.people.enumerated() {
      #expect(points.count == body.parts.count)
      for (part, point) in points.enumerated() {
        let at = 3 * (person * body.parts.count + part)
        let values = expected.elements[at..<at + 3].map(Double.init)
        guard let point else {
          #expect(values[0].isNaN, "\(person) \(body.parts[part])")
          continue
        }
        #expect(abs(point.x * width - 0.5 - values[0]) < 1e-4)
        #expect(abs(point.y * height - 0.5 - values[1]) < 1e-4)
        #expect(abs(point.score - min(1, values[2])) < 1e-6)
      }
    }
  }

  @Test func channelsOfNoBody() throws {
    #expect(throws: ModelError.self) {
      try PoseDecoder().people(in: Tensor(shape: [56, 2, 2], [Float](repeating: 0, count: 224)))
    }
    #expect(BodyModel(channels: 78) == .feet)
    for body in [BodyModel.coco, .mpi, .feet] {
      let fields = body.limbs.map(\.field).sorted()
      #expect(fields == body.limbs.indices.map { 2 * $0 })
      #expect(BodyModel(parts: body.parts.count) == body)
    }
  }

  /// Numbers that are none, plateaus and single cells: an answer without a person.
  @Test func strangeMaps() throws {
    for value in [Float.nan, .infinity, -.infinity, 1, 1e30] {
      for (height, width) in [(1, 1), (3, 5)] {
        let maps = Tensor(
          shape: [57, height, width], [Float](repeating: value, count: 57 * height * width))
        #expect(try PoseDecoder().people(in: maps).people.isEmpty)
      }
    }
  }

  @Test func drawsLimbsAndParts() throws {
    var canvas = try Canvas(width: 40, height: 40, Color(0, 0, 0))
    var points = [KeyPoint?](repeating: nil, count: 18)
    points[1] = KeyPoint(x: 10, y: 20, score: 1)
    points[2] = KeyPoint(x: 30, y: 20, score: 1)
    points[4] = KeyPoint(x: -1e9, y: .infinity, score: 1)
    canvas.draw(points, of: .coco)
    func color(_ x: Int, _ y: Int) -> [UInt8] {
      Array(canvas.image.samples.array(of: UInt8.self)[3 * (y * 40 + x)..<3 * (y * 40 + x) + 3])
    }
    func bytes(_ color: Color) -> [UInt8] { [color.red, color.green, color.blue] }
    #expect(color(20, 20) == bytes(.distinct(0)))
    #expect(color(10, 20) == bytes(.distinct(1)))
    #expect(color(30, 20) == bytes(.distinct(2)))
    #expect(color(20, 30) == [0, 0, 0])
  }
}
