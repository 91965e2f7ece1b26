/// What `diff` prints.
struct ComparisonText {
  let comparison: Comparison
  /// Whether it compares two models, whose outputs may differ in name.
  private let isOfModels: Bool

  init(_ comparison: Comparison, isOfModels: Bool = false) {
    self.comparison = comparison
    self.isOfModels = isOfModels
  }

  func text() -> String {
    var text = comparison.outputs.map(outputText).joined()
    for name in comparison.unexpected {
      let reason =
        isOfModels ? "only one of the models has it" : "the expected file does not contain it"
      text += "\(Console.escaped(name))  not compared, \(reason)\n"
    }
    if let blobs = comparison.blobs { text += blobsText(blobs) }
    let differing = comparison.outputs.filter { !$0.agrees }.count
    if differing > 0 {
      text += "\(differing) of \(comparison.outputs.count) outputs differ\n"
    } else if isOfModels, !comparison.unexpected.isEmpty {
      text += "the common outputs agree\n"
    } else {
      text +=
        comparison.matches
        ? "agrees within tolerance\n" : "the outputs agree, but blobs inside differ\n"
    }
    return text
  }

  private func outputText(_ output: OutputComparison) -> String {
    let shape = output.expectedShape.map(String.init).joined(separator: "×")
    var text =
      "\(Console.escaped(output.name))  \(shape)  \(output.agrees ? "agrees" : "DIFFERS")\n"
    guard let metrics = output.metrics else {
      let actual = output.actualShape.map(String.init).joined(separator: "×")
      return text + "  shape \(actual), expected \(shape)\n"
    }
    func row(_ name: String, _ value: String) { text += "  \(name.padded(to: 26)) \(value)\n" }
    func number(_ value: Double) -> String { numberText(value, digits: 6) }
    row("largest absolute error", number(metrics.largestAbsoluteError))
    row("largest relative error", number(metrics.largestRelativeError))
    row("mean error", number(metrics.meanError))
    row("RMSE", number(metrics.rootMeanSquareError))
    row("cosine", numberText(metrics.cosine, digits: 9))
    row("PSNR", SummaryText.decibels(metrics.peakSignalToNoise))
    row("SNR", SummaryText.decibels(metrics.signalToNoise))
    if let classes = output.classes {
      row("same best class", fixedText(100 * classes.top1, decimals: 2) + "%")
      if classes.count > 1 {
        row("same \(classes.count) best classes", fixedText(100 * classes.topN, decimals: 2) + "%")
      }
    }
    let tolerance =
      "\(number(metrics.tolerance.absolute)) + \(number(metrics.tolerance.relative)) · |expected|"
    row(
      "outside the tolerance",
      "\(groupedText(metrics.countOutside)) of \(groupedText(metrics.count)) (\(tolerance))")
    if metrics.countNotFinite > 0 {
      row("of these not finite", groupedText(metrics.countNotFinite))
    }
    if let worst = metrics.worst {
      row(
        "worst element",
        "\(worst.index): \(numberText(worst.actual)), expected \(numberText(worst.expected))")
    }
    if let verdict = comparison.verdicts[output.name] { row("in double precision", words(verdict)) }
    return text
  }

  private func words(_ verdict: ReferenceVerdict) -> String {
    switch verdict {
    case .agrees: "no difference to explain"
    case .rounding: "the reference agrees with the expected output: the difference is rounding"
    case .model: "the reference differs too: the difference is in the model, not in its execution"
    case .engine: "the difference is larger than rounding explains: please report it"
    }
  }

  private func blobsText(_ blobs: BlobComparison) -> String {
    var table = TextTable([("", .left), ("", .left), ("", .left)], indent: 2)
    for blob in blobs.blobs where blobs.firstDifference != nil {
      let error =
        blob.metrics.map { numberText($0.largestAbsoluteError, digits: 6) }
        ?? "shape \(blob.actualShape), expected \(blob.expectedShape)"
      table.add([Console.escaped(blob.name), blob.agrees ? "agrees" : "DIFFERS", error])
    }
    var text = blobs.blobs.isEmpty ? "" : "\n" + table.text
    let errors = blobs.blobs.compactMap { $0.metrics?.largestAbsoluteError }
    if blobs.firstDifference == nil, let largest = errors.max() {
      let count =
        "\(counted(errors.count, "blob")) inside \(errors.count == 1 ? "agrees" : "agree")"
      text += "  \(count), largest error \(numberText(largest, digits: 6))\n"
    }
    for pair in blobs.similar {
      text +=
        "  '\(Console.escaped(pair.expected))' was compared with \(Console.escaped(pair.blob)), which "
        + "it resembles\n"
    }
    for name in blobs.unknown {
      text += "  \(Console.escaped(name)): the model has no such blob or layer\n"
    }
    if let first = blobs.firstDifference {
      text += "the first blob that differs is \(Console.escaped(first.name))\n"
    }
    return text
  }

  /// - Parameters:
  ///   - diagnosis: what `--diagnose` found.
  ///   - halfPrecision: what was found of half precision.
  func json(_ diagnosis: JSONText? = nil, halfPrecision: JSONText? = nil) -> JSONText {
    .versioned(
      [
        ("matches", .bool(comparison.matches)),
        ("outputs", .array(comparison.outputs.map(outputJSON))),
        ("notCompared", .array(comparison.unexpected.map(JSONText.string))),
        ("layers", .array((comparison.blobs?.blobs ?? []).map(outputJSON))),
        (
          "firstDifferentLayer",
          comparison.blobs?.firstDifference.map { .string($0.name) } ?? .null
        ),
      ] + (diagnosis.map { [("diagnosis", $0)] } ?? [])
        + (halfPrecision.map { [("halfPrecision", $0)] } ?? []))
  }

  private func outputJSON(_ output: OutputComparison) -> JSONText {
    var pairs: [(String, JSONText)] = [
      ("name", .string(output.name)), ("agrees", .bool(output.agrees)),
      ("shape", .array(output.actualShape.map(JSONText.int))),
      ("expectedShape", .array(output.expectedShape.map(JSONText.int))),
    ]
    if let metrics = output.metrics {
      pairs += [
        ("largestAbsoluteError", .number(metrics.largestAbsoluteError)),
        ("largestRelativeError", .number(metrics.largestRelativeError)),
        ("meanError", .number(metrics.meanError)),
        ("rmse", .number(metrics.rootMeanSquareError)),
        ("cosine", .number(metrics.cosine)),
        ("psnr", .number(metrics.peakSignalToNoise)), ("snr", .number(metrics.signalToNoise)),
        ("count", .int(metrics.count)), ("countOutside", .int(metrics.countOutside)),
        ("rtol", .number(metrics.tolerance.relative)),
        ("atol", .number(metrics.tolerance.absolute)),
      ]
      if let worst = metrics.worst {
        pairs.append(
          (
            "worst",
            .object([
              "index": .array(worst.index.map(JSONText.int)), "actual": .number(worst.actual),
              "expected": .number(worst.expected),
            ])
          ))
      }
    }
    if let classes = output.classes {
      pairs += [("top1", .number(classes.top1)), ("topN", .number(classes.topN))]
    }
    if let verdict = comparison.verdicts[output.name] {
      pairs.append(("verdict", .string(verdict.rawValue)))
    }
    return .members(pairs)
  }
}
