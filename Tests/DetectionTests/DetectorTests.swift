import TensorCore
import Testing

@testable import Detection

/// Settings from the metadata and the user, and their effect on outputs.
@Suite struct DetectorTests {
  /// A grid with one box: `numbers` at (`row`, `column`), −20 elsewhere.
  private func grid(
    channels: Int, rows: Int, columns: Int, at row: Int, _ column: Int, first: Int = 0,
    _ numbers: [Float]
  ) -> Tensor {
    var elements = [Float](repeating: -20, count: channels * rows * columns)
    for (number, value) in numbers.enumerated() {
      elements[((first + number) * rows + row) * columns + column] = value
    }
    return Tensor(shape: [1, channels, rows, columns], elements)
  }

  private func objects(
    _ mode: DetectionMode, metadata: [String: String] = [:], options: [String: String] = [:],
    labels: [String]? = nil, _ outputs: [(String, Tensor)], side: Int = 96
  ) throws -> (Detector, [DetectedObject]) {
    let detector = try Detector(
      mode, settings: DetectorSettings(metadata: metadata, options: options), labels: labels,
      width: side, height: side)
    return (
      detector, try detector.objects(in: outputs.map { DetectorOutput(name: $0.0, value: $0.1) })
    )
  }

  /// Metadata of Darknet's importer for `yolov3-tiny.cfg`, scaled down: the mask selects the
  /// anchors.
  @Test func darknetMetadata() throws {
    var metadata: [String: String] = [:]
    for (output, mask) in [("yolo_16", "1"), ("yolo_23", "0")] {
      for (key, value) in [
        ("type", "yolo"), ("classes", "1"), ("num", "2"), ("mask", mask),
        ("anchors", "12,24, 48,96"), ("scale_x_y", "1"), ("new_coords", "0"),
      ] {
        metadata["assay.detect.\(output).\(key)"] = value
      }
    }
    let coarse = grid(channels: 6, rows: 3, columns: 3, at: 0, 2, [0, 0, 0, 0, 20, 20])
    let fine = grid(channels: 6, rows: 6, columns: 6, at: 5, 1, [0, 0, 0, 0, 20, 20])
    let (detector, found) = try objects(
      .auto, metadata: metadata, [("yolo_16", coarse), ("yolo_23", fine)])
    let wanted = [
      Box(centerX: 2.5 / 3, centerY: 0.5 / 3, width: 0.5, height: 1),
      Box(centerX: 1.5 / 6, centerY: 5.5 / 6, width: 0.125, height: 0.25),
    ].map { DetectedObject(box: $0, classIndex: 0, score: 1) }
    #expect(found.count == 2)
    #expect(found.contains { [$0].difference(from: [wanted[0]]) < 1e-6 })
    #expect(found.contains { [$0].difference(from: [wanted[1]]) < 1e-6 })
    #expect(detector.label(0) == "class 0")
    // The user's settings override the metadata.
    let (_, none) = try objects(
      .auto, metadata: metadata, options: ["yolo_23.mask": "1", "labels": "dog"],
      [("yolo_23", fine)])
    #expect(abs((none.first?.box.width ?? 0) - 0.5) < 1e-6)
  }

  /// Anchors for all outputs together: the finest grid uses the first ones.
  @Test func anchorsOfSeveralGrids() throws {
    let coarse = grid(channels: 6, rows: 3, columns: 3, at: 0, 2, [0, 0, 0, 0, 20, 20])
    let fine = grid(channels: 6, rows: 6, columns: 6, at: 5, 1, [0, 0, 0, 0, 20, 20])
    for anchors in ["12,24,48,96", "48,96; 12,24"] {
      let (_, found) = try objects(
        .yolov3, options: ["anchors": anchors], labels: ["dog"], [("a", coarse), ("b", fine)])
      #expect(Set(found.map { ($0.box.width * 96).rounded() }) == [12, 48])
      #expect(found.first { $0.box.width > 0.4 }.map { $0.box.top < 0 } == true)
    }
  }

  /// The eleventh class in the fourth box, whose channels start at 3 · 25.
  @Test func tinyYOLOVOC() throws {
    var numbers = [Float](repeating: -20, count: 25)
    numbers[4] = 20
    numbers[5 + 11] = 20
    numbers.replaceSubrange(0..<4, with: [0, 0, 0, 0])
    let value = grid(channels: 125, rows: 13, columns: 13, at: 2, 9, first: 75, numbers)
    let (detector, found) = try objects(.tinyYOLOVOC, [("grid", value)], side: 416)
    let wanted = DetectedObject(
      box: Box(centerX: 9.5 / 13, centerY: 2.5 / 13, width: 9.42 / 13, height: 5.11 / 13),
      classIndex: 11, score: 1)
    #expect(found.difference(from: [wanted]) < 1e-6)
    #expect(detector.label(11) == "dog")
    #expect(TinyYOLOVOC.labels.count == 20)
    // Channels last, as in Keras.
    let last = DetectorOutput(
      name: "grid", value: value.transposed([0, 2, 3, 1]), channels: .last)
    #expect(try detector.objects(in: [last]).difference(from: [wanted]) < 1e-6)
  }

  @Test func backgroundsAreNoLabels() throws {
    let detector = try Detector(
      .ssd, settings: DetectorSettings(metadata: [:]), labels: ["background", "cat"], width: 8,
      height: 8)
    #expect(detector.label(0) == "cat")
  }

  static let wrong: [(metadata: [String: String], what: String)] = [
    ([:], "metadata does not describe"),
    (["grid.type": "region", "grid.anchors": "1,2,3"], "anchors"),
    (["grid.type": "region", "grid.anchors": "1,x"], "is not a number"),
    (["grid.type": "region", "grid.anchors": "1,1", "grid.num": "2"], "anchors"),
    (["grid.type": "yolo", "grid.anchors": "1,1", "grid.mask": "7"], "does not exist"),
    (["grid.type": "yolo", "grid.anchors": "1,1", "grid.mask": "1e300"], "does not exist"),
    (["grid.type": "yolo", "grid.anchors": "1,1", "grid.classes": "-4"], "classes"),
    (["grid.type": "yolo", "grid.anchors": "1,1", "grid.classes": "3"], "channels"),
    (["grid.type": "region", "grid.anchors": "1,1", "grid.tree": "9k.tree"], "tree"),
    (["grid.type": "detection"], "7 × 7 cells need 294"),
    (["other.type": "yolo"], "other outputs"),
    (["threshold": "high"], "threshold"),
  ]

  @Test func wrongMetadata() {
    for (entries, what) in Self.wrong {
      let metadata = Dictionary(
        uniqueKeysWithValues: entries.map { ("assay.detect." + $0.key, $0.value) })
      let error = #expect(throws: ModelError.self) {
        try objects(.auto, metadata: metadata, [("grid", Tensor(shape: [1, 7, 2, 2]))])
      }
      #expect(error?.description.contains(what) == true, "\(String(describing: error))")
    }
  }

  @Test func cocoNames() {
    #expect(COCOResults.imageID(of: "a/COCO_val2014_000000397133.jpg") == .number(397133))
    #expect(COCOResults.imageID(of: "000000000139.jpg") == .number(139))
    #expect(COCOResults.imageID(of: "a/dog.jpg") == .text("dog"))
    #expect(COCOResults.imageID(of: "dog416.png") == .text("dog416"))
    #expect(
      COCOResults.imageID(of: "x_99999999999999999999.png") == .text("x_99999999999999999999"))
    var labels = (0..<80).map { "\($0)" }
    #expect(COCOResults.categoryID(of: 79, labels: labels) == 80)
    (labels[0], labels[79]) = ("person", "toothbrush")
    // person 1, stop sign 13, backpack 27, dining table 67, toilet 70, toothbrush 90
    let published = [0: 1, 10: 11, 11: 13, 24: 27, 60: 67, 61: 70, 62: 72, 79: 90]
    for (index, id) in published {
      #expect(COCOResults.categoryID(of: index, labels: labels) == id)
    }
  }
}
