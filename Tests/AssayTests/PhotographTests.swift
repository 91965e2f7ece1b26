import Foundation
import TestSupport
import Testing

/// The networks and photos of `make demo`.
@Suite struct PhotographTests {
  private static let fixture = DemonstrationTests.fixture

  private func convert(_ model: [String], to path: String, _ options: [String]) throws {
    let result = try Command.run(
      ["convert"] + model.map { Self.fixture + "/" + $0 } + ["-o", path] + options)
    #expect(result.code == 0, "\(result.errors)")
  }

  /// The left, top, right and bottom edges of objects in `person.jpg`, read off the image.
  static let things: [String: [Double]] = [
    "person": [190, 83, 276, 374], "horse": [406, 139, 600, 342], "dog": [66, 265, 202, 346],
  ]

  /// The intersection over union of two boxes.
  private func overlap(_ a: [Double], _ b: [Double]) -> Double {
    let across = max(0, min(a[2], b[2]) - max(a[0], b[0]))
    let down = max(0, min(a[3], b[3]) - max(a[1], b[1]))
    func area(_ box: [Double]) -> Double { (box[2] - box[0]) * (box[3] - box[1]) }
    return across * down / (area(a) + area(b) - across * down)
  }

  @Test func findsWhatIsThere() throws {
    try withTemporaryFolder { folder in
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
    try withTemporaryFolder { folder in
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

  /// Offsets and scores of two third-party networks with described prior boxes; the face is in
  /// Pillow's portrait of Grace Hopper, 128 × 128, with edges read off the image.
  @Test(
    .shared("models/caffe", "models/images"),
    arguments: ["ultraface/slim-320", "face_mask_detection/face_mask_detection"])
  func findsAFace(_ name: String) throws {
    let shared = Shared.folder
    let networks: [String: (input: String, options: [String])] = [
      "ultraface/slim-320": (
        "input",
        [
          "--image-scale", "1/128", "--red-bias=-0.9921875", "--green-bias=-0.9921875",
          "--blue-bias=-0.9921875", "--metadata",
          "assay.detect.priors=40x30/8: 10x10,16x16,24x24; 20x15/16: 32x32,48x48;"
            + "10x8/32: 64x64,96x96; 5x4/64: 128x128,192x192,256x256",
        ]
      ),
      "face_mask_detection/face_mask_detection": (
        "data",
        [
          "--image-scale", "1/255", "--metadata", "assay.detect.background=-1", "--metadata",
          "assay.detect.priors=33x33: 10.4x10.4,14.56x14.56,8.189x13.208,6.74x16.048;"
            + "17x17: 20.8x20.8,28.6x28.6,16.378x26.416,13.48x32.096;"
            + "9x9: 41.6x41.6,57.2x57.2,32.756x52.832,26.96x64.19;"
            + "5x5: 83.2x83.2,117x117,65.51x105.66,53.92x128.38;"
            + "3x3: 166.4x166.4,187.2x187.2,131.02x211.3,107.84x256.77",
        ]
      ),
    ]
    let network = try #require(networks[name])
    try withTemporaryFolder { folder in
      let files = [".prototxt", ".caffemodel"].map { "\(shared)/models/caffe/\(name)\($0)" }
      let converted = try Command.run(
        ["convert"] + files + [
          "-o", folder + "/m.mlmodel", "--image-input", network.input, "--color", "rgb",
          "--metadata", "assay.detect.type=ssd",
        ] + network.options)
      #expect(converted.code == 0, "\(converted.errors)")
      let run = try Command.run(
        "run", folder + "/m.mlmodel", shared + "/models/images/pillow_hopper.jpg", "--detect",
        "auto", "--threshold", "0.7", "--resize", "squash", "--json")
      let object = try JSONSerialization.jsonObject(with: Data(run.output.utf8))
      let found = try #require((object as? [String: Any])?["detections"] as? [[String: Any]])
      #expect(found.count == 1, "\(run.output)\(run.errors)")
      let box = try #require(found.first?["box"] as? [Double])
      let edges = [box[0], box[1], box[0] + box[2], box[1] + box[3]]
      #expect(overlap(edges, [37, 27, 87, 79]) > 0.6, "\(edges)")
    }
  }
}
