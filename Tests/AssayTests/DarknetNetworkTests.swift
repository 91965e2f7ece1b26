import Foundation
import TestSupport
import Testing

/// Darknet networks, and the metadata that `convert` gives them.
@Suite struct DarknetNetworkTests {
  private static let folder = packageRoot + "/Fixtures/darknet"

  /// Published networks with weights files of known sizes, including a header of 16 or 20 bytes.
  @Test(arguments: [
    ("yolov2-tiny-voc", 63_471_556, 1, ["region_15"]),
    ("yolov3-tiny", 35_434_956, 2, ["yolo_16", "yolo_23"]),
    ("yolov4-tiny", 24_251_276, 2, ["yolo_30", "yolo_37"]),
  ])
  func publishedNetworks(
    _ name: String, _ byteCount: UInt64, _ minor: UInt8, _ outputs: [String]
  ) throws {
    let path = "\(Self.folder)/\(name).cfg"
    let inspected = try Command.run("inspect", path, "--json")
    #expect(inspected.code == 0, "\(inspected.errors)")
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(inspected.output.utf8)) as? [String: Any])
    let features = try #require(json["outputs"] as? [[String: Any]])
    #expect(features.compactMap { $0["name"] as? String } == outputs)
    let timed = try Command.run("bench", path, "--runs", "1", "--warmup", "0", "--quiet")
    #expect(timed.code == 0, "\(timed.errors)")
    try withTemporaryFolder { scratch in
      let weights = scratch + "/w.weights"
      try Data([0, 0, 0, 0, minor, 0, 0, 0]).write(to: URL(filePath: weights))
      let file = try FileHandle(forUpdating: URL(filePath: weights))
      let lengths: [(UInt64, Int32)] = [(byteCount, 0), (byteCount - 4, 2), (byteCount + 4, 2)]
      for (count, code) in lengths {
        try file.truncate(atOffset: count)
        let planned = try Command.run("convert", path, weights, "--dry-run")
        #expect(planned.code == code, "\(count): \(planned.errors)")
      }
      try file.close()
    }
  }

  /// The metadata for `run --detect`, and the preprocessing of the image.
  @Test func picturesAndMetadata() throws {
    try withTemporaryFolder { scratch in
      let path = Self.folder + "/layers/yolo"
      let model = scratch + "/m.mlmodel"
      let converted = try Command.run(
        "convert", path + ".cfg", path + ".weights", "-o", model, "--image-input", "image",
        "--input-name", "image", "--output-name", "coarse")
      #expect(converted.code == 0)
      #expect(converted.errors.contains("--image-scale 1/255, as in Darknet"))
      let text = try Command.run("inspect", model, "--spec").output
      for (key, value) in [
        ("assay.detect.coarse.type", "yolo"), ("assay.detect.coarse.mask", "1,2,3"),
        ("assay.detect.coarse.anchors", "10,14,23,27,37,58,81,82"),
        ("assay.detect.coarse.scale_x_y", "1.05"), ("assay.detect.coarse.classes", "2"),
        ("assay.detect.yolo_7.mask", "0"), ("assay.detect.yolo_7.scale_x_y", "1"),
      ] {
        #expect(text.contains("\"\(key)\""), "\(key)")
        #expect(text.contains("\"\(value)\""), "\(value)")
      }
      let inspected = try Command.run("inspect", model)
      #expect(inspected.output.contains("pixel / 255"), "\(inspected.output)")
    }
  }

  @Test func networkWithoutItsWeights() throws {
    try withTemporaryFolder { scratch in
      let result = try Command.run(
        "convert", Self.folder + "/yolov3-tiny.cfg", "-o", scratch + "/m.mlmodel")
      #expect(result.code == 2)
      #expect(
        result.errors.contains(
          "layer 'convolutional_0' (convolutional): the network needs weights"),
        "\(result.errors)")
      #expect(result.errors.contains("hint: add the .weights file after the .cfg"))
    }
  }

  /// The input size differs from the file's.
  @Test func inputShape() throws {
    try withTemporaryFolder { scratch in
      let path = Self.folder + "/layers/yolo"
      let model = scratch + "/m.mlmodel"
      let converted = try Command.run(
        "convert", path + ".cfg", path + ".weights", "-o", model, "--input-shape",
        "data=1,3,16,24")
      #expect(converted.code == 0, "\(converted.errors)")
      let text = try Command.run("inspect", model).output
      #expect(text.contains("array 21×8×12 double"), "\(text)")
    }
  }
}
