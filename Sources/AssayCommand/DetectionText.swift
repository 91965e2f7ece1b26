/// The objects in an image, as text or JSON.
struct DetectionText {
  let result: ImageDetection.Result

  /// One line per object: label, score, upper left corner and size in pixels.
  func text() -> String {
    guard !result.objects.isEmpty else {
      return "  no boxes with a score above \(numberText(result.detector.threshold, digits: 3))\n"
    }
    var table = TextTable(
      [
        ("", .left), ("", .right), ("x", .right), ("y", .right), ("width", .right),
        ("height", .right),
      ], indent: 2)
    for object in result.objects {
      let percent = fixedText(object.score * 100, decimals: 2) + "%"
      let numbers = Self.numbers(object.box).map { fixedText($0, decimals: 1) }
      table.add(
        [Console.escaped(result.detector.label(object.classIndex)), percent] + numbers)
    }
    return table.text
  }

  func json(input: String) -> JSONText {
    .versioned([
      "input": .string(input),
      "detections": .list(result.objects) {
        .object([
          "label": .string(result.detector.label($0.classIndex)), "class": .int($0.classIndex),
          "score": .number($0.score, digits: 9), "box": Self.box($0.box),
        ])
      },
    ])
  }

  /// COCO results for the image: one object per box.
  func coco(input: String) -> [JSONText] {
    let image: JSONText =
      switch COCOResults.imageID(of: input) {
      case .number(let number): .int(number)
      case .text(let text): .string(text)
      }
    return result.objects.map { object in
      .object([
        "image_id": image,
        "category_id": .int(
          COCOResults.categoryID(of: object.classIndex, labels: result.detector.labels)),
        "bbox": Self.box(object.box), "score": .number(object.score, digits: 9),
      ])
    }
  }

  static func numbers(_ box: Box) -> [Double] {
    [box.left, box.top, box.width, box.height]
  }

  /// In COCO's format.
  static func box(_ box: Box) -> JSONText {
    .array(numbers(box).map { .number($0, digits: 9) })
  }
}
