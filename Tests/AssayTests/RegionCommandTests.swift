import ByteFormats
import Files
import Foundation
import TensorCore
import TestSupport
import Testing

/// Faster R-CNN and R-FCN from prototxt and caffemodel to boxes in one command, compared with the
/// NumPy code in `Fixtures/caffe/layers/regions.py`.
@Suite struct RegionCommandTests {
  @Test(arguments: ["faster_rcnn", "rfcn"])
  func boxesOfAnImage(_ name: String) throws {
    let folder = Fixtures("caffe/layers")
    let run = try Command.run(
      "run", folder.path(name + ".prototxt"), folder.path(name + ".caffemodel"),
      folder.path("regions.png"), "--color", "bgr", "--detect", "auto", "--threshold",
      "0.4", "--json")
    #expect(run.code == 0, "\(run.errors)")
    let line = try #require(
      try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
    let found = try #require(line["detections"] as? [[String: Any]])
    let set = try ArraySet.parse(try MappedFile.read(folder.path(name + ".boxes.npz")))
    let rows = try #require(set["boxes"]).tensor
    #expect(found.count == rows.shape[0])
    for index in 0..<rows.shape[0] {
      let row = rows.elements[6 * index..<6 * index + 6].map(Double.init)
      // A box includes its last pixel.
      let box = [row[2], row[3], row[4] - row[2] + 1, row[5] - row[3] + 1]
      #expect(
        found.contains { object in
          guard let own = object["box"] as? [Double], let score = object["score"] as? Double,
            object["class"] as? Int == Int(row[0])
          else { return false }
          return abs(score - row[1]) < 1e-4 && zip(own, box).allSatisfy { abs($0 - $1) < 0.01 }
        }, "\(row)")
    }
  }

  /// The generated classes of the layers are complete.
  @Test func classesForAnApp() throws {
    try withTemporaryFolder { scratch in
      let folder = Fixtures("caffe/layers")
      let model = scratch + "/m.mlmodel"
      let converted = try Command.run(
        "convert", folder.path("faster_rcnn.prototxt"), folder.path("faster_rcnn.caffemodel"), "-o",
        model)
      #expect(converted.code == 0, "\(converted.errors)")
      let stubs = try Command.run("inspect", model, "--swift-stubs", scratch + "/classes")
      #expect(stubs.code == 0, "\(stubs.errors)")
      let files = try FileManager.default.contentsOfDirectory(atPath: scratch + "/classes")
      for name in ["ROIPooling.swift", "Proposal.swift", "RegionProposals.swift"] {
        #expect(files.contains(name), "\(files)")
      }
      for file in files {
        let text = try String(contentsOfFile: scratch + "/classes/" + file, encoding: .utf8)
        #expect(!text.contains("TODO"))
      }
    }
  }
}
