import ByteFormats
import Files
import TensorCore
import TestSupport
import Testing

@testable import Detection

/// Compared with the NumPy code beside the networks, `Fixtures/caffe/layers/regions.py`.
@Suite struct RegionDecoderTests {
  private func arrays(_ file: String) throws -> [String: Tensor] {
    let set = try ArraySet.parse(try MappedFile.read(Fixtures("caffe/layers").path(file)))
    return Dictionary(
      set.arrays.map { ($0.name ?? "", $0.tensor) }, uniquingKeysWith: { first, _ in first })
  }

  /// Rows of class, score, x₁, y₁, x₂, y₂ in pixels before scaling; a box includes its last pixel.
  private func boxes(_ name: String, scale: Double, width: Int, height: Int) throws
    -> [DetectedObject]
  {
    let rows = try #require(try arrays(name + ".boxes.npz")["boxes"])
    let values = rows.elements.map(Double.init)
    let (x, y) = (scale / Double(width), scale / Double(height))
    return stride(from: 0, to: values.count, by: 6).map { at -> DetectedObject in
      let (right, bottom) = (values[at + 4] + 1, values[at + 5] + 1)
      let box = Box(
        left: values[at + 2] * x, top: values[at + 3] * y, right: right * x, bottom: bottom * y)
      return DetectedObject(box: box, classIndex: Int(values[at]), score: values[at + 1])
    }
  }

  @Test(arguments: [
    ("faster_rcnn", 64.0, 80.0, 1.0), ("faster_rcnn_scaled", 60, 77, 1.25), ("rfcn", 64, 80, 1),
  ])
  func agreesWithNumPy(_ name: String, _ height: Double, _ width: Double, _ scale: Double) throws {
    let outputs = try arrays(name + ".expected.npz").map {
      DetectorOutput(name: $0.key, value: $0.value)
    }
    var detector = try Detector(
      .fasterRCNN, settings: DetectorSettings(metadata: [:], options: ["threshold": "0.4"]),
      width: 80, height: 64)
    detector.extent = RegionDecoder.Extent(width: width, height: height)
    detector.extent?.scaleX = scale
    detector.extent?.scaleY = scale
    let found = try detector.objects(in: outputs)
    let expected = try boxes(name, scale: scale, width: 80, height: 64)
    #expect(expected.count > 4)
    #expect(found.difference(from: expected) < 1e-4)
  }

  @Test func arraysThatDoNotMatch() throws {
    let detector = try Detector(
      .fasterRCNN, settings: DetectorSettings(metadata: [:]), width: 8, height: 8)
    let rois = DetectorOutput(
      name: "rois", value: Tensor(shape: [2, 5], [Float](repeating: 0, count: 10)))
    let scores = DetectorOutput(
      name: "cls_prob", value: Tensor(shape: [2, 3], [Float](repeating: 1, count: 6)))
    for outputs in [[], [scores], [rois], [rois, scores]] {
      #expect(throws: ModelError.self) { try detector.objects(in: outputs) }
    }
    var offsets = [Float](repeating: 0, count: 24)
    offsets[0] = .nan
    offsets[20] = .infinity
    let odd = DetectorOutput(name: "bbox_pred", value: Tensor(shape: [2, 12], offsets))
    #expect(try detector.objects(in: [rois, scores, odd]).allSatisfy { $0.box.isFinite })
  }
}
