import ByteFormats
import Detection
import Foundation
import TestSupport
import Testing

/// Average precision compared with pycocotools: `Tests/Tools/coco_average_precision.py` made the
/// objects, the detections and the expected values.
@Suite struct COCOEvaluationTests {
  private static let fixtures = Fixtures("detection")

  private func json(_ name: String) throws -> JSONValue {
    try JSONValue(parsing: Self.fixtures.bytes(name))
  }

  private func evaluation() throws -> COCOEvaluation {
    let truth = try COCOTruth.read(Self.fixtures.path("coco_truth.json"))
    let found = try #require(try json("coco_results.json").array).map { value in
      let box = try #require(value["bbox"]?.array).compactMap(\.double)
      return FoundObject(
        image: try #require(value["image_id"]?.int),
        category: try #require(value["category_id"]?.int),
        box: Box(x: box[0], y: box[1], width: box[2], height: box[3]),
        score: try #require(value["score"]?.double))
    }
    #expect(truth.objects.contains(where: \.isCrowd) && found.count > 300)
    return COCOEvaluation(
      truth: truth.objects, found: found, categories: Array(truth.categories.keys))
  }

  @Test func theTwelveNumbersArePycocotools() throws {
    let expected = try #require(try json("coco_expected.json")["stats"]?.array).compactMap(\.double)
    let summary = try evaluation().summary
    #expect(summary.count == 12 && expected.count == 12)
    for ((name, value), expected) in zip(summary, expected) {
      #expect(abs((value ?? -1) - expected) < 1e-9, "\(name)")
    }
  }

  @Test func soAreThoseOfEachClass() throws {
    let expected = try #require(try json("coco_expected.json")["classes"]?.object)
    let evaluation = try evaluation()
    #expect(evaluation.categories.map(String.init) == expected.names.sorted { Int($0)! < Int($1)! })
    for (name, value) in expected.members {
      let own = evaluation.averagePrecision(category: Int(name)) ?? -1
      #expect(abs(own - (value.double ?? 0)) < 1e-9, "class \(name)")
    }
  }

  /// By hand: the first detection is right, the second finds the same object again.
  @Test func anObjectIsFoundOnce() {
    let box = Box(x: 0, y: 0, width: 10, height: 10)
    let found = [0.9, 0.8].map { FoundObject(image: 1, category: 1, box: box, score: $0) }
    func precision(_ truth: [TrueObject]) -> Double? {
      COCOEvaluation(truth: truth, found: found, categories: [1]).averagePrecision()
    }
    let object = TrueObject(image: 1, category: 1, box: box)
    #expect(abs((precision([object]) ?? 0) - 1) < 1e-12)
    // One of two objects is found, for a recall of 0.5: 51 of 101 recalls have a precision of 1.
    let far = Box(x: 100, y: 100, width: 10, height: 10)
    let other = TrueObject(image: 1, category: 1, box: far)
    #expect(abs((precision([object, other]) ?? 0) - 51.0 / 101) < 1e-12)
    #expect(precision([]) == nil)
  }

  @Test(arguments: [
    "{}", "[]", #"{"images": [{"id": "a"}], "categories": [], "annotations": []}"#,
    #"{"images": [], "categories": [], "annotations": [{"image_id": 1}]}"#,
  ])
  func brokenTruthIsNamed(_ text: String) throws {
    let error = modelError { try COCOTruth(try JSONValue(parsing: text)) }
    #expect(error?.code == .malformed && error?.hint?.contains("annotations") == true)
  }
}
