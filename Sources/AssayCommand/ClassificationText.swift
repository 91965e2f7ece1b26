/// The text for the evaluation of a classifier.
struct ClassificationText {
  /// Only this many classes or confusions are listed; the rest is counted.
  private static let lineCount = 20

  private let result: Classification

  init(_ result: Classification) { self.result = result }

  private func name(_ index: Int) -> String { Console.escaped(result.classes[index]) }

  /// Accuracy and the worst mistakes.
  var summary: String {
    var table = TextTable([("", .left), ("", .right), ("", .left)])
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
    var table = TextTable([("", .left), ("", .left), ("", .right), ("", .left)], indent: 2)
    for mistake in result.mistakes.prefix(ComparisonSummary.worstCount) {
      table.add([
        Console.escaped(mistake.input), name(mistake.predicted),
        numberText(mistake.score, digits: 4), "expected \(name(mistake.truth))",
      ])
    }
    return "most confident mistakes\n" + table.text
  }

  /// The same with confusions and classes.
  var text: String { summary + confusionText + classText }

  private var confusionText: String {
    let confusions = result.confusions
    guard !confusions.isEmpty else { return "" }
    var table = TextTable([("", .left), ("", .right)], indent: 2)
    for confusion in confusions.prefix(Self.lineCount / 2) {
      table.add([
        "\(name(confusion.truth)) → \(name(confusion.predicted))", groupedText(confusion.count),
      ])
    }
    return "most confused\n" + table.text
  }

  private var classText: String {
    let present = result.classes.indices.filter {
      result.support($0) > 0 || result.predictions($0) > 0
    }
    // All in order, or those with the lowest recall.
    let shown =
      present.count <= Self.lineCount
      ? present
      : Array(
        present.sorted { (result.recall($0) ?? 1, $0) < (result.recall($1) ?? 1, $1) }
          .prefix(Self.lineCount))
    var table = TextTable([
      ("class", .left), ("inputs", .right), ("recall", .right), ("precision", .right),
    ])
    for index in shown {
      table.add([
        name(index), groupedText(result.support(index)),
        result.recall(index).map(SummaryText.percent) ?? "",
        result.precision(index).map(SummaryText.percent) ?? "",
      ])
    }
    let rest = present.count - shown.count
    return table.text
      + (rest > 0 ? "… and \(groupedText(rest)) classes with a higher recall\n" : "")
  }

  func json(failed: JSONText) -> JSONText {
    func share(_ value: Double?) -> JSONText { value.map { .number($0) } ?? .null }
    let classes = result.classes.indices
    return .versioned([
      "matches": .bool(result.count == result.countCorrect), "inputs": .int(result.count),
      "failed": failed, "top1": .number(result.accuracy), "topCount": .int(result.top),
      "topN": .number(result.topAccuracy),
      "classes": .list(classes) {
        .object([
          "label": .string(result.classes[$0]), "inputs": .int(result.support($0)),
          "recall": share(result.recall($0)), "precision": share(result.precision($0)),
        ])
      },
      "confusion": .list(classes) { truth in
        .array(classes.map { .int(result.count(truth, takenFor: $0)) })
      },
      "mistakes": .list(result.mistakes) {
        .object([
          "input": .string($0.input), "predicted": .string(result.classes[$0.predicted]),
          "score": .number($0.score, digits: 9), "expected": .string(result.classes[$0.truth]),
        ])
      },
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
