/// The text for the evaluation of a classifier.
struct ClassificationText {
  /// The number of classes or confusions that are listed; the rest is only counted.
  private static let lineCount = 20

  private let result: Classification

  init(_ result: Classification) { self.result = result }

  private func name(_ index: Int) -> String { Console.escaped(result.classes[index]) }

  /// Accuracy and the worst mistakes.
  var summary: String {
    var table = TextTable(["", ">", ""])
    func row(_ name: String, _ share: Double, _ count: Int) {
      table.add([
        name, SummaryText.percent(share), "(\(groupedText(count)) of \(groupedText(result.count)))",
      ])
    }
    row("top-1 accuracy", result.accuracy, result.countCorrect)
    if result.top > 1, result.top < result.classes.count {
      row("top-\(result.top) accuracy", result.topAccuracy, result.countInTop)
    }
    return table.text + mistakesText
  }

  private var mistakesText: String {
    guard !result.mistakes.isEmpty else { return "" }
    return "most confident mistakes\n"
      + mistakes.table(result.mistakes.prefix(ComparisonSummary.worstCount), indent: 2)
  }

  private var mistakes: [Column<Classification.Mistake>] {
    [
      Column("", "input") { $0.input },
      Column("", "predicted") { result.classes[$0.predicted] },
      Column(">", "score") {
        $0.score.json(digits: 9)
      } cell: {
        numberText($0.score, digits: 4)
      },
      Column("", "expected", { "expected \($0)" }, { result.classes[$0.truth] }),
    ]
  }

  /// The summary with confusions and classes.
  var text: String { summary + confusionText + classText }

  private var confusionText: String {
    let confusions = result.confusions
    guard !confusions.isEmpty else { return "" }
    let rows = confusions.prefix(Self.lineCount / 2).map {
      ["\(name($0.truth)) → \(name($0.predicted))", groupedText($0.count)]
    }
    return "most confused\n" + TextTable(["", ">"], indent: 2, rows: rows).text
  }

  private var classes: [Column<Int>] {
    [
      Column("class", "label") { result.classes[$0] },
      Column("inputs", "inputs") { result.support($0) },
      Column(">recall", "recall", SummaryText.percent) { result.recall($0) },
      Column(">precision", "precision", SummaryText.percent) { result.precision($0) },
    ]
  }

  private var classText: String {
    let present = result.classes.indices.filter {
      result.support($0) > 0 || result.predictions($0) > 0
    }
    // All classes in order, or those with the lowest recall.
    let shown =
      present.count <= Self.lineCount
      ? present
      : Array(
        present.sorted { (result.recall($0) ?? 1, $0) < (result.recall($1) ?? 1, $1) }
          .prefix(Self.lineCount))
    let rest = present.count - shown.count
    return classes.table(shown)
      + (rest > 0 ? "… and \(groupedText(rest)) classes with a higher recall\n" : "")
  }

  func json(failed: JSONText) -> JSONText {
    let indices = result.classes.indices
    return .versioned([
      "matches": result.count == result.countCorrect, "inputs": result.count, "failed": failed,
      "top1": result.accuracy, "topCount": result.top, "topN": result.topAccuracy,
      "classes": classes.json(indices),
      "confusion": indices.map { truth in indices.map { result.count(truth, takenFor: $0) } },
      "mistakes": mistakes.json(result.mistakes),
    ])
  }

  /// The confusion matrix: one row per true class, one column per predicted class.
  var matrix: String {
    let classes = result.classes.indices
    return TextTableFile.line(["true \\ predicted"] + result.classes)
      + classes.map { truth in
        TextTableFile.line(
          [result.classes[truth]] + classes.map { String(result.count(truth, takenFor: $0)) })
      }.joined()
  }
}
