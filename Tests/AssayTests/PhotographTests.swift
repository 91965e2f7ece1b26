import Foundation
import Testing

/// The networks and photographs of `make demo`.
@Suite struct PhotographTests {
  private static let fixture = DemonstrationTests.fixture

  private func convert(_ model: [String], to path: String, _ options: [String]) throws {
    let result = try Command.run(
      ["convert"] + model.map { Self.fixture + "/" + $0 } + ["-o", path] + options)
    #expect(result.code == 0, "\(result.errors)")
  }

  /// Left, top, right and bottom edge of what is on `person.jpg`, read off the picture.
  static let things: [String: [Double]] = [
    "person": [190, 83, 276, 374], "horse": [406, 139, 600, 342], "dog": [66, 265, 202, 346],
  ]

  /// The share of the union of two boxes that is in both.
  private func overlap(_ a: [Double], _ b: [Double]) -> Double {
    let across = max(0, min(a[2], b[2]) - max(a[0], b[0]))
    let down = max(0, min(a[3], b[3]) - max(a[1], b[1]))
    func area(_ box: [Double]) -> Double { (box[2] - box[0]) * (box[3] - box[1]) }
    return across * down / (area(a) + area(b) - across * down)
  }

  @Test func findsWhatIsThere() throws {
    try Command.withFolder { folder in
      let model = folder + "/yolo.mlmodel"
      try convert(
        ["mobilenet_yolo.prototxt", "mobilenet_yolo.caffemodel"], to: model,
        [
          "--image-input", "data", "--color", "rgb", "--image-scale", "1/256", "--metadata",
          "assay.detect.type=yolo", "--metadata", "assay.detect.layer69-conv.scale_x_y=1.1",
          "--metadata", "assay.detect.layer79-conv.scale_x_y=1.05", "--metadata",
          "assay.detect.anchors=26,48,67,84,72,175,189,126,137,236,265,259",
        ])
      let run = try Command.run(
        "run", model, Self.fixture + "/person.jpg", "--detect", "auto", "--resize", "squash",
        "--labels", Self.fixture + "/voc.txt", "--threshold", "0.5", "--json")
      #expect(run.code == 0, "\(run.errors)")
      let object = try JSONSerialization.jsonObject(with: Data(run.output.utf8))
      let found = try #require((object as? [String: Any])?["detections"] as? [[String: Any]])
      #expect(Set(found.compactMap { $0["label"] as? String }) == Set(Self.things.keys))
      for item in found {
        let label = try #require(item["label"] as? String)
        let box = try #require(item["box"] as? [Double])
        let edges = [box[0], box[1], box[0] + box[2], box[1] + box[3]]
        let thing = try #require(Self.things[label])
        #expect(overlap(edges, thing) > 0.5, "\(label) \(edges)")
      }
    }
  }

  @Test func theEagleIsABird() throws {
    try Command.withFolder { folder in
      let model = folder + "/resnet.mlmodel"
      try convert(
        ["cifar10_resnet.h5"], to: model,
        [
          "--input-name", "image", "--image-input", "image", "--class-labels",
          Self.fixture + "/cifar10.txt",
        ])
      let run = try Command.run(
        "run", model, Self.fixture + "/eagle.jpg", "--resize", "squash", "--interpolation", "box",
        "--top", "1")
      #expect(run.output.contains("bird"), "\(run.output)\(run.errors)")
    }
  }
}
