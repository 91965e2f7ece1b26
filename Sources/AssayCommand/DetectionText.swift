/// The objects in an image, as text or JSON.
struct DetectionText {
  let result: ImageDetection.Result

  /// One line per object: label, score, upper left corner and size in pixels.
  func text() -> String {
    guard !result.objects.isEmpty else {
      return "  no boxes with a score above \(numberText(result.detector.threshold, digits: 3))\n"
    }
    return TextTable(
      ["", ">", ">x", ">y", ">width", ">height"], indent: 2,
      rows: result.objects.map { object in
        [result.detector.label(object.classIndex), SummaryText.percent(object.score)]
          + Self.numbers(object.box).map { fixedText($0, decimals: 1) }
      }
    ).text
  }

  func json(input: String) -> JSONText {
    .versioned([
      "input": input,
      "detections": result.objects.json {
        [
          "label": result.detector.label($0.classIndex), "class": $0.classIndex,
          "score": $0.score.json(digits: 9), "box": Self.box($0.box),
        ]
      },
    ])
  }

  /// COCO results for the image: one object per box.
  func coco(input: String) -> [JSONText] {
    let image: any ResultValue =
      switch COCOResults.imageID(of: input) {
      case .number(let number): number
      case .text(let text): text
      }
    let labels = result.detector.labels
    return result.objects.map {
      [
        "image_id": image,
        "category_id": COCOResults.categoryID(of: $0.classIndex, labels: labels),
        "bbox": Self.box($0.box), "score": $0.score.json(digits: 9),
      ]
    }
  }

  static func numbers(_ box: Box) -> [Double] { [box.left, box.top, box.width, box.height] }

  /// The box in COCO's format.
  static func box(_ box: Box) -> JSONText { numbers(box).json { $0.json(digits: 9) } }
}
