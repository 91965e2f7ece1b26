import TensorCore
import Testing

@testable import Detection

@Suite struct SSDDecoderTests {
  private func outputs(_ names: [String]) throws -> [DetectorOutput] {
    try names.map { DetectorOutput(name: $0, value: try Fixture.array($0)) }
  }

  private func detector(_ options: [String: String] = [:]) throws -> Detector {
    let given = ["threshold": "0.3"].merging(options) { $1 }
    return try Detector(
      .ssd, settings: DetectorSettings(metadata: [:], options: given), width: 32, height: 32)
  }

  /// Offsets, scores and PriorBox's output yield the same boxes as OpenCV's DetectionOutput.
  @Test func asOpenCV() throws {
    let found = try detector().objects(
      in: outputs(["mbox_conf", "mbox_priorbox", "mbox_loc"]))
    let expected = try detector().objects(in: outputs(["rows"]))
    #expect(expected.count > 20)
    #expect(found.difference(from: expected) < 1e-5)
  }

  /// Class indices in rows include the background, those of objects exclude it; rows after the last
  /// box are ignored.
  @Test func rows() throws {
    let rows = Tensor(
      shape: [1, 1, 3, 7],
      [0, 2, 0.9, 0.1, 0.2, 0.3, 0.6, 0, 5, 0.2, 0, 0, 1, 1, 0, -1, -1, -1, -1, -1, -1] as [Float])
    let output = [DetectorOutput(name: "detection_out", value: rows)]
    let found = try detector().objects(in: output)
    #expect(found.map(\.classIndex) == [1])
    #expect(abs((found.first?.box.bottom ?? 0) - 0.6) < 1e-6)
    let all = try detector(["background": "-1"]).objects(in: output)
    #expect(all.map(\.classIndex) == [2])
  }

  /// `prior_box.cpp`'s formulas for one cell of a 2 × 1 map with a 20 × 10 image.
  @Test func describedBoxes() throws {
    let priors = try PriorBoxes(description: "2x1: 4x2, 8x8; 1x1/6: 20x40", width: 20, height: 10)
    let wanted = [
      Box(centerX: 0.25, centerY: 0.5, width: 0.2, height: 0.2),
      Box(centerX: 0.25, centerY: 0.5, width: 0.4, height: 0.8),
      Box(centerX: 0.75, centerY: 0.5, width: 0.2, height: 0.2),
      Box(centerX: 0.75, centerY: 0.5, width: 0.4, height: 0.8),
      // Centers are ½ · 6 pixels from the edges; no side is longer than the image.
      Box(centerX: 0.15, centerY: 0.3, width: 1, height: 1),
    ]
    #expect(priors.boxes == wanted)
    // Half the width to the right, a fifth of the height down, and e times as wide.
    let box = priors.box(0, offsets: (5, 2, 5, 0))
    let moved = Box(
      centerX: 0.25 + 0.5 * 0.2, centerY: 0.54, width: 0.2 * 2.718281828459045, height: 0.2)
    #expect(abs(box.left - moved.left) < 1e-12 && abs(box.bottom - moved.bottom) < 1e-12)
  }

  static let wrong = [
    "", "2x1", "2x1:", "2x1: 4", "0x1: 4x4", "2x1/0: 4x4", "ax1: 4x4", "1x1/2/3: 4x4",
    "9999999x9999999: 1x1", "2x1: nanx4", "1e300x1: 2x2",
  ]

  @Test(arguments: wrong)
  func wrongDescriptions(_ text: String) {
    #expect(throws: ModelError.self) {
      try PriorBoxes(description: text, width: 32, height: 32)
    }
  }

  @Test func scoresThatAreNoneAreNamed() throws {
    let boxes = DetectorOutput(name: "boxes", value: Tensor(shape: [1, 1, 4]))
    let scores = DetectorOutput(name: "scores", value: Tensor(shape: [1, 1, 2], [-3, 4]))
    let raw = try detector(["priors": "1x1: 8x8"])
    let error = #expect(throws: ModelError.self) { try raw.objects(in: [boxes, scores]) }
    #expect(error?.hint?.contains("scores=softmax") == true)
    let softmax = try detector(["priors": "1x1: 8x8", "scores": "softmax"])
    // e⁴ / (e⁴ + e⁻³)
    let found = try softmax.objects(in: [scores, boxes])
    #expect(found.count == 1 && abs((found.first?.score ?? 0) - 0.999089) < 1e-6)
    let sigmoid = try detector([
      "priors": "1x1: 8x8", "scores": "sigmoid", "background": "-1", "threshold": "0.01",
    ])
    let scored = try sigmoid.objects(in: [scores, boxes]).map(\.score)
    // 1/(1 + e⁻⁴) and 1/(1 + e³)
    #expect(abs(scored[0] - 0.98201379) < 1e-6 && abs(scored[1] - 0.04742587) < 1e-6)
  }

  @Test func whatDoesNotFit() throws {
    let one = [DetectorOutput(name: "a", value: Tensor(shape: [1, 3]))]
    #expect(throws: ModelError.self) { try detector().objects(in: one) }
    #expect(throws: ModelError.self) {
      try detector(["priors": "2x2: 4x4"]).objects(in: one)
    }
    #expect(throws: ModelError.self) {
      try detector(["variances": "1,2"]).objects(
        in: outputs(["mbox_conf", "mbox_priorbox", "mbox_loc"]))
    }
  }
}
