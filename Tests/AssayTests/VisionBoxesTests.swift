import Foundation
import TestSupport
import Testing

/// `convert --vision-boxes`: the boxes of the pipeline and of the plain network are those of OpenCV
/// and Keras, with the suppression of Fixtures/detection/vision.py.
@Suite struct VisionBoxesTests {
  struct Detector: Sendable, CustomTestStringConvertible {
    let name: String
    let files: [String]
    /// The options of the conversion.
    let options: [String]
    /// The options that describe the boxes.
    let boxes: [String]

    var testDescription: String { name }

    init(_ name: String, _ files: [String], input: String, _ boxes: String...) {
      (self.name, self.files, self.boxes) = (name, files, boxes)
      options = ["--image-input", input, "--color", "rgb", "--image-scale", "1/255"]
    }
  }

  static let detectors = [
    Detector("yolov2", ["yolov2.cfg", "yolov2.weights"], input: "data", "auto"),
    Detector("yolov4", ["yolov4.cfg", "yolov4.weights"], input: "data", "auto"),
    Detector(
      "yolov3", ["yolov3.h5"], input: "image", "yolov3", "--detector",
      "anchors=8,10,14,12,30,20,26,44"),
    Detector("ssd", ["ssd.prototxt", "ssd.caffemodel"], input: "data", "ssd"),
    Detector("ssd_keras", ["ssd_keras.h5"], input: "image", "ssd"),
    Detector("retinanet", ["retinanet.h5"], input: "image", "retinanet"),
    Detector(
      "retinanet_offsets", ["retinanet_offsets.h5"], input: "image", "retinanet", "--detector",
      "anchors=retinanet"),
  ]

  private static let folder = packageRoot + "/Fixtures/detection/vision/"

  struct Expected: Decodable {
    let threshold: Double
    let boxes: [[Double]]
  }

  private func expected(_ name: String) throws -> Expected {
    let cases = try JSONDecoder().decode(
      [String: Expected].self,
      from: Data(contentsOf: URL(filePath: Self.folder + "expected.json")))
    return try #require(cases[name])
  }

  private func difference(_ run: Command.Result, _ expected: Expected) throws -> Double {
    #expect(run.code == 0, "\(run.errors)")
    let result = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
    let found = try #require(result?["detections"] as? [[String: Any]])
    #expect(found.count == expected.boxes.count)
    var rest = try found.map { object in
      [Double(try #require(object["class"] as? Int)), try #require(object["score"] as? Double)]
        + (try #require(object["box"] as? [Double]))
    }
    var greatest = 0.0
    for wanted in expected.boxes {
      // Pixels as fractions of the 64 × 64 image.
      func distance(_ row: [Double]) -> Double {
        zip(row, wanted).enumerated().map { abs($1.0 - $1.1) / ($0 > 1 ? 64 : 1) }.max()
          ?? .infinity
      }
      guard let nearest = rest.indices.min(by: { distance(rest[$0]) < distance(rest[$1]) }) else {
        return .infinity
      }
      greatest = max(greatest, distance(rest.remove(at: nearest)))
    }
    return greatest
  }

  @Test(arguments: detectors)
  func boxesEqualTheFrameworks(_ detector: Detector) throws {
    let expected = try expected(detector.name)
    let boxes = ["--detect"] + detector.boxes + ["--detector", "threshold=\(expected.threshold)"]
    try withTemporaryFolder { folder in
      let convert = ["convert"] + detector.files.map { Self.folder + $0 } + detector.options
      let pipeline = folder + "/vision.mlmodel"
      let made = try Command.run(convert + boxes + ["--vision-boxes", "-o", pipeline])
      #expect(made.code == 0, "\(made.errors)")
      let image = [Self.folder + "image.png", "--json"]
      #expect(try difference(try Command.run(["run", pipeline] + image), expected) < 1e-3)
      let plain = folder + "/plain.mlmodel"
      _ = try Command.run(convert + ["-o", plain])
      #expect(try difference(try Command.run(["run", plain] + image + boxes), expected) < 1e-3)
    }
  }

  /// Layer by layer as in files of Turi Create, Create ML and Ultralytics; see vision.py.
  @Test(arguments: ["turi", "createml", "ultralytics", "ultralytics_program"])
  func pipelinesOfOtherTools(_ name: String) throws {
    let path = Self.folder + name + (name.hasSuffix("program") ? ".mlpackage" : ".mlmodel")
    let run = try Command.run("run", path, Self.folder + "image.png", "--json")
    #expect(try difference(run, expected(name)) < 1e-3)
    let isRefused = try !name.hasSuffix("program") && !AppleValidator.refusals(of: [path]).isEmpty
    #expect(!isRefused)
  }

  /// The rows of Caffe's DetectionOutput: a pipeline has the boxes of the plain network.
  @Test func rowsOfDetectionOutput() throws {
    try withTemporaryFolder { folder in
      try Data("red\n".utf8).write(to: URL(filePath: folder + "/red.txt"))
      let convert = [
        "convert", Self.folder + "rows.prototxt", "--image-input", "data", "--color", "rgb",
        "--image-scale", "1/255", "-o",
      ]
      let pipeline = ["--vision-boxes", "--labels", folder + "/red.txt"]
      var found: [String] = []
      for options in [[], pipeline] {
        let model = folder + "/\(options.count).mlmodel"
        let made = try Command.run(convert + [model] + options)
        #expect(made.code == 0, "\(made.errors)")
        let run = try Command.run(
          "run", model, Self.folder + "image.png", "--resize", "squash", "--detect", "auto")
        #expect(run.code == 0, "\(run.errors)")
        found.append(run.output.replacing("class 0", with: "red").replacing(#/ +/#, with: " "))
      }
      #expect(found[0] == found[1] && found[0].count { $0 == "\n" } == 5, "\(found)")
    }
  }

  @Test func whatCannotBeDecodedIsSaid() throws {
    try withTemporaryFolder { folder in
      let network = Self.folder + "ssd.prototxt"
      let weights = Self.folder + "ssd.caffemodel"
      for (arguments, code, text) in [
        (["-o", folder + "/x.mlpackage"], 64, "--vision-boxes writes an .mlmodel"),
        (["-o", folder + "/x.mlmodel"], 2, "--vision-boxes needs a network with an image input"),
        (
          ["-o", folder + "/x.mlmodel", "--image-input", "data"], 2,
          "the model's metadata does not describe its boxes"
        ),
      ] as [([String], Int32, String)] {
        let run = try Command.run(["convert", network, weights, "--vision-boxes"] + arguments)
        #expect(run.code == code && run.errors.contains(text), "\(run.errors)")
      }
    }
  }
}
