import Foundation
import Imaging
import TensorCore
import TestSupport
import Testing

/// `run --detect` on a network that finds red areas: each cell of the 2 × 2 grid is the maximum red
/// in a quarter of an 8 × 8 image.
@Suite struct DetectionCommandTests {
  private static let configuration = """
    [net]
    width=8
    height=8
    channels=3

    [maxpool]
    size=4
    stride=4
    padding=0

    [convolutional]
    filters=6
    size=1
    stride=1
    activation=linear

    [region]
    anchors=1,1
    classes=1
    num=1
    softmax=1
    """

  /// Biases and weights for x, y, w, h, confidence, class: only the confidence, 20 · red − 10,
  /// varies.
  private static var weights: Data {
    var numbers = [Float](repeating: 0, count: 6 + 18)
    numbers[4] = -10
    numbers[6 + 4 * 3] = 20
    var data = Data([0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    for number in numbers {
      withUnsafeBytes(of: number.bitPattern.littleEndian) { data.append(contentsOf: $0) }
    }
    return data
  }

  /// Passes the converted network, and a 16 × 32 image whose upper right quarter is red.
  private func withModel(_ body: (_ folder: String, _ model: String) throws -> Void) throws {
    try withTemporaryFolder { folder in
      try Data(Self.configuration.utf8).write(to: URL(filePath: folder + "/red.cfg"))
      try Self.weights.write(to: URL(filePath: folder + "/red.weights"))
      let model = folder + "/red.mlmodel"
      let converted = try Command.run(
        "convert", folder + "/red.cfg", folder + "/red.weights", "-o", model, "--image-input",
        "data")
      #expect(converted.code == 0, "\(converted.errors)")
      var samples = [UInt8](repeating: 0, count: 16 * 32 * 3)
      for y in 0..<16 { for x in 8..<16 { samples[3 * (y * 16 + x)] = 255 } }
      try Image(width: 16, height: 32, channelCount: 3, samples: Bytes(samples))
        .writePNG(to: folder + "/red_0007.png")
      try body(folder, model)
    }
  }

  private func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  static let fittings: [(resize: String, box: [Double])] = [
    ("squash", [8, 0, 8, 16]),
    // The center half of the image is used, from row 8 to row 24.
    ("center-crop", [8, 8, 8, 8]),
    // It is scaled to 4 × 8 with two black columns per side; the box ends at the edge.
    ("fit", [8, 0, 8, 16]),
  ]

  @Test func boxesOfThePicture() throws {
    try withModel { folder, model in
      for (resize, box) in Self.fittings {
        let run = try Command.run(
          "run", model, folder + "/red_0007.png", "--detect", "auto", "--resize", resize,
          "--interpolation", "nearest", "--json")
        #expect(run.code == 0, "\(run.errors)")
        let found = try #require(try object(run.output)["detections"] as? [[String: Any]])
        #expect(found.count == 1, "\(resize)")
        #expect(found.first?["box"] as? [Double] == box, "\(resize) \(run.output)")
        #expect(found.first?["label"] as? String == "class 0")
        #expect(found.first?["class"] as? Int == 0)
        // σ(10)
        let score = try #require(found.first?["score"] as? Double)
        #expect(abs(score - 0.9999546) < 1e-6)
      }
    }
  }

  @Test func drawsAndWritesResults() throws {
    try withModel { folder, model in
      try Data("red thing\n".utf8).write(to: URL(filePath: folder + "/labels.txt"))
      let run = try Command.run(
        "run", model, folder + "/red_0007.png", "--detect", "auto", "--resize", "squash",
        "--labels", folder + "/labels.txt", "-o", folder + "/out.png", "--coco",
        folder + "/results.json")
      #expect(run.code == 0, "\(run.errors)")
      #expect(run.output.contains("red thing") && run.output.contains("100.00%"))
      let drawn = try Image.read(folder + "/out.png")
      #expect(drawn.width == 16 && drawn.height == 32)
      #expect(drawn != (try Image.read(folder + "/red_0007.png")))
      let written = try Data(contentsOf: URL(filePath: folder + "/results.json"))
      let results = try #require(
        try JSONSerialization.jsonObject(with: written) as? [[String: Any]])
      #expect(results.count == 1)
      #expect(results.first?["image_id"] as? Int == 7)
      #expect(results.first?["category_id"] as? Int == 1)
      #expect(results.first?["bbox"] as? [Double] == [8, 0, 8, 16])
    }
  }

  /// `run` needs no options that `convert` stores, here for a network without `[region]`.
  @Test func convertStoresTheDetector() throws {
    try withModel { folder, model in
      try Data("red thing\n".utf8).write(to: URL(filePath: folder + "/labels.txt"))
      let plain = Self.configuration.components(separatedBy: "[region]")[0]
      try Data(plain.utf8).write(to: URL(filePath: folder + "/plain.cfg"))
      func convert(_ more: String...) throws -> Program.Result {
        try Command.run(
          [
            "convert", folder + "/plain.cfg", folder + "/red.weights", "-o", folder + "/m.mlmodel",
            "--image-input", "data", "--labels", folder + "/labels.txt", "--detect",
          ] + more)
      }
      func run(_ more: String...) throws -> Program.Result {
        try Command.run(
          ["run", folder + "/m.mlmodel", folder + "/red_0007.png", "--resize", "squash"] + more)
      }
      let missing = try convert("yolov2")
      #expect(missing.code == 2 && missing.errors.contains("the anchors are missing"))
      let made = try convert("yolov2", "--detector", "anchors=1,1", "--detector", "threshold=0.6")
      #expect(made.code == 0, "\(made.errors)")
      let boxes = try run()
      #expect(boxes.code == 0 && boxes.output.contains("red thing  100.00%"), "\(boxes.output)")
      let arrays = try run("-o", folder + "/grid.npy")
      #expect(arrays.code == 0 && !arrays.output.contains("red thing"), "\(arrays.output)")
      #expect(try run("--json").output.contains("detections"))
      _ = try convert("yolov2", "--detector", "anchors=1,1", "--detector", "threshold=1")
      #expect(try run().output.contains("no boxes with a score above 1"))
    }
  }

  @Test func severalPicturesIntoAFolder() throws {
    try withModel { folder, model in
      try FileManager.default.createDirectory(
        atPath: folder + "/in", withIntermediateDirectories: false)
      for name in ["a", "b"] {
        try FileManager.default.copyItem(
          atPath: folder + "/red_0007.png", toPath: folder + "/in/\(name).png")
      }
      let run = try Command.run(
        "run", model, folder + "/in", "--detect", "yolov2", "--anchors", "1,1", "--resize",
        "squash",
        "-o", folder + "/out", "--quiet", "--coco", folder + "/results.json")
      #expect(run.code == 0, "\(run.errors)")
      let files = try FileManager.default.contentsOfDirectory(atPath: folder + "/out").sorted()
      #expect(files == ["a.png", "b.png"])
      let results = try String(contentsOfFile: folder + "/results.json", encoding: .utf8)
      #expect(results.contains(#""image_id": "a""#) && results.contains(#""image_id": "b""#))
    }
  }

  @Test func whatIsWrongIsSaid() throws {
    try withModel { folder, model in
      let picture = folder + "/red_0007.png"
      for (arguments, code, text) in [
        (["--detect", "auto", "--threshold", "2"], 64, "must be 0 to 1"),
        (["--detect", "auto", "--detector", "scale"], 64, "K=V"),
        (["--detect", "yolov2"], 2, "anchors"),
        (["--detect", "yolov2", "--anchors", "1,1,2,2,3,3,4,4"], 2, "channels"),
        (["--detect", "tiny-yolo-voc"], 2, "channels"),
        (["--detect", "ssd"], 2, "--detector 'anchors="),
      ] as [([String], Int32, String)] {
        let run = try Command.run(["run", model, picture, "--resize", "squash"] + arguments)
        #expect(run.code == code, "\(arguments) \(run.errors)")
        #expect(run.errors.contains(text), "\(arguments) \(run.errors)")
      }
    }
  }

  /// The grid's six channels are not an image; the red maxima can be shown as a heat map.
  @Test func heatMaps() throws {
    try withModel { folder, model in
      let picture = folder + "/red_0007.png"
      let no = try Command.run(
        "run", model, picture, "--resize", "squash", "-o", folder + "/grid.png", "--feature",
        "output1")
      #expect(no.code == 2 && no.errors.contains("one to three channels"))
      let arguments = [
        "run", model, picture, "--resize", "squash", "--interpolation", "nearest", "--layer",
        "maxpool_0", "--feature", "maxpool_0_output", "-o", folder + "/maxima.png",
      ]
      let run = try Command.run(arguments)
      #expect(run.code == 0, "\(run.errors)")
      #expect(
        run.errors.contains("maxpool_0_output as a heat map, scaled from 0 to 1"), "\(run.errors)")
      #expect(run.errors.contains("; convert with --image-output maxpool_0_output"))
      let map = try Image.read(folder + "/maxima.png")
      // The image has three channels, with red in the upper right cell of 2 × 2.
      #expect(map.samples.array(of: UInt8.self) == [0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0])
    }
  }

  /// A PNG file with an orientation in an `eXIf` chunk.
  private func oriented(_ png: [UInt8], _ orientation: UInt8) -> Data {
    let directory: [UInt8] = [
      0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0,
      0, 0, 0,
    ]
    let body = Array("eXIf".utf8) + directory
    var sum = UInt32.max
    for byte in body {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
    }
    func bigEndian(_ value: UInt32) -> [UInt8] {
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
    // The header chunk ends at 33.
    let chunk = bigEndian(UInt32(directory.count)) + body + bigEndian(~sum)
    return Data(png[0..<33] + chunk + png[33...])
  }

  /// The 16 × 32 image as a rotated camera stores it: boxes are in the file's coordinates, and the
  /// drawn image is upright.
  @Test func turnedPictures() throws {
    try withModel { folder, model in
      var samples = [UInt8](repeating: 0, count: 32 * 16 * 3)
      for y in 0..<8 { for x in 0..<16 { samples[3 * (y * 32 + x)] = 255 } }
      let stored = Image(width: 32, height: 16, channelCount: 3, samples: Bytes(samples))
      let picture = folder + "/turned.png"
      try oriented(stored.pngData(), 6).write(to: URL(filePath: picture))
      for exif in ["ignore", "apply"] {
        let run = try Command.run(
          "run", model, picture, "--detect", "auto", "--resize", "center-crop", "--interpolation",
          "nearest", "--exif", exif, "--json", "-o", folder + "/drawn.png")
        #expect(run.code == 0, "\(run.errors)")
        let found = try #require(try object(run.output)["detections"] as? [[String: Any]])
        #expect(found.first?["box"] as? [Double] == [8, 0, 8, 8], "\(exif) \(run.output)")
        let drawn = try Image.read(folder + "/drawn.png")
        #expect(drawn.width == (exif == "apply" ? 16 : 32))
      }
    }
  }

  /// Caffe's SSD on the same image: the score is the largest red of each quarter, and the prior
  /// boxes are the quarters without offsets.
  private static let caffe = """
    input: "data" input_shape { dim: 1 dim: 3 dim: 8 dim: 8 }
    layer { name: "slice" type: "Slice" bottom: "data" top: "r" top: "g" top: "b" }
    layer { name: "gb" type: "Silence" bottom: "g" bottom: "b" }
    layer { name: "pool" type: "Pooling" bottom: "r" top: "red"
      pooling_param { pool: MAX kernel_size: 4 stride: 4 } }
    layer { name: "not" type: "Power" bottom: "red" top: "black" power_param { scale: -1 shift: 1 } }
    layer { name: "both" type: "Concat" bottom: "black" bottom: "red" top: "both" }
    layer { name: "order" type: "Permute" bottom: "both" top: "order"
      permute_param { order: 0 order: 2 order: 3 order: 1 } }
    layer { name: "conf" type: "Flatten" bottom: "order" top: "conf" }
    layer { name: "four" type: "Concat" bottom: "red" bottom: "red" bottom: "red" bottom: "red"
      top: "four" }
    layer { name: "zero" type: "Power" bottom: "four" top: "zero" power_param { scale: 0 } }
    layer { name: "loc" type: "Flatten" bottom: "zero" top: "loc" }
    layer { name: "prior" type: "PriorBox" bottom: "red" bottom: "data" top: "prior"
      prior_box_param { min_size: 4 } }
    layer { name: "found" type: "DetectionOutput" bottom: "loc" bottom: "conf" bottom: "prior"
      top: "found" detection_output_param { num_classes: 2 keep_top_k: 4
        confidence_threshold: 0.1 nms_param { nms_threshold: 0.45 } } }
    """

  @Test func caffesRowsByTheirMetadata() throws {
    try withModel { folder, _ in
      let (network, model) = (folder + "/ssd.prototxt", folder + "/ssd.mlmodel")
      try Data(Self.caffe.utf8).write(to: URL(filePath: network))
      let converted = try Command.run(
        "convert", network, "-o", model, "--image-input", "data", "--color", "rgb",
        "--image-scale", "1/255", "--output-name", "boxes")
      #expect(converted.code == 0, "\(converted.errors)")
      let run = try Command.run(
        "run", model, folder + "/red_0007.png", "--detect", "auto", "--resize", "squash",
        "--interpolation", "nearest", "--json")
      let found = try #require(
        try object(run.output)["detections"] as? [[String: Any]], "\(run.errors)")
      #expect(found.count == 1)
      #expect(found.first?["class"] as? Int == 0)
      #expect(found.first?["box"] as? [Double] == [8, 0, 8, 16])
    }
  }

  /// The ground truth contains what the network finds, and a second object that it misses.
  @Test func evalFollowsTheTruth() throws {
    try withModel { folder, model in
      let (truth, sheet) = (folder + "/truth.json", folder + "/sheet.png")
      let object = #"{"id": 1, "image_id": 5, "category_id": 3, "bbox": [8, 0, 8, 16]}"#
      let other = #"{"id": 2, "image_id": 5, "category_id": 3, "bbox": [0, 24, 4, 8]}"#
      for (objects, precision) in [(object, 1.0), ("\(object), \(other)", 51.0 / 101)] {
        let text =
          #"{"images": [{"id": 5, "file_name": "red_0007.png"}], "#
          + #""categories": [{"id": 3, "name": "Red"}], "annotations": [\#(objects)]}"#
        try Data(text.utf8).write(to: URL(filePath: truth))
        let eval = try Command.run(
          "eval", model, folder + "/red_0007.png", "--truth", truth, "--detect", "auto",
          "--detector", "labels=red", "--resize", "squash", "--json", "-o", sheet, "--coco",
          folder + "/results.json")
        #expect(eval.code == 0, "\(eval.errors)")
        let summary = try #require(try self.object(eval.output)["summary"] as? [String: Any])
        let found = try #require(summary["AP50"] as? Double)
        #expect(abs(found - precision) < 1e-12)
        #expect(FileManager.default.fileExists(atPath: sheet) == (precision < 1))
      }
      let results = try String(contentsOfFile: folder + "/results.json", encoding: .utf8)
      #expect(results.contains(#""image_id": 5, "category_id": 3, "bbox": [8, 0, 8, 16]"#))
      // The model's metadata describe its boxes.
      let image = [folder + "/red_0007.png", "--resize", "squash", "--coco", folder + "/r.json"]
      for words in [["eval", model, "--expected", truth], ["run", model]] {
        let bare = try Command.run([words[0], words[1]] + image + words.dropFirst(2))
        #expect(bare.code == 0, "\(bare.errors)")
        #expect(FileManager.default.fileExists(atPath: folder + "/r.json"))
        try FileManager.default.removeItem(atPath: folder + "/r.json")
      }
      let empty = try Command.run(
        "eval", model, folder + "/red_0007.png", "--truth", model, "--detect", "auto")
      #expect(empty.code == 2 && empty.errors.contains("JSON"), "\(empty.errors)")
    }
  }
}
