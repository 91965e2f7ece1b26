import TensorCore
import Testing

@testable import Detection

/// Compared with OpenCV's Region layer, and with formulas calculated by hand.
@Suite struct GridDecoderTests {
  private func compare(_ name: String, _ decoder: GridDecoder) throws {
    let grid = try Fixture.array(name)
    let (rows, columns) = (grid.shape[2], grid.shape[3])
    // OpenCV used an image of the grid's size.
    let found = try decoder.objects(
      in: grid.reshaped(Array(grid.shape[1...])), width: columns, height: rows, threshold: 0.25)
    let expected = try Fixture.objects(name + "_expected")
    #expect(found.count > 10)
    #expect(found.difference(from: expected) < 1e-5)
  }

  private static let anchors = [(23.0, 27.0), (7.0, 5.0), (31.0, 18.0)]
    .map { (width: $0.0, height: $0.1) }

  @Test func regionAsOpenCV() throws {
    try compare(
      "region",
      GridDecoder(
        kind: .region, classes: 3,
        anchors: [(width: 1.08, height: 1.19), (width: 3.42, height: 4.41)]))
  }

  @Test func yoloAsOpenCV() throws {
    try compare("yolo", GridDecoder(kind: .yolo, classes: 4, anchors: Self.anchors))
  }

  @Test func scaledYOLOAsOpenCV() throws {
    var decoder = GridDecoder(kind: .yolo, classes: 4, anchors: Self.anchors)
    decoder.scale = 1.2
    try compare("yolo_scaled", decoder)
  }

  @Test func newCoordinatesAsOpenCV() throws {
    var decoder = GridDecoder(kind: .yolo, classes: 4, anchors: Self.anchors)
    decoder.scale = 2
    decoder.isLogistic = true
    try compare("yolo_new", decoder)
  }

  /// One box in column 4 of row 1, so that swapping x and y has an effect.
  @Test func oneBoxOffTheDiagonal() throws {
    let (rows, columns, classes) = (3, 5, 2)
    var decoder = GridDecoder(
      kind: .region, classes: classes,
      anchors: [(width: 2, height: 1), (width: 3, height: 0.5)])
    var elements = [Float](repeating: -20, count: decoder.channels * rows * columns)
    // Box 1 starts at channel 1 · (2 + 5) = 7: x, y, w, h, confidence, classes.
    for (number, value) in ([0, 1.098612289, 0.693147181, 0, 20, -20, 20] as [Float]).enumerated() {
      elements[(7 + number) * rows * columns + 1 * columns + 4] = value
    }
    let grid = Tensor(shape: [decoder.channels, rows, columns], elements)
    let found = try decoder.objects(in: grid, width: 160, height: 96, threshold: 0.5)
    // σ(0) = ½ and σ(ln 3) = ¾: x = 4.5/5, y = 1.75/3; w = 3·e^(ln 2)/5, h = 0.5/3.
    let wanted = DetectedObject(
      box: Box(centerX: 0.9, centerY: 1.75 / 3, width: 1.2, height: 0.5 / 3), classIndex: 1,
      score: 1)
    #expect(found.difference(from: [wanted]) < 1e-6)

    decoder.kind = .yolo
    decoder.scale = 1.5
    let pixels = try decoder.objects(in: grid, width: 160, height: 96, threshold: 0.5)
    // x = (4 + 1.5 · ½ − ¼)/5, y = (1 + 1.5 · ¾ − ¼)/3; w = 3 · 2/160, h = 0.5/96.
    let inPixels = DetectedObject(
      box: Box(centerX: 0.9, centerY: 1.875 / 3, width: 6.0 / 160, height: 0.5 / 96),
      classIndex: 1, score: 1)
    #expect(pixels.difference(from: [inPixels]) < 1e-6)
  }

  /// A mean uncertainty of ½ for every cell halves the score.
  @Test func gaussianUncertainty() throws {
    let decoder = GridDecoder(kind: .gaussian, classes: 1, anchors: [(width: 8, height: 4)])
    #expect(decoder.channels == 10)
    let grid = Tensor(shape: [10, 1, 1], [0, 0, 0, 0, 0, 0, 0, 0, 30, 30])
    let found = try decoder.objects(in: grid, width: 16, height: 16, threshold: 0.1)
    let wanted = DetectedObject(
      box: Box(centerX: 0.5, centerY: 0.5, width: 0.5, height: 0.25), classIndex: 0, score: 0.5)
    #expect(found.difference(from: [wanted]) < 1e-6)
  }

  @Test func otherChannelsAreAnError() {
    let decoder = GridDecoder(kind: .yolo, classes: 4, anchors: Self.anchors)
    #expect(throws: ModelError.self) {
      try decoder.objects(
        in: Tensor(shape: [26, 2, 2]), width: 64, height: 64, threshold: 0.5)
    }
  }

  /// NaN and overflowing values produce no boxes and no trap.
  @Test(arguments: [Float.nan, .infinity, -.infinity, 1e30])
  func hostileNumbers(_ value: Float) throws {
    for kind in [GridDecoder.Kind.region, .yolo, .gaussian] {
      let decoder = GridDecoder(kind: kind, classes: 2, anchors: [(width: 1, height: 1)])
      let count = decoder.channels * 4
      let grid = Tensor(
        shape: [decoder.channels, 2, 2], [Float](repeating: value, count: count))
      let found = try decoder.objects(in: grid, width: 4, height: 4, threshold: 0)
      #expect(found.allSatisfy { $0.box.isFinite && $0.score.isFinite })
    }
  }
}
