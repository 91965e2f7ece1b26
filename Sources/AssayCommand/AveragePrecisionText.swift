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
    let table = TextTable(
      ["", ">", ""],
      rows: result.summary.map { [$0.name, Self.number($0.value), Self.meanings[$0.name] ?? ""] })
    let shown = result.categories.filter { evaluation.objectCount(ofCategory: $0) > 0 }
    return text + table.text + classes.table(shown) + mistakeText
  }

  private static func number(_ value: Double?) -> String {
    value.map { fixedText($0, decimals: 3) } ?? "–"
  }

  private var classes: [Column<Int>] {
    [
      Column(nil, "category") { $0 },
      Column("class", "label") { evaluation.name(ofCategory: $0) },
      Column("objects", "objects") { evaluation.objectCount(ofCategory: $0) },
      Column(">AP", "AP", Self.number) { result.averagePrecision(category: $0) },
      Column(">AP50", "AP50", Self.number) { result.averagePrecision(overlap: 0, category: $0) },
      Column(nil, "AP75", Self.number) { result.averagePrecision(overlap: 5, category: $0) },
      Column(">AR100", "AR100", Self.number) { result.averageRecall(count: 100, category: $0) },
    ]
  }

  private var mistakeText: String {
    guard !evaluation.mistakes.isEmpty else { return "" }
    let rows = evaluation.mistakes.prefix(ComparisonSummary.worstCount).map {
      [$0.source.name, "\($0.missed) missed", "\($0.wrong) wrong"]
    }
    return "worst images\n" + TextTable(["", "", ""], indent: 2, rows: rows).text
  }

  /// The detected boxes in COCO's format, with the image and category numbers of the ground truth.
  var results: JSONText {
    evaluation.found.json {
      [
        "image_id": $0.image, "category_id": $0.category, "bbox": DetectionText.box($0.box),
        "score": $0.score.json(digits: 9),
      ]
    }
  }

  func json(failed: JSONText) -> JSONText {
    .versioned([
      "inputs": evaluation.imageCount, "failed": failed,
      "missingImages": evaluation.countMissingImages, "objects": evaluation.objectCount,
      "summary": JSONText.members(result.summary.map { ($0.name, $0.value.json) }),
      "classes": classes.json(result.categories),
      "worst": evaluation.mistakes.json {
        ["input": $0.source.name, "missed": $0.missed, "wrong": $0.wrong]
      },
    ])
  }
}
