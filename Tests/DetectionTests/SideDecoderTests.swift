import TensorCore
import Testing

@testable import Detection

/// YOLO v1's outputs, decoded by the formula of Darknet's `get_detection_detections`.
@Suite struct SideDecoderTests {
  /// 3 × 3 cells, two classes, two boxes.
  @Test func oneBox() throws {
    var decoder = SideDecoder()
    (decoder.side, decoder.classes, decoder.boxes) = (3, 2, 2)
    decoder.isRoot = true
    var numbers = [Float](repeating: 0, count: 9 * (2 + 2 * 5))
    // The second box of the cell in column 2 of row 1.
    let cell = 1 * 3 + 2
    numbers[2 * cell] = 0.1
    numbers[2 * cell + 1] = 0.75
    numbers[9 * 2 + 2 * cell + 1] = 0.8
    let place = 9 * (2 + 2) + 4 * (2 * cell + 1)
    numbers.replaceSubrange(place..<place + 4, with: [0.25, 0.5, 0.6, 0.9])
    let found = try decoder.objects(in: Tensor(shape: [108], numbers), threshold: 0.2)
    // x = (2 + ¼)/3, y = (1 + ½)/3, w = 0.6², h = 0.9²; the score is 0.8 · 0.75.
    let wanted = DetectedObject(
      box: Box(centerX: 0.75, centerY: 0.5, width: 0.36, height: 0.81), classIndex: 1, score: 0.6)
    #expect(found.difference(from: [wanted]) < 1e-6)

    decoder.isRoot = false
    decoder.isSoftmax = true
    // e^0.75 / (e^0.1 + e^0.75) = 0.657010, e^0.1 / … = 0.342990
    let soft = try decoder.objects(in: Tensor(shape: [108], numbers), threshold: 0.2)
    let box = Box(centerX: 0.75, centerY: 0.5, width: 0.6, height: 0.9)
    #expect(
      soft.difference(from: [
        DetectedObject(box: box, classIndex: 0, score: 0.8 * 0.342990),
        DetectedObject(box: box, classIndex: 1, score: 0.8 * 0.657010),
      ]) < 1e-5)
    #expect(throws: ModelError.self) {
      try decoder.objects(in: Tensor(shape: [107], Array(numbers.dropLast())), threshold: 0.2)
    }
  }
}
