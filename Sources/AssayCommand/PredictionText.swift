/// A prediction as text or as JSON.
struct PredictionText {
  /// The largest array that is printed in full; larger ones are summarized.
  private static let wholeArray = 64

  let outputs: [PredictedOutput]
  /// The output whose elements the labels name.
  private let classified: PredictedOutput?
  private let labels: [String]
  let top: Int
  /// Whether all values are written to a file.
  private let isWritten: Bool

  /// - Throws: `.mismatch` if labels are given and it is unclear which output they name.
  init(_ outputs: [PredictedOutput], labels: ClassNames?, top: Int, isWritten: Bool = false) throws
  {
    self.isWritten = isWritten
    self.outputs = outputs
    self.labels = labels?.names ?? []
    self.top = top
    let own = outputs.first { if case .classes = $0.kind { true } else { false } }
    // A model's labels belong to its classifier; labels from the user also fit a single output.
    let areGiven = labels?.areGiven == true
    classified = labels == nil ? nil : own ?? (areGiven && outputs.count == 1 ? outputs[0] : nil)
    if classified == nil, areGiven {
      throw ModelError(
        .mismatch,
        "--labels does not say which of the \(counted(outputs.count, "output")) it names",
        hint: "choose one with --feature: " + outputs.map(\.name).joined(separator: ", "))
    }
  }

  func text() throws -> String {
    var text = ""
    for output in outputs {
      let shape = output.value.shape.map(String.init).joined(separator: "×")
      let isOne = output.value.shape.isEmpty || output.text != nil
      text += Console.escaped(output.name) + (isOne ? "\n" : "  \(shape)\n")
      if output.name == classified?.name {
        for classes in try best(output) { text += Self.bars(classes) }
      } else if case .feature(let value) = output.kind {
        text += try lines(value, output)
      } else {
        text += try numbers(output.value)
      }
    }
    return text
  }

  func json(input: String) throws -> JSONText {
    var values: [(String, JSONText)] = []
    var shapes: [(String, JSONText)] = []
    var features: [(String, JSONText)] = []
    var classes: JSONText?
    for output in outputs {
      if case .feature(let value) = output.kind {
        if let text = Self.json(value) {
          features.append((output.name, text))
          continue
        }
        values.append((output.name, output.numbers.json))
      } else {
        values.append((output.name, .floats(output.value.elements)))
      }
      shapes.append((output.name, output.value.shape.json))
      if output.name == classified?.name {
        let lists = try best(output).map { list in
          list.json { ["label": $0.label, "probability": $0.probability] }
        }
        classes = lists.count == 1 ? lists[0] : .array(lists)
      }
    }
    return .versioned([
      "input": input, "outputs": JSONText.members(values), "shapes": JSONText.members(shapes),
      "features": features.isEmpty ? JSONText.absent : .members(features),
      "classes": classes.ifPresent,
    ])
  }

  private func best(_ output: PredictedOutput) throws -> [[ClassProbability]] {
    let elements = output.value.elements
    let isBatch = output.value.shape.count > 1 && elements.count != labels.count
    let items = isBatch ? max(1, output.value.shape[0]) : 1
    let size = elements.count / items
    return try (0..<items).map { item in
      try bestClasses(top, of: elements[(item * size)..<((item + 1) * size)], labels: labels)
    }
  }

  /// The value as JSON; nil for an array.
  private static func json(_ value: FeatureValue) -> JSONText? {
    switch value {
    case .int(let number): .int(number)
    case .double(let number): .number(number)
    case .string(let text): .string(text)
    case .dictionary(let entries):
      .members(entries.sorted { $0.key < $1.key }.map { ($0.key.description, .number($0.value)) })
    case .array, .numbers, .image: nil
    }
  }

  /// The lines for a string, a number or a dictionary.
  private func lines(_ value: FeatureValue, _ output: PredictedOutput) throws -> String {
    switch value {
    case .string(let text): "  \(Console.escaped(text))\n"
    case .int(let number): "  \(number)\n"
    case .dictionary(let entries):
      entries.sorted { $0.key < $1.key }.map {
        "  \(Console.escaped($0.key.description))  \(numberText($0.value))\n"
      }.joined()
    default: try numbers(output.value)
    }
  }

  private static func bars(_ classes: [ClassProbability]) -> String {
    let table = TextTable(
      ["", ">", ""], indent: 2,
      rows: classes.map { item in
        let share = item.probability.isNaN ? 0 : max(0, min(1, item.probability))
        return [
          item.label, SummaryText.percent(Double(item.probability)),
          String(repeating: "█", count: Int((share * 30).rounded())),
        ]
      })
    return table.text
  }

  /// The values of a vector, largest first; all values of another small array; or a summary.
  private func numbers(_ value: Tensor) throws -> String {
    let elements = value.elements
    let rest = isWritten ? "" : "(-o FILE writes all \(groupedText(elements.count)))"
    if elements.count > 1, value.shape.contains(elements.count) {
      let indices = elements.indices.map { "[\($0)]" }
      let table = TextTable(
        ["", ""], indent: 2,
        rows: try bestClasses(top, of: elements, labels: indices).map {
          [$0.label, numberText(Double($0.probability))]
        })
      return table.text + (top < elements.count && !isWritten ? "  \(rest)\n" : "")
    }
    if elements.count <= Self.wholeArray {
      return elements.map { "  \(numberText(Double($0)))\n" }.joined()
    }
    var (low, high, sum) = (Double.infinity, -Double.infinity, 0.0)
    for element in elements {
      low = min(low, Double(element))
      high = max(high, Double(element))
      sum += Double(element)
    }
    let mean = sum / Double(elements.count)
    return "  min \(numberText(low, digits: 6))  max \(numberText(high, digits: 6))"
      + ("  mean \(numberText(mean, digits: 6))  " + rest).trimmedRight() + "\n"
  }
}

extension String {
  func trimmedRight() -> String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
