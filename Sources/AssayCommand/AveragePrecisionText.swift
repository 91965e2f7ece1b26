/// The text for the evaluation of a detector.
struct AveragePrecisionText {
  private static let meanings = [
    "AP": "overlap 0.50 to 0.95", "AP50": "overlap 0.50", "AP75": "overlap 0.75",
    "APsmall": "objects below 32² pixels", "APmedium": "objects from 32² to 96² pixels",
    "APlarge": "objects above 96² pixels", "AR1": "recall with 1 box per image and class",
    "AR10": "with 10 boxes", "AR100": "with 100 boxes", "ARsmall": "objects below 32² pixels",
    "ARmedium": "objects from 32² to 96² pixels", "ARlarge": "objects above 96² pixels",
  ]

  private let evaluation: DetectionEvaluation
  private let result: COCOEvaluation

  init(_ evaluation: DetectionEvaluation) {
    self.evaluation = evaluation
    result = evaluation.result
  }

  var text: String {
    var text =
      "images \(groupedText(evaluation.imageCount)), "
      + "objects \(groupedText(evaluation.objectCount))\n"
    if evaluation.countMissingImages > 0 {
      text +=
        "not counted: images of the ground truth that are not among the inputs: "
        + "\(groupedText(evaluation.countMissingImages))\n"
    }
    var table = TextTable([("", .left), ("", .right), ("", .left)])
    for (name, value) in result.summary {
      table.add([name, Self.number(value), Self.meanings[name] ?? ""])
    }
    return text + table.text + classText + mistakeText
  }

  private static func number(_ value: Double?) -> String {
    value.map { fixedText($0, decimals: 3) } ?? "–"
  }

  private var classText: String {
    var table = TextTable([
      ("class", .left), ("objects", .right), ("AP", .right), ("AP50", .right), ("AR100", .right),
    ])
    for category in result.categories where evaluation.objectCount(ofCategory: category) > 0 {
      table.add([
        Console.escaped(evaluation.name(ofCategory: category)),
        groupedText(evaluation.objectCount(ofCategory: category)),
        Self.number(result.averagePrecision(category: category)),
        Self.number(result.averagePrecision(overlap: 0, category: category)),
        Self.number(result.averageRecall(count: 100, category: category)),
      ])
    }
    return table.text
  }

  private var mistakeText: String {
    guard !evaluation.mistakes.isEmpty else { return "" }
    var table = TextTable([("", .left), ("", .left), ("", .left)], indent: 2)
    for mistake in evaluation.mistakes.prefix(ComparisonSummary.worstCount) {
      table.add([
        Console.escaped(mistake.source.name), "\(mistake.missed) missed", "\(mistake.wrong) wrong",
      ])
    }
    return "worst images\n" + table.text
  }

  /// The boxes as COCO results, with the image and category numbers of the ground truth.
  var results: JSONText {
    .list(evaluation.found) { object in
      .object([
        "image_id": .int(object.image), "category_id": .int(object.category),
        "bbox": DetectionText.box(object.box), "score": .number(object.score, digits: 9),
      ])
    }
  }

  func json(failed: JSONText) -> JSONText {
    func value(_ number: Double?) -> JSONText { number.map { .number($0) } ?? .null }
    return .versioned([
      "inputs": .int(evaluation.imageCount), "failed": failed,
      "missingImages": .int(evaluation.countMissingImages), "objects": .int(evaluation.objectCount),
      "summary": .members(result.summary.map { ($0.name, value($0.value)) }),
      "classes": .list(result.categories) { category in
        .object([
          "category": .int(category), "label": .string(evaluation.name(ofCategory: category)),
          "objects": .int(evaluation.objectCount(ofCategory: category)),
          "AP": value(result.averagePrecision(category: category)),
          "AP50": value(result.averagePrecision(overlap: 0, category: category)),
          "AP75": value(result.averagePrecision(overlap: 5, category: category)),
          "AR100": value(result.averageRecall(count: 100, category: category)),
        ])
      },
      "worst": .list(evaluation.mistakes) {
        .object([
          "input": .string($0.source.name), "missed": .int($0.missed), "wrong": .int($0.wrong),
        ])
      },
    ])
  }
}
